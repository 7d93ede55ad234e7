"""A mistake in a document before its file and position are known."""

from collections.abc import Iterable, Sequence

from agentv.model.base import Record
from agentv.model.problem import KeyPath, Severity


class Mistake(Record, frozen=True, kw_only=True):
    """What is wrong at one place of a document.

    Mistakes of syntax know their line and column; mistakes of meaning know their key path, and
    their position is looked up only once something is wrong.
    """

    path: KeyPath = ()
    line: int | None = None
    """1-based, as `column`."""
    column: int | None = None
    message: str
    hint: str | None = None
    code: str = "invalid"
    at_key: bool = False
    """Point at the key of the pair rather than at its value."""
    meant: str | None = None
    """For an unknown key: the key it was probably meant to be."""
    severity: Severity = "error"


class DocumentError(Exception):
    """A text that is not a document we read; every mistake has its line and column."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes: Sequence[Mistake] = tuple(mistakes)
        super().__init__("\n".join(f"{m.line}:{m.column}  {m.message}" for m in self.mistakes))
