"""Files and folders that an author named for a sandbox."""

import os
from collections.abc import Iterable
from pathlib import Path

from agentv.errors import SetupError


def is_folder(path: Path) -> bool:
    """Whether there is a folder; not so where we may not look."""
    return os.path.isdir(path)  # noqa: PTH112 - `Path.is_dir` raises where we may not look


def named_places(names: Iterable[str], folder: Path, key: str) -> tuple[Path, ...]:
    """The real paths of what was named, from the folder of the targets file.

    Raises:
        SetupError: One of them does not exist.
    """
    return tuple(_place(name, folder, key) for name in names)


def _place(name: str, folder: Path, key: str) -> Path:
    path = folder / Path(name).expanduser()
    if not os.path.exists(path):  # noqa: PTH110 - likewise
        raise SetupError(
            f"The sandbox has '{name}' under `{key}`, but '{path}' does not exist; make it, or "
            f"take it out."
        )
    return Path(os.path.realpath(path))
