"""`provider: pydantic-ai`: the long tail of model services, through the library that speaks them.

The library is an extra (`pip install "agentv[pydantic-ai]"`) and is imported when it is used. What
it sends is its own affair: it may edit settings that a model does not take. Where the exact request
matters, the first-class providers say what they send.
"""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from agentv.core.backoff import backoff_seconds
from agentv.errors import ProviderError, ProviderTimeout, SetupError
from agentv.model.options import FileFinder, OptionProblem
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.model.score import Usage
from agentv.protocols import ProviderBuild
from agentv.providers.apis.media import read_media
from agentv.providers.apis.messages import ApiMessage, conversation_of
from agentv.providers.apis.options import ApiOptions
from agentv.providers.apis.shape import costing

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse, UserContent
    from pydantic_ai.settings import ModelSettings

_CHARACTERS_A_TOKEN = 4
_CUT_OFF = "length"
_FILTERED = "content_filter"


class PydanticAiOptions(ApiOptions, frozen=True, kw_only=True):
    """What a `pydantic-ai` target may set; keys and regions are the library's own variables."""

    model: str
    """As the library names it: `bedrock:…`, `vertex:…`, `mistral:…`, `groq:…`."""

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """A model that does not say whose it is."""
        yield from super().problems(files)
        if ":" not in self.model and self.model != "test":
            yield OptionProblem(
                path=("model",),
                message=f"'{self.model}' does not say whose model it is",
                hint="write `service:model`, `mistral:mistral-large-latest` say",
            )


def build(options: PydanticAiOptions, given: ProviderBuild) -> "PydanticAiProvider":
    """The provider of a `pydantic-ai` target."""
    return PydanticAiProvider(options, given)


class PydanticAiProvider:
    """Asks a model through the library, behind our own retry policy."""

    def __init__(self, options: PydanticAiOptions, given: ProviderBuild) -> None:
        self._options = options
        self._retry = options.retry_settings()
        self._rng = given.rng
        self._lane = given.traffic.lane(
            "pydantic-ai", options.model, rpm=options.rpm, tpm=options.tpm
        )
        try:
            import pydantic_ai  # noqa: F401
        except ImportError as error:
            raise SetupError(
                f"Target '{options.name}' needs an extra: pip install 'agentv[pydantic-ai]'"
            ) from error

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        """Ask once, however often the service makes us repeat it.

        Raises:
            ProviderTimeout: No answer came within `timeout_seconds`.
            ProviderError: The service failed for good, or what it sent is no answer.
        """
        from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError, UserError

        tokens = (
            1 + len(request.question) // _CHARACTERS_A_TOKEN + (self._options.output_limit or 0)
        )
        retry, after = 0, None
        while True:
            await self._lane.enter(tokens, after=after)
            try:
                reply = await self._ask(request)
                self._lane.succeeded()
                answer = read_reply(reply)
                self._lane.used(answer.usage, tokens)
                return answer
            except ModelHTTPError as error:
                retry += 1
                if not self._retry.retries_status(error.status_code):
                    raise ProviderError(_said(error), kind=f"http_{error.status_code}") from error
                wait = error.retry_after
                is_borne = self._retry.bears(wait)
                if error.status_code == 429:
                    self._lane.refused(wait if is_borne else None)
                if retry > self._retry.max_retries or not is_borne:
                    raise ProviderError(_said(error), kind=f"http_{error.status_code}") from error
            except ModelAPIError as error:
                retry += 1
                if retry > self._retry.max_retries:
                    raise ProviderError(_said(error), kind="connection") from error
                wait = None
            except (UserError, ImportError) as error:
                # A key that is not set, or the service's own package that is not installed.
                raise ProviderError(_said(error), kind="setup") from error
            finally:
                self._lane.left()
            after = wait if wait is not None else self._backoff(retry)

    def _backoff(self, retry: int) -> float:
        return backoff_seconds(self._retry, retry, self._rng.random())

    async def _ask(self, request: ProviderRequest) -> "ModelResponse":
        from pydantic_ai.direct import model_request

        limit = self._options.timeout_seconds
        try:
            async with asyncio.timeout(limit):
                return await model_request(
                    self._options.model, messages_of(request), model_settings=self._settings()
                )
        except TimeoutError as error:
            raise ProviderTimeout(f"no answer within {limit:g} s") from error

    def _settings(self) -> "ModelSettings":
        options = self._options
        given: dict[str, Any] = {
            "temperature": options.temperature,
            "max_tokens": options.output_limit,
            "top_p": options.top_p,
            "seed": options.seed,
            "stop_sequences": options.stop_sequences or None,
            "extra_headers": options.headers or None,
            "extra_body": options.extra_body or None,
        }
        known = {name: value for name, value in given.items() if value is not None}
        return cast("ModelSettings", known)


def messages_of(request: ProviderRequest) -> "list[ModelMessage]":
    """A request as the library's messages: system text first, then the turns in their order."""
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        UserPromptPart,
    )

    talk = conversation_of(request)
    messages: list[ModelMessage] = []
    if talk.system:
        messages.append(ModelRequest(parts=[SystemPromptPart(content=talk.system)]))
    for message in talk.messages:
        if message.role == "user":
            messages.append(ModelRequest(parts=[UserPromptPart(content=_content(message))]))
        else:
            messages.append(ModelResponse(parts=[TextPart(content=message.content)]))
    return messages


def _content(message: ApiMessage) -> "str | list[UserContent]":
    """What a user says. Raises `ProviderError` for an image or a PDF that cannot be read."""
    from pydantic_ai.messages import BinaryContent

    if not message.media:
        return message.content
    return [
        it if isinstance(it, str) else BinaryContent(data=read_media(it), media_type=it.media_type)
        for it in message.pieces
    ]


def read_reply(reply: "ModelResponse") -> ProviderResponse:
    """The answer of the library's reply, its thinking kept apart.

    Raises:
        ProviderError: It was cut off, filtered, or holds no text.
    """
    usage = _usage(reply)
    if failure := _failure(reply):
        raise costing(failure, usage)
    return ProviderResponse(text=reply.text or "", reasoning=reply.thinking, usage=usage)


def _failure(reply: "ModelResponse") -> ProviderError | None:
    if reply.finish_reason == _CUT_OFF:
        return ProviderError("the answer was cut off at its length limit", kind="cut_off")
    if reply.finish_reason == _FILTERED:
        return ProviderError("the answer was held back by a content filter", kind="filtered")
    if not (reply.text or "").strip():
        return ProviderError("the reply holds no text", kind="empty")
    return None


def _usage(reply: "ModelResponse") -> Usage:
    used = reply.usage
    return Usage(
        input_tokens=used.input_tokens,
        cached_tokens=used.cache_read_tokens,
        output_tokens=used.output_tokens,
        reasoning_tokens=used.details.get("reasoning_tokens"),
        cost_usd=_cost(reply),
    )


def _cost(reply: "ModelResponse") -> float | None:
    try:
        return float(reply.cost().total_price)
    except (LookupError, AssertionError, ValueError):
        return None  # no price is known, which is not the same as free


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
