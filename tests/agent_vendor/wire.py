"""How a vendor's protocol carries a conversation; one file for each protocol."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from agent_vendor.conversation import Call, Conversation, Say

Json = dict[str, Any]
Tools = Mapping[str, Mapping[str, Any]]

_PIECE = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The model's turn in a protocol."""

    events: tuple[Json, ...]
    """To stream."""
    whole: Json
    """When no stream was asked for."""
    named: bool = True
    """Whether each event's `type` is also its name in the stream."""
    done: str | None = None
    """Closes the stream."""


class Wire(Protocol):
    """A protocol."""

    def conversation(self, path: str, body: Json) -> Conversation:
        """Read a request."""

    def streams(self, path: str, body: Json) -> bool:
        """Whether a stream is asked for."""

    def reply(self, model: str, turn: int, move: Say | Call) -> Reply:
        """Write the model's turn; the first is number 0."""


def pieces(text: str) -> Iterator[str]:
    """A text as it is streamed: in two pieces at least, if it has two characters."""
    size = max(1, min(_PIECE, len(text) // 2))
    return (text[start : start + size] for start in range(0, len(text), size))


def words(content: Any) -> str:
    """The text in a string, or in a list of parts of several forms."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    return "".join(part.get("text", "") for part in content or () if isinstance(part, dict))
