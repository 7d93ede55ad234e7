"""The smallest API there can be: it takes a question and sends it back."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from agentv.model.process import Command, CommandResult
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.protocols import HttpSender, ProviderBuild, TrafficControl
from agentv.providers.apis.options import ApiOptions
from agentv.providers.apis.provider import ApiProvider
from agentv.providers.apis.wire import Call, Json, ReplyError


class EchoWire:
    """Speaks `{"question": …}` and `{"answer": …}`."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.model = "echo"

    def call(self, request: ProviderRequest) -> Call:
        return Call(url=f"{self.endpoint}/ask", headers={}, body={"question": request.question})

    def read(self, reply: Json) -> ProviderResponse:
        return ProviderResponse(text=reply["answer"])

    def read_error(self, reply: Json) -> ReplyError | None:
        return ReplyError(message=reply["error"]) if "error" in reply else None

    def retry_after(
        self, headers: Mapping[str, str], reply: Json | None, now: float
    ) -> float | None:
        return None


class _NoProcesses:
    async def run(
        self, command: Command, listen: Callable[[bytes], None] | None = None
    ) -> CommandResult:
        raise AssertionError("no command may be run here")


def echo_provider(
    http: HttpSender, traffic: TrafficControl, endpoint: str = "https://echo.test", **settings: Any
) -> ApiProvider:
    """A provider with settings of a target."""
    data = {"name": "echo", "provider": "echo", **settings}
    build = ProviderBuild(
        folder=Path.cwd(),
        env=dict(os.environ),
        processes=_NoProcesses(),
        http=http,
        traffic=traffic,
        rng=Random(0),
        notify=lambda _line: None,
    )
    return ApiProvider(EchoWire(endpoint), msgspec.convert(data, ApiOptions), build)


def question(text: str) -> ProviderRequest:
    return ProviderRequest(eval_id=text, question=text)
