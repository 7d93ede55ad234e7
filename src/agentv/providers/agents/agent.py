"""What tells one agent from another: how it is called, and how its events are read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from agentv.model.base import Record
from agentv.model.score import Usage
from agentv.providers.agents.trace_builder import TraceBuilder


class Assignment(Record, frozen=True, kw_only=True):
    """One attempt, as an agent sees it."""

    document: str
    """The whole prompt, links included."""
    prompt_file: Path
    """A file with the same text."""
    folder: Path
    """Where it works."""
    inputs: Path
    """The folder of the files that the document links to; inside `folder` unless the target
    chose a folder of its own."""
    private: Path
    """A folder for this attempt alone, for whatever must not lie in the workspace."""


class Invocation(Record, frozen=True, kw_only=True):
    """How to start the program, without its own name."""

    arguments: tuple[str, ...]
    stdin: bytes = b""
    env: Mapping[str, str] = {}
    """Defaults; what the target sets wins."""
    writes: tuple[Path, ...] = ()
    """Files outside the workspace that its reader looks into afterwards."""


class Account(Record, frozen=True, kw_only=True):
    """What an agent's events come to."""

    answer: str | None = None
    failure: str | None = None
    """Why the agent says that it failed."""
    kind: str = "agent"
    """The error's kind when it failed."""
    last_trouble: str | None = None
    """The last thing that it complained of, for when it never came to an end."""
    usage: Usage | None = None


class EventReader(Protocol):
    """Reads the events of one attempt, in their order."""

    def take(self, event: dict[str, Any]) -> None:
        """The next event; whatever its shape, nothing is raised."""

    def account(self) -> Account:
        """What the events came to; asked once, after the last."""


class Agent(Protocol):
    """One kind of agent."""

    program: str
    """The usual name of its executable."""
    install: str
    """How to get it, as a command line for a person."""

    def invocation(self, assignment: Assignment) -> Invocation:
        """How to start it for an attempt."""

    def reader(self, trace: TraceBuilder, assignment: Assignment) -> EventReader:
        """A reader for one attempt, which also writes its trace."""
