"""Anthropic's Messages API: `POST /v1/messages`.

Turns are sent as they come: the API itself joins neighbours of one role, and a conversation may
begin with either.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from agentv.core.backoff import DEFAULT_STATUS_CODES
from agentv.errors import ProviderError
from agentv.model.base import Record
from agentv.model.options import FileFinder, Name, OptionProblem
from agentv.model.request import MediaFile, ProviderRequest, ProviderResponse
from agentv.model.score import Usage
from agentv.protocols import Provider, ProviderBuild
from agentv.providers.apis.address import access_problems, endpoint_of, versioned
from agentv.providers.apis.batch import BatchingApi
from agentv.providers.apis.batch_anthropic import AnthropicBatches
from agentv.providers.apis.claude_models import claude_model
from agentv.providers.apis.media import MB, PDF, Base64, MediaLimits
from agentv.providers.apis.messages import conversation_of
from agentv.providers.apis.options import ApiOptions, Count, Effort
from agentv.providers.apis.plain_schema import plain_schema
from agentv.providers.apis.shape import given, read_as, total
from agentv.providers.apis.wire import Call, Json, ReplyError

BASE_URL = "https://api.anthropic.com"
API_VERSION = "2023-06-01"
"""The version that still knows `temperature`; the next one refuses it even of models that take it.
A target that wants another says so in its `headers`."""
DEFAULT_OUTPUT_TOKENS = 8192
"""The API wants a limit. Models that think unasked spend a part of it before they answer."""
LEAST_BUDGET = 1024
LEAST_TOP_P_WHILE_THINKING = 0.95
OVERLOADED = 529
MEDIA_LIMITS = MediaLimits(api="the Anthropic API", image_base64=10 * MB, request_bytes=32 * MB)
_BUDGETS = ("requests", "tokens", "input-tokens", "output-tokens")
_NO_ANSWER = {
    "max_tokens": ("cut_off", "the answer was cut off at `max_output_tokens`"),
    "model_context_window_exceeded": ("cut_off", "the answer was cut off: the context is full"),
    "tool_use": ("malformed", "the model asked for a tool instead of answering"),
    "pause_turn": ("malformed", "the model paused for a tool instead of answering"),
}


class AnthropicOptions(ApiOptions, frozen=True, kw_only=True):
    """What an `anthropic` target may set."""

    retried_statuses: ClassVar[frozenset[int]] = DEFAULT_STATUS_CODES | {OVERLOADED}

    model: Name
    api_key: str | None = None
    """Only a `base_url` of your own can do without."""
    base_url: Name | None = None
    """Where the API is, with or without its `/v1`; `https://api.anthropic.com` when unset."""
    temperature: Annotated[float, Meta(ge=0, le=1)] | None = None
    """Left out while the model thinks, and for models from 4.7 on, which refuse it."""
    thinking_budget: Count | None = None
    """Tokens to think with, at least 1024; 0 turns thinking off. Models from 4.7 on know no
    budget and decide themselves. An output limit that leaves no room beside it is added to it."""
    reasoning_effort: Effort | None = None
    structured_output: bool | None = None
    """Hold a judge's reply to its JSON Schema; whether the model can, when unset."""

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """No access, and a budget that the API refuses."""
        yield from super().problems(files)
        yield from access_problems(self.api_key, self.base_url)
        if self.thinking_budget and self.thinking_budget < LEAST_BUDGET:
            yield OptionProblem(
                path=("thinking_budget",),
                message=f"a thinking budget has at least {LEAST_BUDGET} tokens",
                hint=f"write {LEAST_BUDGET} or more, or 0 for no thinking",
            )


class _Block(Record, frozen=True, kw_only=True):
    type: str
    text: str = ""
    thinking: str = ""


class _StopDetails(Record, frozen=True, kw_only=True):
    category: str | None = None
    explanation: str | None = None


class _OutputDetails(Record, frozen=True, kw_only=True):
    thinking_tokens: int | None = None


class _Usage(Record, frozen=True, kw_only=True):
    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None
    output_tokens_details: _OutputDetails | None = None


class _Message(Record, frozen=True, kw_only=True):
    content: list[_Block]
    stop_reason: str | None = None
    stop_details: _StopDetails | None = None
    usage: _Usage | None = None


class AnthropicWire:
    """The wire format of the Messages API (see `agentv.providers.apis.wire.Wire`)."""

    def __init__(self, options: AnthropicOptions) -> None:
        self._options = options
        self._claude = claude_model(options.model)
        self._url = f"{versioned(options.base_url or BASE_URL, 'v1')}/messages"

    @property
    def endpoint(self) -> str:
        return endpoint_of(self._url)

    @property
    def model(self) -> str:
        return self._options.model

    def call(self, request: ProviderRequest) -> Call:
        """The request, as documented for this generation of models."""
        options = self._options
        conversation = conversation_of(request, MEDIA_LIMITS)
        thinking = self._thinking()
        return Call(
            url=self._url,
            headers={
                **given(**{"x-api-key": options.api_key or None}),
                "anthropic-version": API_VERSION,
            },
            body=given(
                model=options.model,
                max_tokens=_max_tokens(options.output_limit, thinking),
                system=conversation.system or None,
                messages=[
                    {"role": m.role, "content": m.text_or_parts(_text_block, _media_block)}
                    for m in conversation.messages
                ],
                **self._sampling(thinking),
                stop_sequences=options.stop_sequences or None,
                thinking=thinking,
                output_config=self._output_config(request.response_schema) or None,
            ),
        )

    def read(self, reply: Json) -> ProviderResponse:
        """The text blocks in one; the thinking apart."""
        message = read_as(reply, _Message)
        text = "".join(block.text for block in message.content if block.type == "text")
        _raise_unless_answered(message, text)
        thoughts = [b.thinking for b in message.content if b.type == "thinking" and b.thinking]
        return ProviderResponse(
            text=text, reasoning="\n\n".join(thoughts) or None, usage=_usage(message.usage)
        )

    def read_error(self, reply: Json) -> ReplyError | None:
        """`{type: error, error: {type, message}}`."""
        error = reply.get("error")
        if not isinstance(error, dict) or not error.get("message"):
            return None
        kind = str(error.get("type") or "") or None
        return ReplyError(message=str(error["message"]), code=kind)

    def retry_after(
        self, headers: Mapping[str, str], reply: Json | None, now: float
    ) -> float | None:
        """Until the budget that is used up is there again; only for a refusal on its account."""
        said = self.read_error(reply or {})
        if said is None or said.code != "rate_limit_error":
            return None
        # Every reply has these headers: a budget that has something left is no reason to wait.
        resets = [
            headers.get(f"anthropic-ratelimit-{name}-reset")
            for name in _BUDGETS
            if headers.get(f"anthropic-ratelimit-{name}-remaining", "0") == "0"
        ]
        waits = [wait for reset in resets if (wait := _seconds_until(reset, now)) is not None]
        return max(waits, default=None)

    def left_out(self) -> Iterator[str]:
        """Names of settings that this API or model does not take."""
        options, sent = self._options, self._sampling(self._thinking())
        for name in ("temperature", "top_p"):
            if getattr(options, name) is not None and name not in sent:
                yield name
        if options.thinking_budget and not self._claude.takes_budget:
            yield "thinking_budget"
        if options.seed is not None:
            yield "seed"

    def _thinking(self) -> Json | None:
        budget, effort = self._options.thinking_budget, self._options.reasoning_effort
        if budget == 0 or (budget is None and effort == "none"):
            return {"type": "disabled"}
        if budget and self._claude.takes_budget:
            return {"type": "enabled", "budget_tokens": budget}
        wanted = budget or effort
        return {"type": "adaptive"} if wanted and self._claude.thinks_adaptively else None

    def _sampling(self, thinking: Json | None) -> Json:
        """What the model takes of `temperature` and `top_p`: thinking narrows it."""
        if not self._claude.takes_sampling:
            return {}
        temperature, top_p = self._options.temperature, self._options.top_p
        if thinking is None or thinking["type"] == "disabled":
            return given(temperature=temperature, top_p=top_p)
        return given(top_p=top_p if (top_p or 0) >= LEAST_TOP_P_WHILE_THINKING else None)

    def _output_config(self, schema: dict[str, Any] | None) -> Json:
        effort = self._options.reasoning_effort
        wanted = self._options.structured_output
        holds = self._claude.takes_schema if wanted is None else wanted
        return given(
            effort=None if effort == "none" else "low" if effort == "minimal" else effort,
            format={"type": "json_schema", "schema": plain_schema(schema)}
            if schema and holds
            else None,
        )


def build(options: AnthropicOptions, build: ProviderBuild) -> Provider:
    """A provider for an `anthropic` target."""
    wire = AnthropicWire(options)
    for name in wire.left_out():
        build.notify(f"{options.name}: {options.model} does not take `{name}`: it is left out")
    return BatchingApi(wire, options, build, AnthropicBatches)


def _text_block(text: str) -> Json:
    return {"type": "text", "text": text}


def _media_block(file: MediaFile) -> Json:
    source = {"type": "base64", "media_type": file.media_type, "data": Base64(file)}
    return {"type": "document" if file.media_type == PDF else "image", "source": source}


def _max_tokens(limit: int | None, thinking: Json | None) -> int:
    """Thinking counts towards the limit; one that it would use up is meant for the answer."""
    budget = thinking.get("budget_tokens", 0) if thinking else 0
    if limit is None:
        return budget + DEFAULT_OUTPUT_TOKENS
    return limit if limit > budget else budget + limit


def _raise_unless_answered(message: _Message, text: str) -> None:
    reason = message.stop_reason
    if reason == "refusal":
        raise ProviderError(_refusal(message.stop_details), kind="refusal")
    if reason in _NO_ANSWER:
        kind, what = _NO_ANSWER[reason]
        raise ProviderError(f"{what} (stop reason {reason})", kind=kind)
    if not text.strip():
        raise ProviderError(f"the answer holds no text (stop reason {reason})", kind="empty")


def _refusal(details: _StopDetails | None) -> str:
    if details is None:
        return "the model refused to answer"
    category = f" ({details.category})" if details.category else ""
    explanation = f": {details.explanation}" if details.explanation else ""
    return f"the model refused to answer{category}{explanation}"


def _usage(usage: _Usage | None) -> Usage | None:
    """Input as this API counts it is only what neither came from the cache nor went into it."""
    if usage is None:
        return None
    details = usage.output_tokens_details
    return Usage(
        input_tokens=total(
            usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens
        ),
        cached_tokens=usage.cache_read_input_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=details.thinking_tokens if details else None,
    )


def _seconds_until(moment: str | None, now: float) -> float | None:
    """Until an RFC 3339 time; `None` if it is none."""
    try:
        until = datetime.fromisoformat(moment or "")
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(until.timestamp() - now, 0.0)
