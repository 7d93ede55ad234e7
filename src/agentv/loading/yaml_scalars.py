"""What an unquoted or tagged text means in YAML 1.2 (its core schema).

Only the spellings below are more than text: `no`, `on`, `12:30`, `2024-01-01` and `1_000` stay as
they were written.
"""

import re
from typing import Any

from agentv.loading.limits import MOST_DIGITS

SUSPECTS = frozenset(["", *"~nNtTfF.-+0123456789"])
"""What a plain text begins with (its first character, `""` for none) if it may not be text."""

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INT = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")

CORE = "tag:yaml.org,2002:"
_TAGGED: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
}


def plain_value(text: str) -> Any:
    """The value of a text that is written without quotes and without a tag.

    Raises:
        ValueError: It is a number that is too long to be read.
    """
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        if len(text) > MOST_DIGITS:
            raise ValueError(f"a number of {len(text)} digits is too long")
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _NOT_FINITE.fullmatch(text):
        return float(text.replace(".", ""))
    return text


def tagged_value(tag: str, text: str) -> Any:
    """The value of a text that carries a tag.

    Raises:
        ValueError: The tag is unknown, or the text is nothing of its kind.
    """
    kind = tag.removeprefix(CORE)
    if tag == "!" or (kind == "str" and tag != kind):
        return text
    if kind == tag or kind not in _TAGGED:
        raise unknown_tag(tag)
    value = plain_value(text)
    if type(value) not in _TAGGED[kind]:
        raise ValueError(f"'{text}' is not what the tag !!{kind} says")
    return float(value) if kind == "float" else value


def unknown_tag(tag: str) -> ValueError:
    """No tags but those of the core schema are honoured: others could build any object."""
    return ValueError(f"the tag '{tag.replace(CORE, '!!', 1)}' does not belong here")
