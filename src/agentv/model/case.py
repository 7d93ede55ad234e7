"""What an author defines: suites of eval cases."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, Protocol

from msgspec import Meta

from agentv.model.base import AuthoredRecord, Record
from agentv.model.options import EvaluatorOptions

Role = Literal["system", "user", "assistant", "tool"]


class ContentPart(AuthoredRecord, frozen=True, kw_only=True):
    """A piece of a message: text, or a reference to a file."""

    type: Literal["text", "image", "file"]
    """A `file` is text or a PDF."""
    value: str
    """The text, or the file's path as the author wrote it."""


class Message(AuthoredRecord, frozen=True, kw_only=True):
    """One turn of a conversation."""

    role: Role
    content: str | Annotated[list[ContentPart], Meta(min_length=1)]

    @property
    def parts(self) -> list[ContentPart]:
        """The content as parts, whichever way it was written."""
        if isinstance(self.content, str):
            return [ContentPart(type="text", value=self.content)]
        return self.content


class EvalCase(Record, frozen=True, kw_only=True):
    """One question with what is expected of its answer."""

    id: str
    """Unique in its suite."""
    expected_outcome: str = ""
    input_messages: tuple[Message, ...]
    expected_messages: tuple[Message, ...] = ()
    """The reference answer, as messages; may be empty."""
    conversation_id: str | None = None
    note: str | None = None
    target: str | None = None
    """The case's own target; the suite's (or `--target`) when `None`."""
    evaluators: tuple[EvaluatorOptions, ...] = ()
    """In the order in which they run; the suite's are already filled in."""


class CaseSource(Protocol):
    """Where a suite's cases come from: counted at once, read one at a time.

    A source over a large file holds no case that is not being looked at.
    """

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[EvalCase]: ...


class Suite(Record, frozen=True, kw_only=True):
    """One eval file, valid and with its defaults filled in; its cases are in `cases`."""

    path: Path
    shown: str
    """The path as rows and messages show it."""
    dataset: str
    description: str | None = None
    target: str | None = None
    threshold: float | None = None
    """A trial passes at this score; `None` leaves it to the default."""
    min_pass_rate: float | None = None
    """The gate: this share of all trials must pass; `None` leaves it to the default."""
    digest: str
    """SHA-256 over the suite file and the case file it names."""
    cases: CaseSource
    guideline_patterns: tuple[str, ...]
    """Globs, matched on paths relative to `root`."""
    root: Path
    """The repository root, or the suite's folder outside a repository."""
