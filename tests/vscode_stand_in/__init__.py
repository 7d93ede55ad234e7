"""VS Code for tests: as a program in a folder for `PATH`, and in this process for virtual time."""

import asyncio
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentv.model.process import Command, CommandResult
from vscode_stand_in import editor
from vscode_stand_in.editor import StandIn, Write

__all__ = ["InProcess", "StandIn", "install", "turn"]


def install(folder: Path, name: str = "code", **knobs: Any) -> StandIn:
    """Put the program `code` into a folder, with knobs that say what it does wrong."""
    state = folder / f"{name}-state"
    state.mkdir(parents=True)
    program = folder / name
    words = (sys.executable, "-S", "-E", editor.__file__, str(state))
    program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    program.chmod(0o755)
    turn(StandIn(state), **knobs)
    return StandIn(state)


def turn(stand_in: StandIn, **knobs: Any) -> None:
    """Set its knobs anew."""
    (stand_in.folder / "knobs.json").write_text(json.dumps(knobs))


class InProcess:
    """A process runner that knows one program, whose agent works on the event loop's time."""

    def __init__(self, stand_in: StandIn) -> None:
        self._stand_in = stand_in

    async def run(
        self, command: Command, listen: Callable[[bytes], None] | None = None
    ) -> CommandResult:
        assert not isinstance(command.run, str), "no shell may stand between us and VS Code"
        reply = self._stand_in.call(list(command.run[1:]))
        loop = asyncio.get_running_loop()
        for write in reply.writes:
            loop.call_later(write.after, Write.do, write)
        return CommandResult(
            exit_code=reply.exit_code,
            stdout=reply.stdout.encode(),
            stderr=reply.stderr.encode(),
            duration_ms=0,
        )
