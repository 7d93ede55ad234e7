"""The few calls by which a run is written down; a test puts a disk that fails in their place."""

import os
from pathlib import Path
from typing import Protocol


class Disk(Protocol):
    """A file that only grows; every call may raise `OSError`."""

    def open_to_append(self, path: Path) -> int:
        """A descriptor; the file is made if it is not there."""

    def write(self, file: int, data: memoryview) -> int:
        """How many bytes were taken, maybe not all."""

    def sync(self, file: int) -> None:
        """Come back when all that was written survives a loss of power."""

    def close(self, file: int) -> None:
        """Let go of a descriptor."""


class RealDisk:
    """The system's own calls."""

    # macOS has no `fdatasync`.
    _sync = staticmethod(getattr(os, "fdatasync", os.fsync))

    def open_to_append(self, path: Path) -> int:
        """See `Disk`."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)

    def write(self, file: int, data: memoryview) -> int:
        """See `Disk`."""
        return os.write(file, data)

    def sync(self, file: int) -> None:
        """See `Disk`."""
        self._sync(file)

    def close(self, file: int) -> None:
        """See `Disk`."""
        os.close(file)
