"""Taking a run's folder away: only what AgentV itself has put there."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from agentv.errors import SetupError
from agentv.storage.run_folder import RunFolder
from agentv.storage.run_lock import RunLock

_DRAFT = re.compile(r"\.(.+)\.[0-9]+\.tmp", re.DOTALL)


def remove_run(folder: RunFolder) -> tuple[str, ...]:
    """Remove a run; its folder too, unless something else is in it: the names of that.

    The manifest goes last, so that what is cut short can be done again.

    Raises:
        SetupError: It is being written, or cannot be removed; the message says why.
    """
    if folder.path.is_symlink():
        raise SetupError(f"{folder.path} is a link; name the run by where it lies.")
    with RunLock(folder.lock_path):
        try:
            for path in _ours(folder):
                path.unlink(missing_ok=True)
            left = tuple(sorted(path.name for path in folder.path.iterdir()))
            if not left:
                folder.path.rmdir()
        except OSError as error:
            raise SetupError(f"{folder.path} cannot be removed: {error.strerror}.") from error
    return left


def size_of(folder: RunFolder) -> int:
    """How many bytes removing a run gives back."""
    total = 0
    for path in _ours(folder):
        try:
            total += path.lstat().st_size
        except OSError:  # gone in between
            continue
    return total


def _ours(folder: RunFolder) -> Iterator[Path]:
    """What a run has in its folder, in the order in which it goes; drafts that were left first."""
    here = sorted(entry.name for entry in os.scandir(folder.path) if not _is_folder(entry))
    own = {path.name: path for path in folder.files}
    for name in here:
        draft = _DRAFT.fullmatch(name)
        if draft and draft[1] in own:
            yield folder.path / name
    yield from (path for name, path in own.items() if name in here)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)
