"""A folder for each attempt, apart from all others, and gone when it is done with."""

import asyncio
import fcntl
import os
import tempfile
from itertools import count
from pathlib import Path

from agentv.errors import ProviderError
from agentv.model.base import Record
from agentv.transport.removal import remove_tree

_PREFIX = "agentv-rooms-"
_LOCK = "in-use"


class Room(Record, frozen=True, kw_only=True):
    """The folders of one attempt."""

    folder: Path
    """Holds the others."""
    workspace: Path
    """Where the agent works; empty at first."""
    private: Path
    """What the attempt needs beside its workspace."""
    tmp: Path
    """The agent's `TMPDIR`."""

    def clear(self) -> None:
        """Remove everything but the workspace, and what is said of it beside it."""
        for folder in (path for path in self.folder.iterdir() if path.is_dir()):
            if folder != self.workspace:
                remove_tree(folder)

    def remove(self) -> None:
        """Remove everything."""
        remove_tree(self.folder)


class Rooms:
    """Makes rooms below one temporary folder, which is locked as long as this process lives.

    The lock tells folders in use from those that a killed run left behind; these are removed when
    the next run makes its first room.
    """

    def __init__(self) -> None:
        self._numbers = count(1)
        self._root: Path | None = None
        self._lock: int | None = None

    async def open(self) -> Room:
        """A new room; raises `ProviderError` when there is no place for one."""
        try:
            if self._root is None:
                self._make_root()
            return self._make_room()
        except OSError as error:
            raise ProviderError(
                f"no temporary folder can be made: {error.strerror}", kind="spawn"
            ) from error

    async def aclose(self) -> None:
        """Remove what is left of all rooms."""
        if self._root is not None:
            await asyncio.to_thread(remove_tree, self._root)
        if self._lock is not None:
            os.close(self._lock)
        self._root = self._lock = None

    def _make_root(self) -> None:
        _remove_abandoned(Path(tempfile.gettempdir()))
        # Resolved: agents report real paths, and a sandbox knows no others.
        self._root = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
        self._lock = os.open(self._root / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def _make_room(self) -> Room:
        assert self._root is not None  # noqa: S101 - made by `open`
        folder = self._root / str(next(self._numbers))
        room = Room(
            folder=folder,
            workspace=folder / "workspace",
            private=folder / "private",
            tmp=folder / "tmp",
        )
        for path in (room.workspace, room.private, room.tmp):
            path.mkdir(parents=True)
        return room


def _remove_abandoned(parent: Path) -> None:
    for root in parent.glob(f"{_PREFIX}*"):
        try:
            lock = os.open(root / _LOCK, os.O_RDWR | os.O_CLOEXEC)
        except OSError:  # Somebody else's, or one that is being made or removed right now.
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_tree(root)
        except OSError:
            continue
        finally:
            os.close(lock)
