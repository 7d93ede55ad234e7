"""The spellings of a target's keys: both cases, and the older `settings` block, become one.

A target may be written in snake_case or camelCase, and older files keep a provider's settings in a
`settings` block. All of it becomes one flat mapping in snake_case; `origin` remembers where each
key was written, so that messages point there.
"""

import re
from typing import Any

import msgspec

from agentv.loading.mistake import Mistake
from agentv.loading.salvage import misspelt_key
from agentv.model.options import TargetOptions
from agentv.model.problem import KeyPath, key_path

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NESTED = frozenset({"healthcheck", "retry", "sandbox"})
"""Blocks whose own keys have two spellings as well; other mappings hold the author's own keys."""
_COMMON_KEYS = TargetOptions.__struct_fields__


class OneSpelling(msgspec.Struct):
    """A target with each key in its one spelling."""

    keys: dict[str, Any] = {}
    origin: dict[KeyPath, KeyPath] = {}
    mistakes: list[Mistake] = []
    """At the places where they were written."""

    def placed(self, mistake: Mistake) -> Mistake:
        """A mistake found in `keys`, at the place (and about the key) that was written."""
        path = self.written(mistake.path)
        if mistake.code != "unknown-key" or path[-1] == mistake.path[-1]:
            return msgspec.structs.replace(mistake, path=path)
        return msgspec.structs.replace(mistake, path=path, message=f"unknown key '{path[-1]}'")

    def written(self, path: KeyPath) -> KeyPath:
        """Where a place of `keys` stands in the target."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.origin:
                return self.origin[path[:length]] + path[length:]
        return path

    def mend(self, key: str) -> None:
        """Without a key that every target needs, look for a misspelt one."""
        slip = None if key in self.keys else misspelt_key(self.keys, key, _COMMON_KEYS)
        if slip is None:
            return
        place = self.written((slip,))
        self.keys[key] = self.keys.pop(slip)
        self.origin[(key,)] = place
        self.mistakes.append(
            Mistake(
                path=place,
                message=f"unknown key '{place[-1]}'",
                hint=f"did you mean '{key}'?",
                code="unknown-key",
                at_key=True,
            )
        )


def one_spelling(target: dict[str, Any]) -> OneSpelling:
    """A target's keys in snake_case, its `settings` block flattened."""
    result = OneSpelling()
    _take(target, (), (), result.keys, result)
    return result


def snake_case(key: str) -> str:
    """`commandTemplate` -> `command_template`."""
    return _HUMP.sub("_", key).lower() if key.isidentifier() else key


def camel_case(key: str) -> str:
    """`command_template` -> `commandTemplate`."""
    head, *tail = key.split("_")
    return head + "".join(word.capitalize() for word in tail)


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
            result.mistakes.append(_given_twice(key, place, result.origin[(*at, name)]))
            continue
        result.origin[(*at, name)] = place
        if name in _NESTED and isinstance(value, dict):
            into[name] = {}
            _take(value, (*at, name), place, into[name], result)
        else:
            into[name] = value


def _given_twice(key: str, place: KeyPath, first: KeyPath) -> Mistake:
    return Mistake(
        path=place,
        message=f"'{key}' is the same key as '{key_path(first)}', given above",
        hint="keep one",
        code="given-twice",
        at_key=True,
    )
