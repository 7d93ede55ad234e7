"""An agent's output as it comes: lines of JSON to its reader, every line to the log."""

import json
from typing import Any

import msgspec

from agentv.providers.agents.agent import EventReader
from agentv.providers.agents.lines import LineSplitter
from agentv.providers.agents.log import AttemptLog

_LONGEST_SAMPLE = 200


class EventStream:
    """Reads the JSON lines of one attempt.

    Args:
        reader: Takes each JSON object.
        log: Takes every line, if there is a log.
    """

    def __init__(self, reader: EventReader, log: AttemptLog | None) -> None:
        self._reader = reader
        self._log = log
        self._lines = LineSplitter(self._line)
        self.events = 0
        self.strays = 0
        """Lines that are no JSON objects."""
        self.first_stray: str | None = None
        self.breaks_off = False
        """Whether the output ended in the middle of an event; known after `close`."""
        self._half_event = False

    def feed(self, data: bytes) -> None:
        """Take the next piece of standard output."""
        self._lines.feed(data)

    def close(self) -> None:
        """There is no more output."""
        self._half_event = False
        self._lines.close()
        self.breaks_off = self._half_event
        self.strays += self._lines.dropped

    def _line(self, line: bytes) -> None:
        if not line.strip():
            return
        if self._log is not None:
            self._log.event(line)
        event = _object(line)
        if event is None:
            self.strays += 1
            self._half_event = line.startswith(b"{")
            if self.first_stray is None:
                self.first_stray = line[:_LONGEST_SAMPLE].decode("utf-8", "replace").strip()
            return
        self.events += 1
        self._reader.take(event)


def _object(line: bytes) -> dict[str, Any] | None:
    text = line.decode("utf-8", "replace")
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        value = _decode_leniently(text)
    except RecursionError:
        return None
    return value if isinstance(value, dict) else None


def _decode_leniently(text: str) -> Any:
    """Half a surrogate pair, which a program may cut a text to, is no reason to lose an event."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
