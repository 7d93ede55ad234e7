"""A mistake in a file a person wrote, said so that the person can mend it."""

from collections.abc import Iterable, Sequence
from typing import Literal

from agentv.errors import AuthorError
from agentv.model.base import Record

KeyPath = tuple[str | int, ...]
"""Where a value stands in a document: `("evalcases", 2, "evaluators", 0, "type")`."""

Severity = Literal["error", "warning"]


class Problem(Record, frozen=True, kw_only=True):
    """One mistake. Prints as `file:line:column  key.path  message; hint`."""

    file: str
    """The path as the user would type it."""
    path: KeyPath = ()
    line: int | None = None
    """1-based, as `column`; `None` until the file is read again for positions."""
    column: int | None = None
    message: str
    """What is wrong."""
    hint: str | None = None
    """What would be right."""
    code: str = "invalid"
    """A stable slug; `docs/errors.md#<code>` explains it."""
    severity: Severity = "error"
    at_key: bool = False
    """Point at the key of the pair rather than at its value (an unknown key, say)."""

    def __str__(self) -> str:
        """The line a person reads."""
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        words = [place, *([key_path(self.path)] if self.path else []), self.text]
        return "  ".join(words)

    @property
    def text(self) -> str:
        """Message and hint in one sentence."""
        return f"{self.message}; {self.hint}" if self.hint else self.message


class LoadError(AuthorError):
    """All the mistakes of the files that were read, in one exception."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: Sequence[Problem] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def key_path(path: KeyPath) -> str:
    """`("evalcases", 2, "id")` -> `evalcases[2].id`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
