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
    is_helper: bool = False
    """One of our own tools at work, git say: no part of what a system under test is asked."""
    unconfined: tuple[str, ...] | None = None
    """What is run, without the sandbox that it is run in."""
    places: Mapping[str, Path] = {}
    """Folders that were made for it alone, by a word in small letters for each: their paths differ
    from run to run."""
    reads: tuple[Path, ...] = ()
    """Files and folders that it is given besides its `stdin`."""
    writes: tuple[Path, ...] = ()
    """Files and folders whose contents afterwards belong to its result."""


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
