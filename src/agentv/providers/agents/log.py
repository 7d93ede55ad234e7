"""A log of one attempt, written while the agent works."""

import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import IO, Literal

from agentv.model.trace import (
    FileChange,
    LeftOut,
    Message,
    Reasoning,
    ToolCall,
    TraceEntry,
    UsageReport,
    Warned,
)

LARGEST_LOG = 64 * 1024 * 1024
_LONGEST_SUMMARY = 400
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


def attempt_name(eval_id: str, attempt: int) -> str:
    """A file name that no other attempt has: when, which case, which attempt."""
    # An id may hold anything, and is somebody's text: it must not choose the folder.
    case = _NOT_IN_NAMES.sub("_", eval_id).strip("._")[:60] or "case"
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    return f"{now}_{case}_{attempt}_{token_hex(3)}"


class AttemptLog:
    """The log file of one attempt. Trouble with it is told once, and never fails the attempt.

    Args:
        path: The file; its folder is made.
        form: `summary` has a line for each step, `json` every event as it came.
        redact: Takes secrets out of a line.
        warn: Told when the log cannot be written.
    """

    def __init__(
        self,
        path: Path,
        form: Literal["summary", "json"],
        redact: Callable[[str], str],
        warn: Callable[[str], None],
    ) -> None:
        self.path = path
        self._form = form
        self._redact = redact
        self._warn = warn
        self._room = LARGEST_LOG
        self._file: IO[bytes] | None = None

    def open(self) -> None:
        """Begin the log."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            self._file = os.fdopen(descriptor, "wb", buffering=0)
        except OSError as error:
            self._give_up(error)

    def event(self, line: bytes) -> None:
        """A line of the agent's own output."""
        if self._form == "json":
            self._write(line.decode("utf-8", "replace"))

    def step(self, entry: TraceEntry) -> None:
        """A step of the trace."""
        if self._form == "summary":
            self._write(f"[{entry.at_ms / 1000:8.2f} s] {_summary(entry)}")

    def note(self, text: str) -> None:
        """A line of ours; left out of a JSON log, which holds the agent's words only."""
        if self._form == "summary":
            self._write(text)

    def close(self) -> None:
        """End the log."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, line: str) -> None:
        if self._file is None:
            return
        data = f"{self._redact(line)}\n".encode("utf-8", "replace")
        self._room -= len(data)
        try:
            if self._room < 0:
                self._file.write(b"[the log ends here: it grew too large]\n")
                self.close()
            else:
                self._file.write(data)
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self._warn(f"the log {self.path} cannot be written: {error.strerror}")
        self.close()


def _summary(entry: TraceEntry) -> str:
    match entry:
        case Message(text=text):
            return f"says: {_short(text)}"
        case Reasoning(text=text):
            return f"thinks: {_short(text)}"
        case ToolCall(duration_ms=None, name=name, arguments=arguments):
            return f"calls {name}: {_short(str(arguments))}"
        case ToolCall(name=name, is_error=is_error, duration_ms=took, result=result):
            how = "failed" if is_error else "came back"
            return f"{name} {how} after {(took or 0) / 1000:.2f} s: {_short(result or '')}"
        case FileChange(path=path, change=change):
            return f"file {change}: {path}"
        case UsageReport(usage=usage):
            return f"used {usage.input_tokens} tokens of input, {usage.output_tokens} of output"
        case Warned(message=message):
            return f"warning: {_short(message)}"
        case LeftOut(entries=entries):
            return f"{entries} more steps"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_SUMMARY else f"{line[:_LONGEST_SUMMARY]} …"
