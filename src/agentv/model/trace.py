"""What an agent did on the way to its answer, in one shape for every agent.

A row's `trace` is a list of these, in the order in which they were reported.
"""

from typing import Any

from agentv.model.base import Record
from agentv.model.score import Usage


class _Entry(Record, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    at_ms: float
    """When it was reported, from the start of the attempt."""


class Message(_Entry, frozen=True, kw_only=True, tag="message"):
    """What the agent said."""

    text: str


class Reasoning(_Entry, frozen=True, kw_only=True, tag="reasoning"):
    """What the agent thought aloud."""

    text: str


class ToolCall(_Entry, frozen=True, kw_only=True, tag="tool_call"):
    """A tool that the agent used; it stands where it was called."""

    name: str
    arguments: Any = None
    """As the agent reported them: mostly an object, sometimes a command line."""
    result: str | None = None
    """`None` when no end of the call was reported."""
    is_error: bool | None = None
    exit_code: int | None = None
    """Of a command."""
    duration_ms: float | None = None
    """Between the reports of its start and of its end, unless the agent itself says how long."""


class FileChange(_Entry, frozen=True, kw_only=True, tag="file_change"):
    """A file that the agent says it changed."""

    path: str
    change: str
    """`add`, `update` or `delete`."""


class UsageReport(_Entry, frozen=True, kw_only=True, tag="usage"):
    """What the agent says it consumed since its last such report."""

    usage: Usage


class Warned(_Entry, frozen=True, kw_only=True, tag="warning"):
    """Something went wrong that did not end the attempt."""

    message: str


class LeftOut(_Entry, frozen=True, kw_only=True, tag="left_out"):
    """The agent reported more than a trace holds."""

    entries: int


TraceEntry = Message | Reasoning | ToolCall | FileChange | UsageReport | Warned | LeftOut
