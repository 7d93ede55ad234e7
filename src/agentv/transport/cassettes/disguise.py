"""What must not, or cannot, be recorded as it is: secrets, and where things happen to lie."""

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

import msgspec

from agentv.model.base import Record

_OPEN = "<agentv:"
"""Begins what stands for a folder: `<agentv:room>`."""
_ESCAPED = ":"
"""After `_OPEN`, where a text itself held that."""
_SHORTEST = 2
"""Characters of a path: `/` is in every path."""
_STANDS = re.compile(rf"{_OPEN}(?:({_ESCAPED})|([a-z-]+)>)")


class Secrets(msgspec.Struct, kw_only=True):
    """How secrets are taken out; known once the targets are built."""

    out_of: Callable[[str], str] = lambda text: text
    """Out of any text."""
    steady: Callable[[str], str] = lambda text: text
    """Makes requests alike that differ only in what follows from where things lie."""


class Disguise(Record, frozen=True, kw_only=True, dict=True):
    """Takes secrets and places out of what is recorded, and puts places into what is replayed."""

    secrets: Secrets
    places: Mapping[str, Path] = {}
    """Folders, by a word in small letters and hyphens that stays the same from run to run."""

    def hide(self, text: str) -> str:
        """As it is recorded."""
        return self._hidden(text).encode("utf-8", "replace").decode("utf-8")

    def show(self, text: str) -> str:
        """As it would be here and now; a secret stays out."""
        return _STANDS.sub(self._shown, text) if _OPEN in text else text

    def hide_request(self, data: bytes) -> bytes:
        """Like `hide_bytes`, for what is only compared and never put back."""
        return _encode(self.secrets.steady(self._hidden(_decode(data))))

    def hide_bytes(self, data: bytes) -> bytes:
        """Like `hide`; what is no text goes through unharmed."""
        return _encode(self._hidden(_decode(data)))

    def show_bytes(self, data: bytes) -> bytes:
        """Like `show`."""
        return _encode(self.show(_decode(data)))

    def _hidden(self, text: str) -> str:
        hidden = self.secrets.out_of(text).replace(_OPEN, _OPEN + _ESCAPED)
        written = self._written
        if not any(path in hidden for path in written):
            return hidden
        return _any_of(written).sub(lambda found: f"{_OPEN}{written[found[0]]}>", hidden)

    @cached_property
    def _written(self) -> dict[str, str]:
        """The word for each way in which one of the folders may be written; the longest first."""
        found: dict[str, str] = {}
        for word, place in self.places.items():
            for path in dict.fromkeys((str(place), str(place.resolve()))):
                if len(path) >= _SHORTEST:
                    found.setdefault(path, word)
                    found.setdefault(quote(path), word)
        return {path: found[path] for path in sorted(found, key=len, reverse=True)}

    def _shown(self, found: re.Match[str]) -> str:
        if found[1]:
            return _OPEN
        place = self.places.get(found[2])
        return found[0] if place is None else str(place)


def _any_of(paths: Mapping[str, str]) -> re.Pattern[str]:
    """Any of some paths, where it is not a part of a longer name."""
    either = "|".join(map(re.escape, paths))
    # In JSON a line break is two signs, of which the second is a letter.
    return re.compile(rf"(?:(?<![\w.~-])|(?<=\\[nrt]))(?:{either})(?![\w~-])(?!\.\w)")


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
