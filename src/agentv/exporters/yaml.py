"""`.yaml`: one document a result, made to be read by people.

Written out here rather than by a library: a row is nothing but JSON values, so every text can be
put in a form that YAML 1.1 and 1.2 read alike, with long lines left whole, line breaks shown as
line breaks and the letters of all scripts shown as they are.
"""

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, BinaryIO

from agentv.exporters.base import Row

_PLAIN = re.compile(r"[^\W\d_](?:[\w./()+@=%!?&~^*<>|$;,'-]| (?=[^ ]))*")
"""Texts that need no quotes, unless they are one of these words."""
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
"""What some version of YAML takes for a value, in any case."""

_SHOWN = "\x20-\x7e\xa0-\u2027\u202a-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
_NOT_IN_BLOCK = re.compile(f"[^\t\n{_SHOWN}]")
_NOT_IN_QUOTES = re.compile(f'["\\\\]|[^{_SHOWN}]')
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

_LONGEST_KEY = 1000
"""Readers give up looking for the `:` of a simple key after 1024 characters."""
_STEP = "  "


def write_yaml(rows: Iterable[Row], file: BinaryIO) -> None:
    """Write one document a row, with `---` between them."""
    for number, row in enumerate(rows):
        lines = ["---"] if number else []
        if row:
            _mapping(lines, row, "")
        else:
            lines.append("{}")
        text = "\n".join(lines) + "\n"
        file.write(text.encode("utf-8", "replace"))


def _mapping(lines: list[str], mapping: dict[str, Any], pad: str) -> None:
    for key, value in mapping.items():
        shown = _key(key)
        if len(shown) > _LONGEST_KEY:
            lines.append(f"{pad}? {shown}")
            shown = ""
        _value(lines, f"{pad}{shown}:", value, pad)


def _sequence(lines: list[str], items: Iterable[Any], pad: str) -> None:
    for item in items:
        if item and isinstance(item, dict | list | tuple):
            # A collection begins on the line of its dash.
            first = len(lines)
            _collection(lines, item, pad + _STEP)
            lines[first] = f"{pad}- {lines[first][len(pad) + len(_STEP) :]}"
        else:
            _value(lines, f"{pad}-", item, pad)


def _collection(lines: list[str], items: Any, pad: str) -> None:
    if isinstance(items, dict):
        _mapping(lines, items, pad)
    else:
        _sequence(lines, items, pad)


def _value(lines: list[str], head: str, value: Any, pad: str) -> None:
    """What follows a `:` or a `-`: the rest of that line, then whole lines."""
    if isinstance(value, str):
        if "\n" in value and _fits_block(value):
            _block(lines, head, value, pad + _STEP)
        else:
            lines.append(f"{head} {_text(value)}")
    elif value and isinstance(value, dict | list | tuple):
        lines.append(head)
        _collection(lines, value, pad + _STEP)
    else:
        lines.append(f"{head} {_scalar(value)}")


def _fits_block(text: str) -> bool:
    return not text.isspace() and not _NOT_IN_BLOCK.search(text)


def _block(lines: list[str], head: str, text: str, pad: str) -> None:
    """A text of several lines, each on its own."""
    body = text.removesuffix("\n")
    end = "-" if body == text else "+" if body.endswith("\n") else ""
    # Without the number, readers would take what the text begins with for part of the indent.
    start = str(len(_STEP)) if text[0] in " \t\n" else ""
    lines.append(f"{head} |{start}{end}")
    lines += (pad + line if line else "" for line in body.split("\n"))


def _scalar(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _float(value)
        case dict():
            return "{}"
        case list() | tuple():
            return "[]"
    raise TypeError(f"{type(value).__name__} is not a JSON value")


@lru_cache(maxsize=1_024)
def _key(key: str) -> str:
    """The same few stand in every row."""
    return _text(key)


def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return f'"{_NOT_IN_QUOTES.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    sign = found[0]
    code = ord(sign)
    return _SHORT_ESCAPES.get(sign) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def _float(number: float) -> str:
    if math.isnan(number):
        return ".nan"
    if math.isinf(number):
        return ".inf" if number > 0 else "-.inf"
    # YAML 1.1 takes `1e-07` for a text: its floats must have a point.
    mantissa, e, exponent = repr(number).partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{e}{exponent}"
