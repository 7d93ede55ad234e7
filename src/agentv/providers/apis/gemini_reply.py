"""What `generateContent` replies: candidates, whose thoughts are parts among their parts."""

from agentv.errors import ProviderError
from agentv.model.base import Record
from agentv.model.request import ProviderResponse
from agentv.model.score import Usage
from agentv.providers.apis.shape import costing, read_as, total
from agentv.providers.apis.wire import Json

_FILTERED = frozenset(
    [
        *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
        *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR"),
        "ESCALATION",
    ]
)


class _Reading(Record, frozen=True, kw_only=True, rename="camel"):
    """A part of a reply; this API writes its keys in camelCase."""


class _Part(_Reading, frozen=True, kw_only=True):
    text: str = ""
    thought: bool = False


class _Content(_Reading, frozen=True, kw_only=True):
    parts: list[_Part] = []


class _Candidate(_Reading, frozen=True, kw_only=True):
    content: _Content = _Content()
    finish_reason: str | None = None
    finish_message: str | None = None


class _PromptFeedback(_Reading, frozen=True, kw_only=True):
    block_reason: str | None = None
    block_reason_message: str | None = None


class _Usage(_Reading, frozen=True, kw_only=True):
    prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None


class _Reply(_Reading, frozen=True, kw_only=True):
    candidates: list[_Candidate] = []
    prompt_feedback: _PromptFeedback = _PromptFeedback()
    usage_metadata: _Usage | None = None


def read_content(reply: Json, limit: int | None) -> ProviderResponse:
    """The text of the one candidate; its thoughts apart.

    Args:
        reply: A successful one.
        limit: How many tokens were asked for at most, if any number was.

    Raises:
        ProviderError: There is no answer (see `agentv.providers.apis.wire.Wire.read`).
    """
    body = read_as(reply, _Reply)
    usage = _usage(body.usage_metadata)
    if not body.candidates:
        raise costing(_no_candidate(body.prompt_feedback), usage)
    candidate = body.candidates[0]
    text = "".join(part.text for part in candidate.content.parts if not part.thought)
    if failure := _failure(candidate, text, limit):
        raise costing(failure, usage)
    thoughts = "".join(part.text for part in candidate.content.parts if part.thought)
    return ProviderResponse(text=text, reasoning=thoughts or None, usage=usage)


def _failure(candidate: _Candidate, text: str, limit: int | None) -> ProviderError | None:
    """Why a candidate is no answer; one that was broken off is none, with text or without."""
    reason = candidate.finish_reason
    words = f": {candidate.finish_message}" if candidate.finish_message else ""
    about = f"(finish reason {reason}){words}"
    if reason in _FILTERED:
        return ProviderError(f"the answer was filtered {about}", kind="filtered")
    if reason == "MAX_TOKENS":
        at = f"`max_output_tokens: {limit}`" if limit else "the model's own limit"
        return ProviderError(f"the answer was cut off at {at} {about}", kind="cut_off")
    if reason not in ("STOP", "FINISH_REASON_UNSPECIFIED", None):
        return ProviderError(f"the model did not finish its answer {about}", kind="malformed")
    if not text.strip():
        return ProviderError(f"the answer holds no text {about}", kind="empty")
    return None


def _no_candidate(feedback: _PromptFeedback) -> ProviderError:
    if feedback.block_reason is None:
        return ProviderError("the reply holds no candidate", kind="empty")
    words = f": {feedback.block_reason_message}" if feedback.block_reason_message else ""
    reason = f"the prompt was blocked (block reason {feedback.block_reason}){words}"
    return ProviderError(reason, kind="filtered")


def _usage(usage: _Usage | None) -> Usage | None:
    """This API counts cached input as input, but what tools said and what was thought apart."""
    if usage is None:
        return None
    return Usage(
        input_tokens=total(usage.prompt_token_count, usage.tool_use_prompt_token_count),
        cached_tokens=usage.cached_content_token_count,
        output_tokens=total(usage.candidates_token_count, usage.thoughts_token_count),
        reasoning_tokens=usage.thoughts_token_count,
    )
