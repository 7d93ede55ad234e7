"""Finding and reading the files that authors refer to."""

import os
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from agentv.loading.nearest import nearest

_REMEMBERED = 4_096
_MOST_SUGGESTIONS = 100
"""Comparing names takes long in large folders; whoever lost more files than this moved a folder."""


class SearchPath:
    """Finds file references: absolute, else below each folder in turn.

    A leading slash that leads nowhere is dropped, since `/docs/a.md` often means the root of the
    repository. Found paths are remembered: large suites repeat a few references thousands of times.
    """

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self.folders = folders
        self._remembered = lru_cache(_REMEMBERED)(self._look)
        self._suggestions = 0

    def find(self, reference: str) -> Path | None:
        """The existing file or folder, absolute; `None` if there is none."""
        return self._remembered(reference)

    def tried(self, reference: str) -> list[Path]:
        """Every place that `find` looks at, in order."""
        given = Path(reference)
        absolute = [given] if given.is_absolute() else []
        relative = reference.lstrip("/\\")
        return absolute + [_normal(folder / relative) for folder in self.folders]

    def suggest(self, reference: str) -> str | None:
        """The reference with the name of a file near the places looked at that is nearly the same.

        Gives up after a hundred references.
        """
        self._suggestions += 1
        if self._suggestions > _MOST_SUGGESTIONS:
            return None
        for path in self.tried(reference):
            with suppress(OSError, ValueError):  # a folder that cannot be listed
                # By stem: else every `.md` is near to every other.
                stems = {entry.stem: entry.name for entry in path.parent.iterdir()}
                if stem := nearest(path.stem, stems):
                    return str(Path(reference).with_name(stems[stem]))
        return None

    def _look(self, reference: str) -> Path | None:
        return next(filter(_exists, self.tried(reference)), None)


def read_attachment(path: Path) -> str:
    r"""A file's text, stripped at both ends, line endings as `\n`.

    Raises:
        OSError: The file cannot be read.
        UnicodeDecodeError: It is not UTF-8.
    """
    text = path.read_bytes().decode("utf-8-sig")
    return text.replace("\r\n", "\n").strip()


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name too long for the system, a NUL in it
        return False


def _normal(path: Path) -> Path:
    """`a/../b` -> `b`, without following links: what is shown stays what was written."""
    return Path(os.path.normpath(path))
