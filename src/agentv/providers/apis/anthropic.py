"""Anthropic's Messages API: `POST /v1/messages`.

Turns are sent as they come: the API itself joins neighbours of one role, and a conversation may
begin with either.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Self

from agentv.model.request import MediaFile, ProviderRequest, ProviderResponse
from agentv.protocols import Provider, ProviderBuild
from agentv.providers.apis.address import endpoint_of, versioned
from agentv.providers.apis.anthropic_reply import read_message
from agentv.providers.apis.anthropic_settings import AnthropicOptions, SentSettings
from agentv.providers.apis.building import api_provider
from agentv.providers.apis.claude_models import refused_by, refused_setting
from agentv.providers.apis.media import MB, PDF, Base64, MediaLimits
from agentv.providers.apis.messages import asking, conversation_of
from agentv.providers.apis.shape import given
from agentv.providers.apis.wire import Call, Json, ReplyError

__all__ = ["AnthropicOptions", "AnthropicWire", "build"]

_BATCHES = "agentv.providers.apis.batch_anthropic:AnthropicBatches"

BASE_URL = "https://api.anthropic.com"
API_VERSION = "2023-06-01"
"""The version that still knows `temperature`; the next one refuses it even of models that take it.
A target that wants another says so in its `headers`."""
MEDIA_LIMITS = MediaLimits(api="the Anthropic API", image_base64=10 * MB, request_bytes=32 * MB)
_BUDGETS = ("requests", "tokens", "input-tokens", "output-tokens")


class AnthropicWire:
    """The wire format of the Messages API (see `agentv.providers.apis.wire.Wire`).

    Args:
        options: The target's.
        refused: What the model does not take; as its name tells, when `None`.
    """

    def __init__(self, options: AnthropicOptions, refused: frozenset[str] | None = None) -> None:
        self._options = options
        self._refused = refused_by(options.model) if refused is None else refused
        self._settings = SentSettings(options, self._refused)
        self._url = f"{versioned(options.base_url or BASE_URL, 'v1')}/messages"

    @property
    def endpoint(self) -> str:
        return endpoint_of(self._url)

    @property
    def model(self) -> str:
        return self._options.model

    def call(self, request: ProviderRequest) -> Call:
        """The request, as documented for this generation of models."""
        options, settings = self._options, self._settings
        conversation = conversation_of(request, MEDIA_LIMITS)
        return Call(
            url=self._url,
            headers={
                **given(**{"x-api-key": options.key}),
                "anthropic-version": API_VERSION,
            },
            body=given(
                model=options.model,
                max_tokens=settings.limit,
                system=conversation.system or None,
                messages=[
                    {"role": m.role, "content": m.text_or_parts(_text_block, _media_block)}
                    for m in asking(conversation.messages)
                ],
                **settings.sampling,
                stop_sequences=options.stop_sequences or None,
                thinking=settings.thinking,
                output_config=settings.output_config(request.response_schema),
            ),
        )

    def read(self, reply: Json) -> ProviderResponse:
        """The text blocks in one; the thinking apart."""
        return read_message(reply, self._settings.limit)

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

    def adjusted(self, request: ProviderRequest, said: ReplyError) -> Self | None:
        """This wire without the setting that was refused, if that changes the request."""
        name = refused_setting(said)
        if name is None or name in self._refused:
            return None
        better = type(self)(self._options, self._refused | {name})
        return better if better.call(request) != self.call(request) else None

    def left_out(self) -> Iterable[str]:
        """Names of settings that this API or model does not take."""
        return self._settings.left_out()


def build(options: AnthropicOptions, build: ProviderBuild) -> Provider:
    """A provider for an `anthropic` target."""
    return api_provider(AnthropicWire(options), options, build, _BATCHES)


def _text_block(text: str) -> Json:
    return {"type": "text", "text": text}


def _media_block(file: MediaFile) -> Json:
    source = {"type": "base64", "media_type": file.media_type, "data": Base64(file)}
    return {"type": "document" if file.media_type == PDF else "image", "source": source}


def _seconds_until(moment: str | None, now: float) -> float | None:
    """Until an RFC 3339 time; `None` if it is none."""
    try:
        until = datetime.fromisoformat(moment or "")
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(until.timestamp() - now, 0.0)
