"""What Anthropic's Messages API replies: a message of blocks, thinking among them."""

from agentv.errors import ProviderError
from agentv.model.base import Record
from agentv.model.request import ProviderResponse
from agentv.model.score import Usage
from agentv.providers.apis.shape import costing, read_as, total
from agentv.providers.apis.wire import Json

_NO_ANSWER = {
    "model_context_window_exceeded": ("cut_off", "the answer was cut off: the context is full"),
    "tool_use": ("malformed", "the model asked for a tool instead of answering"),
    "pause_turn": ("malformed", "the model paused for a tool instead of answering"),
}


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


def read_message(reply: Json, limit: int) -> ProviderResponse:
    """The text blocks in one; the thinking apart.

    Args:
        reply: A successful one.
        limit: How many tokens were asked for at most.

    Raises:
        ProviderError: There is no answer (see `agentv.providers.apis.wire.Wire.read`).
    """
    message = read_as(reply, _Message)
    text = "".join(block.text for block in message.content if block.type == "text")
    usage = _usage(message.usage)
    if failure := _failure(message, text, limit):
        raise costing(failure, usage)
    thoughts = [b.thinking for b in message.content if b.type == "thinking" and b.thinking]
    return ProviderResponse(text=text, reasoning="\n\n".join(thoughts) or None, usage=usage)


def _failure(message: _Message, text: str, limit: int) -> ProviderError | None:
    """Why a message is no answer; one that was broken off is none, with text or without."""
    reason = message.stop_reason
    about = f"(stop reason {reason})"
    if reason == "refusal":
        return ProviderError(_refusal(message.stop_details), kind="refusal")
    if reason == "max_tokens":
        at = f"`max_output_tokens: {limit}`"
        return ProviderError(f"the answer was cut off at {at} {about}", kind="cut_off")
    if reason in _NO_ANSWER:
        kind, what = _NO_ANSWER[reason]
        return ProviderError(f"{what} {about}", kind=kind)
    if not text.strip():
        return ProviderError(f"the answer holds no text {about}", kind="empty")
    return None


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
