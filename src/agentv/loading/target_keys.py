"""The spellings of a target's keys: both cases, and the older `settings` block, become one.

A target may be written in snake_case or camelCase, and older files keep a provider's settings in a
`settings` block. All of it becomes one flat mapping in snake_case; `origin` remembers where each
key was written, so that messages point there.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from agentv.loading.mistake import Mistake
from agentv.model.problem import KeyPath

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NESTED = frozenset({"healthcheck", "retry"})
"""Blocks whose own keys have two spellings as well; other mappings hold the author's own keys."""


@dataclass
class OneSpelling:
    """A target with each key in its one spelling."""

    keys: dict[str, Any] = field(default_factory=dict)
    origin: dict[KeyPath, KeyPath] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)

    def written(self, path: KeyPath) -> KeyPath:
        """Where a key path below the target stands in the file."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.origin:
                return self.origin[path[:length]] + path[length:]
        return path


def one_spelling(target: dict[str, Any]) -> OneSpelling:
    """A target's keys in snake_case, its `settings` block flattened."""
    result = OneSpelling()
    _take(target, (), (), result.keys, result)
    return result


def snake_case(key: str) -> str:
    """`commandTemplate` -> `command_template`."""
    return _HUMP.sub("_", key).lower() if key.isidentifier() else key


def _take(
    block: dict[str, Any], at: KeyPath, written: KeyPath, into: dict[str, Any], result: OneSpelling
) -> None:
    for key, value in block.items():
        if key == "settings" and not at and isinstance(value, dict):
            _take(value, (), (*written, key), into, result)
            continue
        name = snake_case(key)
        place: KeyPath = (*written, key)
        if name in into:
            first = ".".join(map(str, result.origin[(*at, name)]))
            message = f"'{key}' is the same key as '{first}', given above"
            mistake = Mistake(
                path=place, message=message, hint="keep one", code="given-twice", at_key=True
            )
            result.mistakes.append(mistake)
            continue
        result.origin[(*at, name)] = place
        if name in _NESTED and isinstance(value, dict):
            into[name] = {}
            _take(value, (*at, name), place, into[name], result)
        else:
            into[name] = value


def camel_case(key: str) -> str:
    """`command_template` -> `commandTemplate`."""
    head, *tail = key.split("_")
    return head + "".join(word.capitalize() for word in tail)
