"""Whoever listens hears all of a command's output, though only its ends are kept."""

import asyncio
import sys

import pytest

from agentv.model.process import Command, CommandResult
from agentv.transport.process import Processes

HASTY = """
import os
os.read(0, 1)
os.set_blocking(1, False)
written = os.write(1, b"x" * 900_000)
os.write(2, str(written).encode())
os._exit(0)
"""
"""Ends without waiting for anybody to read, the way Claude Code does."""


def listen(code: str, timeout_seconds: float = 60) -> tuple[CommandResult, bytes]:
    heard: list[bytes] = []

    async def one() -> CommandResult:
        run = (sys.executable, "-S", "-E", "-c", code)
        async with Processes() as processes:
            command = Command(run=run, stdin=b"go", timeout_seconds=timeout_seconds)
            return await processes.run(command, heard.append)

    return asyncio.run(one()), b"".join(heard)


def test_all_of_it_is_heard_and_both_ends_are_kept() -> None:
    result, heard = listen("print('first'); print('x' * 3_000_000); print('last')")

    assert heard == b"first\n" + b"x" * 3_000_000 + b"\nlast\n"
    assert result.truncated
    assert result.stdout.startswith(b"first\n")
    assert result.stdout.endswith(b"\nlast\n")
    assert len(result.stdout) < 1_100_000


def test_what_was_said_before_the_time_was_up_is_heard() -> None:
    result, heard = listen("import time; print('first', flush=True); time.sleep(60)", 1)

    assert result.timed_out
    assert heard == b"first\n"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere pipes cannot be widened")
def test_a_program_that_does_not_wait_for_its_reader() -> None:
    """What it says at its end fits into the pipe."""
    result, heard = listen(HASTY)

    assert result.stderr == b"900000"
    assert len(heard) == 900_000
