"""A file a person wrote, read into a plain tree; and mistakes in it, brought to their positions.

The valid path never looks for positions: they are found by reading the text a second time, only
once something is wrong.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from agentv.loading.mistake import Mistake
from agentv.loading.positions import Positions
from agentv.loading.yaml12 import DocumentError, parse_yaml, parse_yaml_positions
from agentv.model.base import Record
from agentv.model.problem import LoadError, Problem


class Document(Record, frozen=True, kw_only=True):
    """A YAML file's text and tree."""

    shown: str
    text: str | None
    """`None` for a suite that a program built; its mistakes have key paths only."""
    tree: Any


def read_document(path: Path, shown: str) -> Document:
    """Read a YAML file.

    Raises:
        LoadError: It is missing, a folder, empty, not UTF-8, or not valid YAML.
    """
    text = read_text(path, shown)
    try:
        tree = parse_yaml(text)
    except DocumentError as error:
        raise LoadError(_placed(error.mistakes, shown)) from error
    if tree is None:
        raise LoadError([_empty(shown)])
    return Document(shown=shown, text=text, tree=tree)


def read_text(path: Path, shown: str) -> str:
    """A file's text.

    Raises:
        LoadError: It is missing, a folder, empty, or not UTF-8.
    """
    data = read_bytes(path, shown)
    if not data.strip():
        raise LoadError([_empty(shown)])
    return decode(data, shown)


def read_bytes(path: Path, shown: str) -> bytes:
    """A file's bytes.

    Raises:
        LoadError: It cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        problem = Problem(file=shown, message="no such file", code="missing-file")
    except IsADirectoryError:
        problem = Problem(file=shown, message="this is a folder, not a file", code="missing-file")
    except OSError as error:
        problem = Problem(
            file=shown, message=f"cannot be read: {error.strerror}", code="unreadable"
        )
    raise LoadError([problem])


def decode(data: bytes, shown: str) -> str:
    """Bytes as UTF-8 text; a byte-order mark is dropped.

    Raises:
        LoadError: They are not UTF-8; the problem points at the first bad byte.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line_start = before.rfind(b"\n") + 1
        problem = Problem(
            file=shown,
            line=before.count(b"\n") + 1,
            column=len(before[line_start:].decode("utf-8", "replace")) + 1,
            message=f"the byte 0x{data[error.start]:02X} is not UTF-8",
            hint="save the file as UTF-8",
            code="not-utf8",
        )
        raise LoadError([problem]) from error


def locate(mistakes: Iterable[Mistake], document: Document) -> list[Problem]:
    """Bring mistakes found in a document's tree to their lines and columns, in file order."""
    found = list(mistakes)
    if not found:
        return []
    if document.text is None:
        return [problem_at(mistake, document.shown, None, None) for mistake in found]
    return placed_by(found, document.shown, parse_yaml_positions(document.text))


def placed_by(mistakes: Iterable[Mistake], shown: str, positions: Positions) -> list[Problem]:
    """Problems at the positions of their key paths."""
    problems = []
    for mistake in mistakes:
        line, column = positions.of(mistake.path, key=mistake.at_key)
        problems.append(problem_at(mistake, shown, line, column))
    return sorted(problems, key=lambda problem: (problem.line or 0, problem.column or 0))


def problem_at(mistake: Mistake, shown: str, line: int | None, column: int | None) -> Problem:
    """A mistake at a known place."""
    return Problem(
        file=shown,
        path=mistake.path,
        line=line,
        column=column,
        message=mistake.message,
        hint=mistake.hint,
        code=mistake.code,
        severity=mistake.severity,
    )


def _placed(mistakes: Sequence[Mistake], shown: str) -> list[Problem]:
    return [problem_at(mistake, shown, mistake.line, mistake.column) for mistake in mistakes]


def _empty(shown: str) -> Problem:
    return Problem(
        file=shown,
        line=1,
        column=1,
        message="the file is empty",
        hint="an eval file starts with `evalcases:`, a targets file with `targets:`",
        code="empty-file",
    )
