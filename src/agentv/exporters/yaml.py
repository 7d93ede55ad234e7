"""`.yaml`: one document a result, made to be read by people.

Written out here rather than by a library: a row is nothing but JSON values, so every text can be
put in a form that YAML 1.1 and 1.2 read alike, with long lines left whole, line breaks shown as
line breaks and the letters of all scripts shown as they are.
"""

import math
import re
from collections.abc import Iterable, Iterator
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
_STEP = 2


def write_yaml(rows: Iterable[Row], file: BinaryIO) -> None:
    """Write one document a row, with `---` between them."""
    for number, row in enumerate(rows):
        lines = ["---"] if number else []
        lines += _mapping(row, 0) if row else ["{}"]
        text = "\n".join(lines) + "\n"
        file.write(text.encode("utf-8", "replace"))


def _mapping(mapping: dict[str, Any], indent: int) -> Iterator[str]:
    pad = " " * indent
    for key, value in mapping.items():
        shown = _text(key)
        if len(shown) > _LONGEST_KEY:
            yield f"{pad}? {shown}"
            shown = ""
        first, *rest = _value(value, indent)
        yield f"{pad}{shown}:{first}"
        yield from rest


def _sequence(items: Iterable[Any], indent: int) -> Iterator[str]:
    pad = " " * indent
    for item in items:
        first, *rest = _value(item, indent)
        if not first:  # A collection begins on the line of its dash.
            first, *rest = rest
            first = " " + first[indent + _STEP :]
        yield f"{pad}-{first}"
        yield from rest


def _value(value: Any, indent: int) -> list[str]:
    """What follows a `:` or a `-` at this indent: the rest of that line, then whole lines."""
    inside = indent + _STEP
    if value and isinstance(value, dict):
        return ["", *_mapping(value, inside)]
    if value and isinstance(value, list | tuple):
        return ["", *_sequence(value, inside)]
    if isinstance(value, str) and _fits_block(value):
        return _block(value, " " * inside)
    return [" " + _scalar(value)]


def _fits_block(text: str) -> bool:
    return "\n" in text and not text.isspace() and not _NOT_IN_BLOCK.search(text)


def _block(text: str, pad: str) -> list[str]:
    """A text of several lines, each on its own."""
    body = text.removesuffix("\n")
    end = "-" if body == text else "+" if body.endswith("\n") else ""
    # Without the number, readers would take what the text begins with for part of the indent.
    start = str(_STEP) if text[0] in " \t\n" else ""
    lines = (pad + line if line else "" for line in body.split("\n"))
    return [f" |{start}{end}", *lines]


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
        case str():
            return _text(value)
        case dict():
            return "{}"
        case list() | tuple():
            return "[]"
    raise TypeError(f"{type(value).__name__} is not a JSON value")


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
