"""A service that answers by script, and what it was asked."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from agentv.errors import ProviderError
from agentv.model.http import HttpReply, HttpRequest
from agentv.model.process import Command, CommandResult
from agentv.model.score import Usage
from agentv.protocols import Lane, ProviderBuild


def reply(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpReply:
    """A reply with a JSON body; a text is sent as it is."""
    data = body if isinstance(body, str) else json.dumps(body)
    return HttpReply(status=status, headers=headers or {}, body=data.encode())


@dataclass
class ScriptedService:
    """Gives its replies in order; also the lane, which notes what it is told."""

    replies: Sequence[HttpReply | ProviderError]
    requests: list[HttpRequest] = field(default_factory=list)
    waits: list[float | None] = field(default_factory=list)
    """What each request was to wait for; nobody really waits."""
    refusals: list[float | None] = field(default_factory=list)
    notified: list[str] = field(default_factory=list)
    inside: int = 0
    successes: int = 0

    async def send(self, request: HttpRequest) -> HttpReply:
        self.requests.append(request)
        answer = self.replies[len(self.requests) - 1]
        if isinstance(answer, ProviderError):
            raise answer
        return answer

    def lane(
        self, endpoint: str, model: str, *, rpm: float | None = None, tpm: float | None = None
    ) -> Lane:
        return self

    async def enter(self, tokens: int, *, after: float | None = None) -> None:
        assert tokens > 0
        self.inside += 1
        self.waits.append(after)

    def left(self) -> None:
        self.inside -= 1

    def succeeded(self) -> None:
        self.successes += 1

    def used(self, usage: Usage | None, tokens: int) -> None:
        assert tokens > 0

    def refused(self, wait_seconds: float | None, *, again: bool = False) -> None:
        assert again is (self.waits[-1] is not None)
        self.refusals.append(wait_seconds)

    async def run(
        self, command: Command, listen: Callable[[bytes], None] | None = None
    ) -> CommandResult:
        raise AssertionError("no command may be run here")

    def build(self) -> ProviderBuild:
        return ProviderBuild(
            folder=Path.cwd(),
            env={},
            processes=self,
            http=self,
            traffic=self,
            rng=Random(0),
            notify=self.notified.append,
        )
