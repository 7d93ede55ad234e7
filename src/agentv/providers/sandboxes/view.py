"""What a sandboxed program sees of the file system, and what of it may be changed.

The rules are a tree: each place is hidden, readable or writable, and what lies below it follows it
until a deeper place says otherwise. The root is readable.
"""

from collections.abc import Iterable
from enum import IntEnum
from pathlib import Path

import msgspec


class Access(IntEnum):
    """What may be done; of two rules for one place, the more generous one counts."""

    HIDDEN = 0
    READABLE = 1
    WRITABLE = 2


class View(msgspec.Struct, frozen=True):
    """Rules for places, all of them real paths."""

    rules: dict[Path, Access] = {}

    def with_rules(self, places: Iterable[Path], access: Access) -> "View":
        """The same with more rules."""
        rules = dict(self.rules)
        for place in places:
            rules[place] = max(access, rules.get(place, access))
        return View(rules)

    def access(self, path: Path) -> Access:
        """What may be done with a path."""
        for place in (path, *path.parents):
            if place in self.rules:
                return self.rules[place]
        return Access.READABLE

    def hides(self, path: Path) -> bool:
        """Whether a path cannot be seen."""
        return self.access(path) is Access.HIDDEN

    def spares(self, folder: Path) -> bool:
        """Whether nothing is to be hidden in a folder, so that it may be shown whole."""
        return not any(
            place.is_relative_to(folder)
            for place, access in self.rules.items()
            if access is Access.HIDDEN
        )

    def steps(self) -> list[tuple[Path, Access]]:
        """The rules that change something, outer ones first."""
        found: list[tuple[Path, Access]] = []
        for place in sorted(self.rules, key=lambda path: (len(path.parts), path)):
            around = self.access(place.parent) if place.parent != place else Access.READABLE
            if self.rules[place] is not around:
                found.append((place, self.rules[place]))
        return found
