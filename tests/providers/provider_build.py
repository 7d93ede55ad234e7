"""What a provider is built with, for tests."""

import os
from collections.abc import Callable
from pathlib import Path
from random import Random

from agentv.model.http import HttpReply, HttpRequest
from agentv.model.process import Command, CommandResult
from agentv.protocols import ProcessRunner, ProviderBuild
from agentv.transport.traffic import Traffic


class NoProcesses:
    """A process runner for providers that must not need one."""

    async def run(
        self, command: Command, listen: Callable[[bytes], None] | None = None
    ) -> CommandResult:
        raise AssertionError("no command may be run here")


class NoHttp:
    """A sender for providers that must not need one."""

    async def send(self, request: HttpRequest) -> HttpReply:
        raise AssertionError("nothing may be sent here")


class NoFiles:
    """A finder for options that refer to no files."""

    def find(self, reference: str) -> Path | None:
        return None

    def tried(self, reference: str) -> list[Path]:
        return []


def provider_build(
    processes: ProcessRunner | None = None,
    *,
    folder: Path | None = None,
    seed: int = 0,
    notified: list[str] | None = None,
) -> ProviderBuild:
    """A build whose `--verbose` lines end up in `notified`."""
    lines = [] if notified is None else notified
    return ProviderBuild(
        folder=folder or Path.cwd(),
        env=dict(os.environ),
        processes=processes or NoProcesses(),
        http=NoHttp(),
        traffic=Traffic(),
        rng=Random(seed),
        notify=lines.append,
    )
