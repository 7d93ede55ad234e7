"""A command to run and how it ended."""

from collections.abc import Mapping
from pathlib import Path

from agentv.model.base import Record


class Command(Record, frozen=True, kw_only=True):
    """What to run, and within which limits."""

    run: str | tuple[str, ...]
    """A string is run by the shell, a tuple without one."""
    cwd: Path | None = None
    env: Mapping[str, str] | None = None
    """The whole environment; the runner adds its cookie. `None`: this process's own."""
    stdin: bytes = b""
    timeout_seconds: float | None = None
    leaves_children: bool = False
    """What it starts may outlive it, and us: a person's editor. Only the command itself, with its
    process group, is ended by a limit; its result then says nothing of what still lives."""


class CommandResult(Record, frozen=True, kw_only=True):
    """How a command ended; by then its whole process tree is gone, unless it might leave some."""

    exit_code: int | None
    """Negative for a signal, as in `subprocess`; `None` when it was ended by its time limit."""
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    truncated: bool = False
    """More went to `stdout` than is kept; the rest was read and dropped."""
    duration_ms: float
