"""Each agent's reader, and what it makes of events."""

from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any

from agentv.providers.agents.agent import Account, EventReader
from agentv.providers.agents.claude import ClaudeReader
from agentv.providers.agents.codex import CodexReader
from agentv.providers.agents.copilot import CopilotReader
from agentv.providers.agents.gemini_cli import GeminiCliReader
from agentv.providers.agents.opencode import OpenCodeReader
from agentv.providers.agents.pi import PiReader
from agentv.providers.agents.trace_builder import TraceBuilder

READERS: dict[str, Callable[[TraceBuilder], EventReader]] = {
    "codex": CodexReader,
    "claude": ClaudeReader,
    "copilot": lambda trace: CopilotReader(trace, Path("no usage file")),
    "gemini-cli": GeminiCliReader,
    "opencode": OpenCodeReader,
    "pi": PiReader,
}


def read(kind: str, events: Iterable[dict[str, Any]]) -> tuple[Account, list[dict[str, Any]]]:
    ticks = count()
    trace = TraceBuilder(lambda: float(next(ticks)), lambda entry: None)
    reader = READERS[kind](trace)
    for event in events:
        reader.take(event)
    entries = trace.entries()
    return reader.account(), [
        {key: value for key, value in entry.items() if key not in ("at_ms", "duration_ms")}
        for entry in entries
    ]
