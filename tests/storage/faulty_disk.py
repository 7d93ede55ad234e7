"""A disk that fails as it is told to, and remembers what it holds."""

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

Fault = Literal["short", "nothing", "full", "torn", "flush", "close"]
"""`short`: half is taken, the rest at the next call. `nothing`: not a byte, without an error.
`full`: no space. `torn`: half is taken, then no space. `flush`, `close`: these fail."""


class FaultyDisk:
    """Takes bytes into memory; the nth call of `write`, `sync` or `close` may go wrong.

    Args:
        writes: What is wrong with the nth write, from 0.
        syncs: Which flushes fail, from 0.
        closes_badly: Whether closing fails.
    """

    def __init__(
        self,
        writes: Mapping[int, Fault] | None = None,
        syncs: frozenset[int] = frozenset(),
        *,
        closes_badly: bool = False,
    ) -> None:
        self.content: dict[Path, bytearray] = {}
        self.synced: dict[Path, int] = {}
        """How many bytes of each file survive a loss of power."""
        self.written = 0
        """Calls of `write` that came after the first failure count, too."""
        self._paths: list[Path] = []
        self._writes = dict(writes or {})
        self._syncs = syncs
        self._flushed = 0
        self._closes_badly = closes_badly
        self._full = False

    def open_to_append(self, path: Path) -> int:
        self._paths.append(path)
        self.content.setdefault(path, bytearray())
        return len(self._paths) - 1

    def write(self, file: int, data: memoryview) -> int:
        fault = self._writes.get(self.written)
        self.written += 1
        content = self.content[self._paths[file]]
        if fault == "nothing":
            return 0
        if fault == "full" or self._full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = len(data) if fault is None else max(len(data) // 2, 1)
        self._full = fault == "torn"
        content += data[:taken]
        return taken

    def sync(self, file: int) -> None:
        number = self._flushed
        self._flushed += 1
        if number in self._syncs:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        path = self._paths[file]
        self.synced[path] = len(self.content[path])

    def close(self, file: int) -> None:
        if self._closes_badly:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
