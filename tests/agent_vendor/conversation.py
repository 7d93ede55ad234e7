"""What an agent sends its model, and what the model does next, in no vendor's own form."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlparse

from vendor.faults import Fault

_LINK = re.compile(r"\((file://[^)\s]+)\)")
_SECTION = "[[ ## "
_QUERY = "[[ ## user_query ## ]]"


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """So far."""

    model: str
    system: str
    texts: tuple[str, ...]
    """Of the user's messages in their order; agents add some of their own."""
    results: tuple[str, ...]
    """What the tools returned, in their order."""
    tools: Mapping[str, Mapping[str, Any]]
    """The tools that the agent offers: the JSON Schema of each one's arguments."""

    @property
    def document(self) -> str:
        """The prompt document that the agent was given; empty if there is none."""
        holding = next((text for text in self.texts if _QUERY in text), "")
        return holding[holding.find(_SECTION) :] if holding else ""

    @property
    def query(self) -> str:
        """What stands in the document below all files."""
        return self.document.partition(_QUERY)[2].strip()

    @property
    def linked_files(self) -> tuple[str, ...]:
        """The paths that the document links to."""
        return tuple(unquote(urlparse(link).path) for link in _LINK.findall(self.document))


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What a reply says that it cost, in tokens; a conversation's sum has as many as it had
    replies."""

    input: int = 101
    """With those from the cache."""
    cached: int = 7
    output: int = 13
    """With those of thoughts."""
    reasoning: int = 3


@dataclass(frozen=True, kw_only=True)
class Move:
    """The model's turn."""

    thoughts: str | None = None
    """Thought aloud first."""
    spent: Spent = field(default_factory=Spent)


@dataclass(frozen=True, kw_only=True)
class Say(Move):
    """It answers, which ends the conversation."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Run(Move):
    """It has the agent run a command line, by whatever tool the agent has for it."""

    command: str


@dataclass(frozen=True, kw_only=True)
class Call(Move):
    """It has the agent use one of its tools."""

    tool: str
    arguments: Mapping[str, Any]


Script = Callable[[Conversation], Move | Fault]
"""What happens next; asked anew for each request, and for several conversations at once."""
