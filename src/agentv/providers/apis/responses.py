"""OpenAI's Responses API: one answer as a list of items, its reasoning among them."""

from typing import Literal

from agentv.errors import ProviderError
from agentv.model.base import Record
from agentv.model.request import MediaFile, ProviderRequest, ProviderResponse
from agentv.model.score import Usage
from agentv.providers.apis.media import PDF, data_url
from agentv.providers.apis.messages import conversation_of
from agentv.providers.apis.openai_errors import service_failure
from agentv.providers.apis.openai_wire import MEDIA_LIMITS, OpenAiWire
from agentv.providers.apis.shape import costing, given, read_as
from agentv.providers.apis.wire import Json, ReplyError


class _Part(Record, frozen=True, kw_only=True):
    type: str
    text: str = ""
    refusal: str = ""


class _Item(Record, frozen=True, kw_only=True):
    type: str
    content: list[_Part] | None = None
    summary: list[_Part] | None = None
    phase: str | None = None


class _Incomplete(Record, frozen=True, kw_only=True):
    reason: str | None = None


class _InputDetails(Record, frozen=True, kw_only=True):
    cached_tokens: int | None = None


class _OutputDetails(Record, frozen=True, kw_only=True):
    reasoning_tokens: int | None = None


class _Usage(Record, frozen=True, kw_only=True):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: _InputDetails | None = None
    output_tokens_details: _OutputDetails | None = None


class _Response(Record, frozen=True, kw_only=True):
    output: list[_Item] = []
    status: str | None = None
    incomplete_details: _Incomplete | None = None
    usage: _Usage | None = None

    @property
    def why_incomplete(self) -> str | None:
        return self.incomplete_details.reason if self.incomplete_details else None

    def said(self, kind: Literal["output_text", "refusal"]) -> str:
        """The answer itself, or the refusal of one: not what was said on the way to it."""
        answers = [i for i in self.output if i.type == "message" and i.phase != "commentary"]
        parts = [part for item in answers for part in item.content or () if part.type == kind]
        return "".join(part.refusal if kind == "refusal" else part.text for part in parts)


class ResponsesWire(OpenAiWire):
    """`POST …/responses`."""

    def _body(self, request: ProviderRequest) -> Json:
        settings, answer_format = self._settings, self._answer_format(request)
        conversation = conversation_of(request, MEDIA_LIMITS)
        effort = settings.reasoning_effort
        return given(
            model=self.model,
            instructions=conversation.system or None,
            input=[
                {"role": m.role, "content": m.text_or_parts(_text_part, _media_part)}
                for m in conversation.messages
            ],
            **self._sampling(),
            max_output_tokens=settings.output_limit,
            reasoning={"effort": effort} if effort else None,
            text={"format": _flat(answer_format)} if answer_format else None,
        )

    def read(self, reply: Json) -> ProviderResponse:
        """The text of the messages in one; summaries of the reasoning apart."""
        response = read_as(reply, _Response)
        text, usage = response.said("output_text"), _usage(response.usage)
        if failure := self._failure(response, text, self.read_error(reply)):
            raise costing(failure, usage)
        return ProviderResponse(text=text, reasoning=_reasoning(response), usage=usage)

    def _failure(
        self, response: _Response, text: str, said: ReplyError | None
    ) -> ProviderError | None:
        """Why a response is no answer; one that was broken off is none, with text or without."""
        refusal, why = response.said("refusal"), response.why_incomplete
        about = f"status {response.status}" + (f", reason {why}" if why else "")
        if refusal:
            return ProviderError(f"the model refused to answer: {refusal}", kind="refusal")
        if why == "max_output_tokens":
            return self._cut_off(about)
        if why == "content_filter":
            return ProviderError(f"the answer was filtered ({about})", kind="filtered")
        if said:
            return service_failure(said)
        if response.status not in ("completed", None):
            reason = f"the model did not finish its answer ({about})"
            return ProviderError(reason, kind="malformed")
        if not text.strip():
            return ProviderError("the answer holds no text", kind="empty")
        return None


def _text_part(text: str) -> Json:
    return {"type": "input_text", "text": text}


def _media_part(file: MediaFile) -> Json:
    if file.media_type == PDF:
        return {"type": "input_file", "filename": file.name, "file_data": data_url(file)}
    return {"type": "input_image", "image_url": data_url(file), "detail": "auto"}


def _flat(answer_format: Json) -> Json:
    """A `response_format` of chat completions, with its schema as this API wants it."""
    schema = answer_format.get("json_schema")
    return {"type": "json_schema", **schema} if isinstance(schema, dict) else answer_format


def _reasoning(response: _Response) -> str | None:
    """Summaries; of models whose reasoning is open, the reasoning itself."""
    thoughts = [
        part.text
        for item in response.output
        if item.type == "reasoning"
        for part in item.summary or item.content or ()
        if part.text
    ]
    return "\n\n".join(thoughts) or None


def _usage(usage: _Usage | None) -> Usage | None:
    if usage is None:
        return None
    given_details, made_details = usage.input_tokens_details, usage.output_tokens_details
    return Usage(
        input_tokens=usage.input_tokens,
        cached_tokens=given_details.cached_tokens if given_details else None,
        output_tokens=usage.output_tokens,
        reasoning_tokens=made_details.reasoning_tokens if made_details else None,
    )
