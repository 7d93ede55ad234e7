"""One process writes a run at a time."""

import fcntl
import os
import socket
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from agentv.errors import SetupError
from agentv.model.base import Record


class _Owner(Record, frozen=True, kw_only=True):
    pid: int
    host: str
    since: str
    """UTC, ISO 8601."""


class RunLock:
    """Held while a run is written.

    The system lets go of it when its process ends, however that ends: a lock file that nobody
    holds is no lock. The file goes when its holder is done.

    Raises:
        SetupError: Another process holds it; the message says which.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = -1

    def __enter__(self) -> Self:
        while not self._lock():
            os.close(self._file)
        self._sign()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._file >= 0:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = -1

    def _lock(self) -> bool:
        """Open and lock it; whether it is the file that others will find, too."""
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise SetupError(f"{self._path} cannot be written: {error.strerror}.") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Its last holder may have removed it while we came.
            return os.path.samestat(self._path.stat(), os.fstat(self._file))
        except BlockingIOError as error:
            raise SetupError(self._taken()) from error
        except FileNotFoundError:
            return False
        except OSError:
            return True  # A file system without locks: better without one than not at all.

    def _sign(self) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        owner = _Owner(pid=os.getpid(), host=socket.gethostname(), since=now)
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, msgspec.json.encode(owner) + b"\n", 0)
        except OSError:
            return  # Who it is only matters to a message; a full disk shows itself soon enough.

    def _taken(self) -> str:
        try:
            owner = msgspec.json.decode(os.pread(self._file, 4096, 0), type=_Owner)
            who = f"process {owner.pid} on {owner.host}, since {owner.since}"
        except (OSError, msgspec.DecodeError):
            who = "another process"
        finally:
            os.close(self._file)
            self._file = -1
        return f"{self._path.parent} is being written by {who}; wait for it, or end it."
