"""Where the values of a document stand in its text."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from agentv.model.problem import KeyPath

_NO_PARTS: Mapping[str | int, "Place"] = MappingProxyType({})


class Place(NamedTuple):
    """Where a value begins, and where its parts do; 1-based."""

    line: int
    column: int
    key: tuple[int, int] | None = None
    """Line and column of the key, for a value of a mapping."""
    parts: Mapping[str | int, "Place"] = _NO_PARTS


class Positions(msgspec.Struct, frozen=True):
    """The places of a whole document."""

    root: Place

    def of(self, path: KeyPath, *, key: bool = False) -> tuple[int, int]:
        """Line and column of the value at `path`, or of its key.

        A path that leads nowhere gives the nearest value above it, so a missing key points at the
        mapping that lacks it.
        """
        place = self.root
        for part in path:
            below = place.parts.get(part)
            if below is None:
                return place.line, place.column
            place = below
        if key and place.key:
            return place.key
        return place.line, place.column
