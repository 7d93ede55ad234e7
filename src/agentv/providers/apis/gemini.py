"""Google's Gemini API: `POST /v1beta/models/{model}:generateContent`.

Turns are sent as they come: neighbours of one role are allowed, and either role may begin.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any
from urllib.parse import quote

from msgspec import Meta

from agentv.model.options import FileFinder, Name, OptionProblem
from agentv.model.request import MediaFile, ProviderRequest, ProviderResponse
from agentv.protocols import Provider, ProviderBuild
from agentv.providers.apis.address import access_problems, endpoint_of, versioned
from agentv.providers.apis.building import api_provider
from agentv.providers.apis.gemini_reply import read_content
from agentv.providers.apis.media import MB, PDF, Base64, MediaLimits
from agentv.providers.apis.messages import asking, conversation_of
from agentv.providers.apis.options import ApiOptions, Effort
from agentv.providers.apis.shape import given
from agentv.providers.apis.wire import Call, Json, ReplyError

_BATCHES = "agentv.providers.apis.batch_gemini:GeminiBatches"

BASE_URL = "https://generativelanguage.googleapis.com"
DEFAULT_MODEL = "gemini-2.5-flash"
MEDIA_LIMITS = MediaLimits(
    api="the Gemini API",
    types=("image/png", "image/jpeg", "image/webp", PDF),
    pdf_bytes=50 * MB,
    request_bytes=100 * MB,
)
_EFFORT_BUDGETS = {
    "none": 0,
    "minimal": 1024,
    "low": 1024,
    "medium": 8192,
    "high": 24_576,
    "xhigh": 24_576,
    "max": 24_576,
}
"""What Google itself takes an effort for, on models that know budgets and no levels."""
_LEVELS = {"none": "MINIMAL", "max": "XHIGH"}
"""The nearest level to an effort that is none."""
_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")


class GeminiOptions(ApiOptions, frozen=True, kw_only=True):
    """What a `gemini` target may set."""

    model: Name = DEFAULT_MODEL
    api_key: str | None = None
    """Only a `base_url` of your own can do without."""
    base_url: Name | None = None
    """Where the API is, with or without its `/v1beta`;
    `https://generativelanguage.googleapis.com` when unset."""
    thinking_budget: Annotated[int, Meta(ge=-1)] | None = None
    """Tokens to think with; 0 turns thinking off, -1 leaves it to the model."""
    reasoning_effort: Effort | None = None
    """A thinking level; a budget on models before Gemini 3, which know no levels."""
    include_thoughts: bool = False
    """Ask for a summary of what the model thought."""
    structured_output: bool = True
    """Hold a judge's reply to its JSON Schema."""

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """No access, and two ways to say how much to think: the API refuses both at once."""
        yield from super().problems(files)
        yield from access_problems(self.name, self.key, self.base_url, variable="GEMINI_API_KEY")
        if self.thinking_budget is not None and self.reasoning_effort is not None:
            yield OptionProblem(
                path=("reasoning_effort",),
                message="'reasoning_effort' and 'thinking_budget' both say how much to think",
                hint="keep one",
                code="given-twice",
            )


class GeminiWire:
    """The wire format of `generateContent` (see `agentv.providers.apis.wire.Wire`)."""

    def __init__(self, options: GeminiOptions) -> None:
        self._options = options
        self._base = versioned(options.base_url or BASE_URL, "v1beta")

    @property
    def endpoint(self) -> str:
        return endpoint_of(self._base)

    @property
    def model(self) -> str:
        return self._options.model

    def call(self, request: ProviderRequest) -> Call:
        """The request; the key is a header, since URLs end up in logs."""
        conversation = conversation_of(request, MEDIA_LIMITS)
        return Call(
            url=f"{self._base}/{_resource(self._options.model)}:generateContent",
            headers=given(**{"x-goog-api-key": self._options.key}),
            body=given(
                systemInstruction={"parts": [_text_part(conversation.system)]}
                if conversation.system
                else None,
                contents=[
                    {
                        "role": "model" if m.role == "assistant" else "user",
                        "parts": m.parts(_text_part, _media_part),
                    }
                    for m in asking(conversation.messages)
                ],
                generationConfig=self._generation(request.response_schema) or None,
            ),
        )

    def read(self, reply: Json) -> ProviderResponse:
        """The text of the one candidate; its thoughts apart."""
        return read_content(reply, self._options.output_limit)

    def read_error(self, reply: Json) -> ReplyError | None:
        """`{error: {code, message, status, details}}`."""
        error = reply.get("error")
        if not isinstance(error, dict) or not error.get("message"):
            return None
        status = str(error.get("status") or "") or None
        refused = any(detail.get("reason") == "API_KEY_INVALID" for detail in _details(error))
        return ReplyError(message=str(error["message"]), code=status, refuses_key=refused)

    def retry_after(
        self, headers: Mapping[str, str], reply: Json | None, now: float
    ) -> float | None:
        """The delay of a `RetryInfo` among the error's details."""
        del headers, now
        for detail in _details((reply or {}).get("error")):
            if str(detail.get("@type")).endswith("rpc.RetryInfo"):
                found = _DURATION.fullmatch(str(detail.get("retryDelay")))
                return float(found[1]) if found else None
        return None

    def _generation(self, schema: dict[str, Any] | None) -> Json:
        options = self._options
        is_held = bool(schema) and options.structured_output
        return given(
            temperature=options.temperature,
            topP=options.top_p,
            seed=options.seed,
            maxOutputTokens=options.output_limit,
            stopSequences=options.stop_sequences or None,
            thinkingConfig=self._thinking() or None,
            responseMimeType="application/json" if is_held else None,
            responseJsonSchema=schema if is_held else None,
        )

    def _thinking(self) -> Json:
        options, effort = self._options, self._options.reasoning_effort
        level, budget = None, options.thinking_budget
        if effort and _knows_levels(options.model):
            level = _LEVELS.get(effort, effort.upper())
        elif effort:
            budget = _EFFORT_BUDGETS[effort]
        return given(
            thinkingBudget=budget,
            thinkingLevel=level,
            includeThoughts=options.include_thoughts or None,
        )


def build(options: GeminiOptions, build: ProviderBuild) -> Provider:
    """A provider for a `gemini` target."""
    return api_provider(GeminiWire(options), options, build, _BATCHES)


def _resource(model: str) -> str:
    """`gemini-2.5-flash` is short for `models/gemini-2.5-flash`."""
    return quote(model if "/" in model else f"models/{model}", safe="/")


def _knows_levels(model: str) -> bool:
    return re.search(r"gemini-[12]\.", model) is None


def _text_part(text: str) -> Json:
    return {"text": text}


def _media_part(file: MediaFile) -> Json:
    return {"inlineData": {"mimeType": file.media_type, "data": Base64(file)}}


def _details(error: Any) -> list[dict[str, Any]]:
    """What an error says of itself besides its message."""
    details = error.get("details") if isinstance(error, dict) else None
    listed = details if isinstance(details, list) else []
    return [detail for detail in listed if isinstance(detail, dict)]
