"""Plain values and bounds in words."""

import json
import math
from collections.abc import Collection
from typing import Any

import msgspec.inspect as mi

from agentv.loading.yaml_scalars import plain_value

_LONG = 40


def found(value: Any) -> str:
    """`the number 7`, `the text 'abc'`, `a list`, `nothing`."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return _number(value)
    if isinstance(value, int | float):
        return f"the number {_short(_number(value))}"
    if isinstance(value, str):
        return f"the text {quoted(value)}" if value else "an empty text"
    return "a mapping" if isinstance(value, dict) else "a list"


def quoted(value: Any) -> str:
    """`'abc'` for a text, `7` for a number; long ones cut short."""
    return f"'{_short(value)}'" if isinstance(value, str) else _short(_number(value))


def how_to_mend(value: Any, wanted: Collection[type]) -> str | None:
    """What to do about a value of the wrong kind, when that can be told."""
    if value is None:
        return "write a value, or remove the key"
    if isinstance(value, str):
        return _without_quotes(value, wanted)
    if str in wanted and isinstance(value, bool | int | float):
        return f'write it in quotes: "{_short(_number(value))}"'
    if isinstance(value, float) and value.is_integer() and int in wanted:
        return f"write {int(value)}"
    return "put it in a list" if list in wanted else None


def bounds(number: mi.IntType | mi.FloatType) -> str:
    """`from 0 to 1`, `greater than 0`, `of at least 1`."""
    if number.ge is not None and number.le is not None:
        return f"from {_number(number.ge)} to {_number(number.le)}"
    said = [
        f"{words} {_number(bound)}"
        for words, bound in (
            ("of at least", number.ge),
            ("greater than", number.gt),
            ("of at most", number.le),
            ("less than", number.lt),
        )
        if bound is not None
    ]
    return " and ".join(said)


def _without_quotes(text: str, wanted: Collection[type]) -> str | None:
    try:
        value = plain_value(text.strip())
    except ValueError:
        return None
    if bool in wanted:
        return "write true or false, without quotes"
    if type(value) in wanted and type(value) in (int, float):
        return f"write it without quotes: {text.strip()}"
    return "put it in a list" if list in wanted else None


def _number(value: Any) -> str:
    """A number as an author writes it."""
    try:
        return json.dumps(value)
    except ValueError:  # more digits than Python converts
        return "with very many digits"


def _short(text: str) -> str:
    line = text.split("\n", 1)[0]
    return text if line == text and len(text) <= _LONG else f"{line[:_LONG]}…"
