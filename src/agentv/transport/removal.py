"""Removing folders in which other people's programs worked."""

import os
import shutil
from contextlib import suppress
from pathlib import Path


def remove_tree(folder: str | Path) -> None:
    """Remove a folder with all that is in it; what cannot be removed stays, and nothing is raised.

    Programs leave folders that may not be written to, not even by whoever owns them (Go's module
    cache for one): such rights are given back first.
    """
    shutil.rmtree(folder, ignore_errors=True)
    if Path(folder).is_symlink():
        with suppress(OSError):
            Path(folder).unlink()
    elif os.path.lexists(folder):
        _open_up(folder)
        shutil.rmtree(folder, ignore_errors=True)


def _open_up(folder: str | Path) -> None:
    todo = [os.fspath(folder)]
    while todo:
        here = todo.pop()
        with suppress(OSError):
            Path(here).chmod(0o700)
        with suppress(OSError), os.scandir(here) as entries:
            todo += (entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
