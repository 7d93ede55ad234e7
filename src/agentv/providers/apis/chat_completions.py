"""Chat completions, as OpenAI, Azure and everybody compatible speak them."""

from typing import Any

from agentv.errors import ProviderError
from agentv.model.base import Record
from agentv.model.request import MediaFile, ProviderRequest, ProviderResponse
from agentv.model.score import Usage
from agentv.providers.apis.media import PDF, data_url
from agentv.providers.apis.messages import conversation_of
from agentv.providers.apis.openai_errors import filter_note, service_failure
from agentv.providers.apis.openai_wire import MEDIA_LIMITS, OpenAiWire
from agentv.providers.apis.shape import costing, given, read_as
from agentv.providers.apis.wire import Json, ReplyError

_CUT_OFF = frozenset({"length", "max_tokens", "model_length"})
_BROKEN_OFF = frozenset({"error", "abort", "insufficient_system_resource"})
"""How relays and other services say that the model did not come to its end."""


class _Part(Record, frozen=True, kw_only=True):
    type: str
    text: str = ""


class _Message(Record, frozen=True, kw_only=True):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    reasoning_content: Any = None
    reasoning: Any = None
    """The same, as other services call it; some put an object there."""


class _Choice(Record, frozen=True, kw_only=True):
    message: _Message
    finish_reason: str | None = None
    content_filter_results: Any = None


class _PromptDetails(Record, frozen=True, kw_only=True):
    cached_tokens: int | None = None


class _CompletionDetails(Record, frozen=True, kw_only=True):
    reasoning_tokens: int | None = None


class _Usage(Record, frozen=True, kw_only=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None


class _Completion(Record, frozen=True, kw_only=True):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None


class ChatCompletionsWire(OpenAiWire):
    """`POST …/chat/completions`."""

    def _body(self, request: ProviderRequest) -> Json:
        settings, takes = self._settings, self._takes
        conversation = conversation_of(request, MEDIA_LIMITS)
        system = [{"role": "system", "content": conversation.system}] if conversation.system else []
        turns = [
            {"role": m.role, "content": m.text_or_parts(_text_part, _media_part)}
            for m in conversation.messages
        ]
        return given(
            model=self.model if self._site.names_model else None,
            messages=[*system, *turns],
            **self._sampling(),
            **{takes.limit_key: settings.output_limit},
            stop=settings.stop_sequences or None,
            seed=settings.seed,
            reasoning_effort=settings.reasoning_effort,
            response_format=self._answer_format(request),
        )

    def read(self, reply: Json) -> ProviderResponse:
        """The text of the one choice; the reasoning apart."""
        completion = read_as(reply, _Completion)
        usage = _usage(completion.usage)
        if not completion.choices:
            raise costing(_no_choice(self.read_error(reply)), usage)
        choice = completion.choices[0]
        text = _text(choice.message)
        if failure := self._failure(choice, text):
            raise costing(failure, usage)
        return ProviderResponse(text=text, reasoning=_reasoning(choice.message), usage=usage)

    def _failure(self, choice: _Choice, text: str) -> ProviderError | None:
        """Why a choice is no answer; a filter or a limit also counts with some text before it."""
        reason, refusal = choice.finish_reason, choice.message.refusal
        about = f"finish reason {reason}"
        if refusal:
            return ProviderError(f"the model refused to answer: {refusal}", kind="refusal")
        if reason == "content_filter":
            note = filter_note(choice.content_filter_results)
            return ProviderError(f"the answer was filtered{note} ({about})", kind="filtered")
        if reason in _CUT_OFF:
            return self._cut_off(about)
        if reason in ("tool_calls", "function_call"):
            asked = "the model asked for a tool instead of answering"
            return ProviderError(f"{asked} ({about})", kind="malformed")
        if reason in _BROKEN_OFF:
            return ProviderError(f"the model did not finish its answer ({about})", kind="malformed")
        if not text.strip():
            return ProviderError(f"the answer holds no text ({about})", kind="empty")
        return None


def _text_part(text: str) -> Json:
    return {"type": "text", "text": text}


def _media_part(file: MediaFile) -> Json:
    if file.media_type == PDF:
        return {"type": "file", "file": {"filename": file.name, "file_data": data_url(file)}}
    return {"type": "image_url", "image_url": {"url": data_url(file)}}


def _no_choice(said: ReplyError | None) -> ProviderError:
    if said:  # Some relays report the failure of the service behind them as a success.
        return service_failure(said)
    return ProviderError("the reply holds no choice", kind="empty")


def _text(message: _Message) -> str:
    if isinstance(message.content, list):
        return "".join(part.text for part in message.content if part.type == "text")
    return message.content or ""


def _reasoning(message: _Message) -> str | None:
    thoughts = (message.reasoning_content, message.reasoning)
    return next((thought for thought in thoughts if isinstance(thought, str) and thought), None)


def _usage(usage: _Usage | None) -> Usage | None:
    if usage is None:
        return None
    given_details, made_details = usage.prompt_tokens_details, usage.completion_tokens_details
    return Usage(
        input_tokens=usage.prompt_tokens,
        cached_tokens=given_details.cached_tokens if given_details else None,
        output_tokens=usage.completion_tokens,
        reasoning_tokens=made_details.reasoning_tokens if made_details else None,
    )
