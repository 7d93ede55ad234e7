"""A file that only grows, a line at a time."""

import errno
from contextlib import suppress
from pathlib import Path

from agentv.errors import RunAborted, SetupError
from agentv.storage.disk import Disk
from agentv.storage.durable import sync_folder


class AppendFile:
    """What was appended outlives this process at once, and the machine once it is synced.

    After a first failure nothing more is taken: what follows could not be told from what is lost.

    Raises:
        SetupError: It cannot be opened.
    """

    def __init__(self, path: Path, disk: Disk) -> None:
        self._path = path
        self._disk = disk
        self._broken: RunAborted | None = None
        self.needs_sync = False
        try:
            self._file = disk.open_to_append(path)
            sync_folder(path.parent)
        except OSError as error:
            raise SetupError(f"{path} cannot be written: {error.strerror}.") from error

    @property
    def broken(self) -> RunAborted | None:
        """Why nothing more is taken, if so."""
        return self._broken

    def append(self, line: bytes, *, is_precious: bool = True) -> None:
        """Write one line; raises `RunAborted` when the disk refuses it, or refused another.

        Args:
            line: With its end.
            is_precious: Whether it must outlive the machine, so that a sync is owed to it.
        """
        if self._broken is not None:
            raise RunAborted(str(self._broken))
        if self._file < 0:
            raise RunAborted(f"{self._path} is closed, so nothing can be added.")
        rest = memoryview(line)
        try:
            # Nearly always one call: less is taken only when a disk or a quota is about full.
            while rest:
                taken = self._disk.write(self._file, rest)
                if not taken:
                    raise OSError(errno.EIO, "nothing is taken any more")
                rest = rest[taken:]
        except OSError as error:
            raise self._give_up(error) from error
        self.needs_sync = self.needs_sync or is_precious

    def sync(self) -> None:
        """Wait for the disk; raises `RunAborted` when it fails."""
        if self._broken is not None:
            # After a failed flush the next one may succeed although the data is lost.
            raise RunAborted(str(self._broken))
        if not self.needs_sync:
            return
        self.needs_sync = False
        try:
            self._disk.sync(self._file)
        except OSError as error:
            raise self._give_up(error) from error

    def close(self) -> None:
        """Let go of the file, without a sync."""
        file, self._file = self._file, -1
        if file >= 0:
            with suppress(OSError):  # whatever is wrong, a sync has said so already
                self._disk.close(file)

    def _give_up(self, error: OSError) -> RunAborted:
        self._broken = RunAborted(
            f"{self._path} cannot be written: {error.strerror}. "
            "Rows that are already in it are kept."
        )
        return self._broken
