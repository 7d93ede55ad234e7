"""What chat completions and the Responses API have in common: their place, and their errors."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Self

from agentv.errors import ProviderError
from agentv.model.base import Record
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.providers.apis.address import endpoint_of
from agentv.providers.apis.gpt_models import SCHEMA, Takes, refused_setting
from agentv.providers.apis.media import MB, MediaLimits
from agentv.providers.apis.openai_errors import read_openai_error
from agentv.providers.apis.openai_settings import OpenAiSettings
from agentv.providers.apis.rate_limit_resets import reset_seconds
from agentv.providers.apis.wire import Call, Json, ReplyError

MEDIA_LIMITS = MediaLimits(api="an API like OpenAI's", pdf_bytes=50 * MB, request_bytes=512 * MB)
"""OpenAI's own; others say themselves where theirs are lower."""


class Site(Record, frozen=True, kw_only=True):
    """Where a model is served."""

    url: str
    """The whole URL that is posted to."""
    headers: Mapping[str, str]
    model: str
    """Its name, or that of its deployment."""
    names_model: bool = True
    """Whether the body names the model; in some URLs it is named already."""
    holds_schemas: bool
    """Whether it is known to hold a model to a JSON Schema."""


class OpenAiWire(ABC):
    """One of the two APIs (see `agentv.providers.apis.wire.Wire`), at one site, for one model."""

    def __init__(self, site: Site, settings: OpenAiSettings, takes: Takes) -> None:
        self._site = site
        self._settings = settings
        self._takes = takes

    @property
    def endpoint(self) -> str:
        return endpoint_of(self._site.url)

    @property
    def model(self) -> str:
        return self._site.model

    def call(self, request: ProviderRequest) -> Call:
        """The request, without what the model is known to refuse."""
        return Call(url=self._site.url, headers=self._site.headers, body=self._body(request))

    @abstractmethod
    def _body(self, request: ProviderRequest) -> Json: ...

    @abstractmethod
    def read(self, reply: Json) -> ProviderResponse: ...

    def read_error(self, reply: Json) -> ReplyError | None:
        """`{error: {message, type, code, param}}`, in one of its many forms."""
        return read_openai_error(reply)

    def retry_after(
        self, headers: Mapping[str, str], reply: Json | None, now: float
    ) -> float | None:
        """The `x-ratelimit-reset-…` of what is used up."""
        del now
        error = (reply or {}).get("error")
        return reset_seconds(headers, error.get("type") if isinstance(error, dict) else None)

    def adjusted(self, request: ProviderRequest, said: ReplyError) -> Self | None:
        """This wire without the setting that was refused, if that changes the request."""
        name = refused_setting(said)
        if name is None or name in self._takes.refused:
            return None
        better = type(self)(self._site, self._settings, self._takes.without(name))
        return better if better.call(request) != self.call(request) else None

    def left_out(self) -> list[str]:
        """Names of the author's settings that this model is not sent."""
        given = [n for n in ("temperature", "top_p") if getattr(self._settings, n) is not None]
        return [name for name in given if name in self._takes.refused]

    def _sampling(self) -> Json:
        """`temperature` and `top_p`, as far as they are set and taken."""
        wanted = {"temperature": self._settings.temperature, "top_p": self._settings.top_p}
        return {name: wanted[name] for name in wanted if name not in self._takes.refused}

    def _answer_format(self, request: ProviderRequest) -> Json | None:
        wanted = self._settings.structured_output
        is_held = self._site.holds_schemas if wanted is None else wanted
        is_taken = SCHEMA not in self._takes.refused
        return self._settings.answer_format(request.response_schema, is_held=is_held and is_taken)

    def _cut_off(self, reason: str) -> ProviderError:
        limit = self._settings.output_limit
        at = f"`max_output_tokens: {limit}`" if limit else "the model's own limit"
        return ProviderError(f"the answer was cut off at {at} ({reason})", kind="cut_off")
