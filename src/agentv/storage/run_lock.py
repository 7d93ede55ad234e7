"""One process writes a run at a time."""

import fcntl
import os
import socket
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from agentv.errors import SetupError
from agentv.model.base import Record

_LOOKS = 12
_LOOK_SECONDS = 0.01
"""How often and how far apart the lock is tried again before it counts as taken."""


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
            _take(self._file)
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
        who = _owner(self._file)
        os.close(self._file)
        self._file = -1
        return f"{self._path.parent} is being written by {who}; wait for it, or end it."


def writer_of(path: Path) -> str | None:
    """Who holds a run's lock, in words; `None` when nobody does, or when it cannot be known."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _owner(file)
    except OSError:
        return None
    finally:
        os.close(file)
    return None


def _take(file: int) -> None:
    """Take the lock, past those who only look who has it: they hold it for less than a moment."""
    for _ in range(_LOOKS):
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(_LOOK_SECONDS)
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _owner(file: int) -> str:
    try:
        owner = msgspec.json.decode(os.pread(file, 4096, 0), type=_Owner)
    except (OSError, msgspec.DecodeError):
        return "another process"
    return f"process {owner.pid} on {owner.host}, since {owner.since}"
