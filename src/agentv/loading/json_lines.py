"""Strict JSON, one document a line.

Stricter than `json`: it keeps the last of two equal keys, reads `NaN` and `Infinity`, and lets
half characters pass that cannot be written again. A YAML parser would take several times as long
and accept much that is not JSON.
"""

import json
from typing import Any, NoReturn

from agentv.loading.json_positions import JsonScanner, parse_json_positions
from agentv.loading.limits import MAX_DEPTH
from agentv.loading.mistake import DocumentError, Mistake

__all__ = ["DocumentError", "parse_json_line", "parse_json_positions"]

_SYNTAX = {
    "Expecting value": (
        "expected a value",
        "write text in double quotes, and no comma after the last value",
    ),
    "Expecting ',' delimiter": ("expected ','", "separate values with commas"),
    "Expecting ':' delimiter": ("expected ':'", 'write "key": value'),
    "Expecting property name enclosed in double quotes": (
        "expected a key in double quotes",
        'write "key": value, without a comma after the last one',
    ),
    "Illegal trailing comma before end of object": ("nothing follows this comma", "remove it"),
    "Illegal trailing comma before end of array": ("nothing follows this comma", "remove it"),
    "Unterminated string starting at": (
        "the text that starts here has no end",
        'close it with "; a line break in it is written \\n',
    ),
    "Invalid control character at": ("a raw control character in a text", "write it as \\uXXXX"),
    "Invalid \\escape": ("unknown escape in a text", "write \\\\ for a backslash"),
    "Invalid \\uXXXX escape": ("unknown escape in a text", "\\u takes four hexadecimal digits"),
    "Extra data": ("more text after the end of the document", "keep one document a line"),
}
"""What `json` says, said for the person who wrote the line."""


_UNKNOWN = Mistake(line=1, column=1, message="not valid JSON", code="json-syntax")


class _Suspicious(Exception):  # noqa: N818 - a signal between two functions of this file
    """The line holds something that needs the slow reading."""


def parse_json_line(line: str | bytes) -> Any:
    """The value of one line.

    Values are `dict`, `list`, `str`, `int`, `float` (finite), `bool` and `None`.

    Raises:
        DocumentError: Everything that is wrong; lines count from this one, as 1.
    """
    text = _decode(line) if isinstance(line, bytes) else line.removeprefix("\ufeff")
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise DocumentError([*JsonScanner(text).mistakes, _syntax_mistake(error)]) from error
    except (_Suspicious, RecursionError, ValueError) as error:
        raise DocumentError(JsonScanner(text).mistakes or [_UNKNOWN]) from error
    if _may_hide_something(text) and (mistakes := JsonScanner(text).mistakes):
        raise DocumentError(mistakes)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise _Suspicious
    return values


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise _Suspicious
    return value


def _refuse(constant: str) -> NoReturn:
    raise _Suspicious(constant)


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_refuse)


def _may_hide_something(text: str) -> bool:
    """Whether a value that `json` took may hold half a character or be nested too deep."""
    return (
        "\\ud" in text
        or "\\uD" in text
        or text.count("[") + text.count("{") > MAX_DEPTH
        or not (text.isascii() or _is_unicode(text))
    )


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _decode(line: bytes) -> str:
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        mistake = Mistake(
            line=1,
            column=len(line[: error.start].decode("utf-8-sig")) + 1,
            message=f"the byte 0x{line[error.start]:02X} is not UTF-8",
            hint="save the file as UTF-8",
            code="not-utf8",
        )
        raise DocumentError([mistake]) from error


def _syntax_mistake(error: json.JSONDecodeError) -> Mistake:
    message, hint = _SYNTAX.get(error.msg, (error.msg, None))
    if not error.doc.strip():
        message, hint = "the line is empty", "write one document a line"
    return Mistake(
        line=error.lineno,
        column=error.colno,
        message=message,
        hint=hint,
        code="json-syntax",
    )
