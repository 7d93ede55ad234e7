"""What tells two answers apart before they are given: the name of one in the response cache."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from agentv.core.digest import digest
from agentv.model.request import ChatMessage, ProviderRequest

_FORMAT = 1
"""Counts up when what a key is made of changes, so that no old answer is taken for a new one."""

NOT_SHAPING = frozenset(
    [
        *("name", "judge_target", "workers", "provider_batching", "verbose"),
        # Its effect is in the question.
        "prompt_mode",
        # Who may ask, how long it may take and what it costs; the answer is the same.
        *("api_key", "timeout_seconds", "connect_timeout_seconds", "read_timeout_seconds"),
        "wakeup_timeout_seconds",
        *("rpm", "tpm", "price_per_million_input", "price_per_million_output"),
        *("max_retries", "retry_initial_delay_ms", "retry_max_delay_ms"),
        *("retry_backoff_factor", "retry_status_codes", "retry"),
        *("max_retry_after_seconds", "healthcheck"),
        # What an agent leaves behind.
        *("keep_workspace", "stream_logs", "log_dir", "log_format"),
    ]
)
"""Settings of a target that make no difference to its answers."""


def setup_key(provider: str, settings: Mapping[str, Any], folder: str) -> str:
    """Stands for a target: everything of it that may shape an answer, and no secret to be read.

    Args:
        provider: Which kind of system it is.
        settings: Its options with their variables resolved. One that is not known to make no
            difference makes one.
        folder: Where its relative paths start, as seen from where the cache lies.
    """
    shaping = {name: value for name, value in settings.items() if name not in NOT_SHAPING}
    return digest(_FORMAT, provider, shaping, folder)


def answer_key(
    setup: str, request: ProviderRequest, files: Sequence[tuple[str, str | None]]
) -> str:
    """Stands for one answer of a target; the attempt makes no difference.

    Args:
        setup: Stands for the target.
        request: What is asked.
        files: The name of each of the request's files, and a digest of its content.
    """
    return digest(
        setup,
        request.eval_id,
        request.trial,
        request.system_prompt,
        request.guidelines,
        _texts(request.chat_prompt),
        request.question,
        request.response_schema,
        files,
        *_shown(request),
    )


def _texts(chat_prompt: Sequence[ChatMessage] | None) -> Sequence[ChatMessage] | None:
    """A chat prompt without its files, which know where they lie."""
    return chat_prompt and [msgspec.structs.replace(message, media=()) for message in chat_prompt]


def _shown(request: ProviderRequest) -> Iterator[Any]:
    """Where images and PDFs stand in the question, and so in the chat prompt."""
    if request.media:
        yield [(file.at, file.media_type, file.sha256) for file in request.media]
