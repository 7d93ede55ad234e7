"""Collects what an agent reports, within fixed memory."""

from collections.abc import Callable
from typing import Any

import msgspec

from agentv.model.score import Usage
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

MOST_ENTRIES = 5000
LONGEST_TEXT = 32_768
"""Characters; the answer itself is kept whole elsewhere."""
_DEEPEST = 12


class TraceBuilder:
    """A trace in the making.

    Args:
        clock: Milliseconds since the attempt began.
        tell: Called with each entry, and once more with a tool call when it has ended.
    """

    def __init__(self, clock: Callable[[], float], tell: Callable[[TraceEntry], None]) -> None:
        self._clock = clock
        self._tell = tell
        self._entries: list[TraceEntry] = []
        self._left_out = 0
        self._open: dict[str, int] = {}
        """Where the calls stand whose end was not reported yet, by their ids."""
        self.reported = False
        """Whether the agent reported anything at all."""

    def message(self, text: str) -> None:
        """It said something."""
        self._add(Message(at_ms=self._clock(), text=_cut(text)))

    def reasoning(self, text: str) -> None:
        """It thought aloud."""
        self._add(Reasoning(at_ms=self._clock(), text=_cut(text)))

    def file_change(self, path: str, change: str) -> None:
        """It changed a file."""
        self._add(FileChange(at_ms=self._clock(), path=_cut(path), change=change))

    def warning(self, message: str) -> None:
        """It met with something that did not stop it."""
        self._add(Warned(at_ms=self._clock(), message=_cut(message)))

    def usage(self, usage: Usage) -> None:
        """It reported what it consumed."""
        self._add(UsageReport(at_ms=self._clock(), usage=usage))

    def tool_started(self, call_id: str, name: str, arguments: Any) -> None:
        """It called a tool."""
        if call_id in self._open:
            return
        entry = ToolCall(at_ms=self._clock(), name=_cut(name), arguments=_cut_all(arguments))
        if self._add(entry):
            self._open[call_id] = len(self._entries) - 1

    def tool_ended(
        self,
        call_id: str,
        result: str | None,
        *,
        is_error: bool | None = None,
        exit_code: int | None = None,
        duration_ms: float | None = None,
    ) -> None:
        """A tool came back; one whose start was never reported is left out.

        `duration_ms` is for agents that report a call only when it has ended, and say how long it
        took.
        """
        place = self._open.pop(call_id, None)
        if place is None:
            return
        call = self._entries[place]
        took = self._clock() - call.at_ms if duration_ms is None else duration_ms
        self._entries[place] = ended = msgspec.structs.replace(
            call,
            result=None if result is None else _cut(result),
            is_error=is_error,
            exit_code=exit_code,
            duration_ms=round(took, 3),
        )
        self._tell(ended)

    def entries(self) -> list[dict[str, Any]]:
        """The trace, as a row holds it."""
        entries: list[TraceEntry] = [*self._entries]
        if self._left_out:
            entries.append(LeftOut(at_ms=self._clock(), entries=self._left_out))
        return [msgspec.to_builtins(entry) for entry in entries]

    def _add(self, entry: TraceEntry) -> bool:
        self.reported = True
        if len(self._entries) >= MOST_ENTRIES:
            self._left_out += 1
            return False
        self._entries.append(entry)
        self._tell(entry)
        return True


def _cut(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]}\n[… {len(text) - LONGEST_TEXT} characters left out …]"


def _cut_all(value: Any, depth: int = 0) -> Any:
    """Arguments of a tool, each text in them cut; deeper than anybody reads, they are text."""
    if isinstance(value, str):
        return _cut(value)
    if depth >= _DEEPEST and isinstance(value, dict | list):
        return _cut(str(value))
    if isinstance(value, dict):
        return {str(key): _cut_all(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut_all(item, depth + 1) for item in value]
    return value
