"""What the YAML parsers complain about, said for the person who wrote the text."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import yaml

from agentv.loading.mistake import DocumentError, Mistake
from agentv.loading.yaml_events import INVALID_ESCAPE

_ALIKE = "indent the keys of one mapping alike, and quote a text that holds ': ' or starts with one"


class _Known(NamedTuple):
    sign: str
    """A part of what either parser says, context and problem in one line."""
    message: str
    hint: str
    at_start: bool = False
    """Point at the start of the construct rather than at where the parser gave up."""
    code: str = "yaml-syntax"


_KNOWN = (
    _Known("tab character", "a tab is used to indent", "indent with spaces"),
    _Known("'\\t'", "a tab is used to indent", "indent with spaces"),
    _Known(
        INVALID_ESCAPE,
        "the escape stands for half a character, which cannot be written as UTF-8",
        "write the character itself, or \\U and its eight hexadecimal digits",
        code="surrogate",
    ),
    _Known(
        "while scanning a quoted scalar found unexpected",
        "the quoted text that starts here has no end",
        "close the quote",
        at_start=True,
    ),
    _Known(
        "while scanning a double-quoted scalar expected escape",
        "unknown escape in a text in double quotes",
        "write \\\\ for a backslash, or use single quotes",
    ),
    _Known(
        "escape",
        "unknown escape in a text in double quotes",
        "write \\\\ for a backslash, or use single quotes",
    ),
    _Known(
        "hexadecimal",
        "unknown escape in a text in double quotes",
        "write \\\\ for a backslash, or use single quotes",
    ),
    _Known(
        "mapping values are not allowed",
        "a ':' stands where no key can be",
        "quote a text that holds ': ', and indent the keys of one mapping alike",
    ),
    _Known(
        "sequence entries are not allowed",
        "a list item stands where no list can start",
        "start the list on the line below its key, or quote a text that starts with '- '",
    ),
    _Known(
        "expected ':'",
        "the key that starts here has no ':'",
        "write `key: value`; a text of several lines goes below `key: |`, indented",
        at_start=True,
    ),
    _Known(
        "',' or ']'",
        "expected ',' or ']' in the list that starts on {start}",
        "close the list, or quote a text that starts with '['",
    ),
    _Known(
        "',' or '}'",
        "expected ',' or '}}' in the mapping that starts on {start}",
        "close the mapping, or quote a text that starts with '{{'",
    ),
    _Known(
        "alphabetic or numeric character",
        "a text that starts with '{char}' must be quoted",
        "write it in quotes",
        at_start=True,
    ),
    _Known(
        "cannot start any token",
        "a text that starts with '{char}' must be quoted",
        "write it in quotes",
    ),
    _Known(
        "while scanning a block scalar",
        "a text below '|' or '>' starts on the next line",
        "move it there, indented",
    ),
    _Known(
        "undefined tag handle",
        "the tag does not belong here",
        "quote a text that starts with '!'",
        code="tag",
    ),
    _Known(
        "while parsing a block collection",
        "expected a list item",
        "start every item of a list with '- ' in the same column",
    ),
    _Known("while parsing a block mapping", "expected a key", _ALIKE),
    _Known("node content", "expected a value", "quote a text that starts with a special character"),
)


@contextmanager
def syntax_mistakes(text: str, found: Sequence[Mistake]) -> Iterator[None]:
    """Turn what the parsers raise into a `DocumentError`, after the mistakes `found` before."""
    try:
        yield
    except (yaml.YAMLError, ValueError) as error:
        raise DocumentError([*found, _mistake(error, text)]) from error


def _mistake(error: Exception, text: str) -> Mistake:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        return _marked(error, text)
    if isinstance(error, yaml.reader.ReaderError):
        return _forbidden(chr(_code(error.character)), text)
    if isinstance(error, UnicodeEncodeError):
        return _forbidden(error.object[error.start], text)
    return Mistake(line=1, column=1, message=f"not valid YAML: {error}", code="yaml-syntax")


def _marked(error: yaml.MarkedYAMLError, text: str) -> Mistake:
    at = _within(text, error.problem_mark)
    start = _within(text, error.context_mark) if error.context_mark else at
    said = " ".join(filter(None, (error.context, error.problem)))
    if _char(text, *at) == "\t":
        said += ": a tab character"  # libyaml does not always say so
    known = next((known for known in _KNOWN if known.sign in said), None)
    if known is None:
        return Mistake(line=at[0], column=at[1], message=said, code="yaml-syntax")
    line, column = start if known.at_start else at
    words = {"char": _char(text, line, column), "start": f"line {start[0]}, column {start[1]}"}
    return Mistake(
        line=line,
        column=column,
        message=known.message.format(**words),
        hint=known.hint.format(**words),
        code=known.code,
    )


def _forbidden(char: str, text: str) -> Mistake:
    """The parsers refuse a character wherever it stands, so its first place is the one."""
    before = _lines(text[: text.find(char)])
    surrogate = "\ud800" <= char <= "\udfff"
    return Mistake(
        line=len(before),
        column=len(before[-1]) + 1,
        message=(
            f"U+{ord(char):04X} is half a character, which cannot be written as UTF-8"
            if surrogate
            else f"the control character U+{ord(char):04X} cannot stand in YAML"
        ),
        hint="take it out" if surrogate else f'take it out, or write "\\x{ord(char):02X}"',
        code="surrogate" if surrogate else "yaml-syntax",
    )


def _code(character: Any) -> int:
    return character if isinstance(character, int) else ord(character)


def _within(text: str, mark: Any) -> tuple[int, int]:
    """Line and column; a mark behind the text is brought to the end of its last line."""
    lines = _lines(text.rstrip("\r\n"))
    if mark.line < len(lines):
        return mark.line + 1, mark.column + 1
    return len(lines), len(lines[-1]) + 1


def _char(text: str, line: int, column: int) -> str:
    return _lines(text)[line - 1][column - 1 :][:1]


def _lines(text: str) -> list[str]:
    return re.split(r"\r\n|\r|\n", text)
