"""Where the values of one line of JSON stand: the slow reading, for when something is wrong.

The line is read leniently: what `json` refuses is skipped over, so that duplicate keys and the
like are found on both sides of it.
"""

import json
import math
import re
from collections.abc import Iterator
from contextlib import suppress

from agentv.loading.limits import MAX_DEPTH, MOST_DIGITS
from agentv.loading.mistake import Mistake
from agentv.loading.positions import Place, Positions
from agentv.model.problem import KeyPath

_WORD = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{},:]|[^\s\[\]{},:"]+')
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_LONG = 20
_END = ("", 1)


class _TooDeep(Exception):  # noqa: N818 - a signal inside this file
    """Reading on would only pile up calls."""


def parse_json_positions(line: str) -> Positions:
    """The positions in a line that `parse_json_line` accepts; all of them in line 1.

    Never raises: of a line that is not JSON, it gives what can be told.
    """
    return Positions(JsonScanner(line).root)


class JsonScanner:
    """Reads one line for places, and for the mistakes that plain `json` does not see."""

    def __init__(self, line: str) -> None:
        self.mistakes: list[Mistake] = []
        self._words = _words(line)
        self.root = Place(1, 1)
        with suppress(_TooDeep):
            self.root = self._value(*next(self._words, _END), ())

    def _value(
        self, word: str, column: int, path: KeyPath, key: tuple[int, int] | None = None
    ) -> Place:
        if word not in ("{", "["):
            self._check(word, column, path)
            return Place(1, column, key)
        if len(path) >= MAX_DEPTH:
            message = f"values are nested more than {MAX_DEPTH} deep"
            self._report(column, message, "write a flatter document", "depth")
            raise _TooDeep
        return Place(1, column, key, self._object(path) if word == "{" else self._array(path))

    def _object(self, path: KeyPath) -> dict[str | int, Place]:
        parts: dict[str | int, Place] = {}
        for word, column in self._words:
            if word == "}":
                break
            if not word.startswith('"'):
                continue
            name = _text(word)
            self._check_text(name, column, path)
            if name in parts:
                first = parts[name].key
                hint = f"it is already in column {first[1]}; keep one" if first else "keep one"
                message = f"duplicate key '{name}'"
                self._report(column, message, hint, "duplicate-key", (*path, name), at_key=True)
            colon = next(self._words, _END)
            value = next(self._words, _END) if colon[0] == ":" else colon
            place = self._value(*value, (*path, name), (1, column))
            parts.setdefault(name, place)
        return parts

    def _array(self, path: KeyPath) -> dict[str | int, Place]:
        parts: dict[str | int, Place] = {}
        for word, column in self._words:
            if word == "]":
                break
            if word != ",":
                parts[len(parts)] = self._value(word, column, (*path, len(parts)))
        return parts

    def _check(self, word: str, column: int, path: KeyPath) -> None:
        if word.startswith('"'):
            self._check_text(_text(word), column, path)
        elif word in ("NaN", "Infinity", "-Infinity"):
            self._report(column, f"{word} is not JSON", "write a number", "out-of-range", path)
        elif _NUMBER.fullmatch(word) and _is_too_large(word):
            shown = word if len(word) < _LONG else f"{word[:_LONG]}…"
            message = f"the number {shown} is too large"
            self._report(column, message, "write a smaller one", "out-of-range", path)

    def _check_text(self, text: str, column: int, path: KeyPath) -> None:
        half = next((char for char in text if "\ud800" <= char <= "\udfff"), None)
        if half:
            message = f"U+{ord(half):04X} is half a character, which cannot be written as UTF-8"
            self._report(column, message, "write the whole character", "surrogate", path)

    def _report(
        self,
        column: int,
        message: str,
        hint: str,
        code: str,
        path: KeyPath = (),
        *,
        at_key: bool = False,
    ) -> None:
        mistake = Mistake(
            path=path,
            line=1,
            column=column,
            message=message,
            hint=hint,
            code=code,
            at_key=at_key,
        )
        self.mistakes.append(mistake)


def _words(line: str) -> Iterator[tuple[str, int]]:
    return ((match[0], match.start() + 1) for match in _WORD.finditer(line))


def _is_too_large(number: str) -> bool:
    whole = number.lstrip("-").isdigit()
    return len(number) > MOST_DIGITS if whole else math.isinf(float(number))


def _text(word: str) -> str:
    with suppress(ValueError):
        return str(json.loads(word, strict=False))
    return word
