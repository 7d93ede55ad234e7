"""The lock of a worker: who uses it, since when, and whether that somebody still lives.

The npm tool's lock is an empty file: it is somebody's, and nobody can say whose. Ours is there with
its owner in it from its first moment, so a process that is killed leaves a lock that says so.
"""

import os
import socket
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import Literal

import msgspec

from agentv.model.base import Record

ABANDONED_SECONDS = 3600
"""A lock whose owner cannot be asked (another program, another machine) counts as left behind when
nobody has touched it for so long."""

_CLOCK_SLACK_SECONDS = 2


class Owner(Record, frozen=True, kw_only=True):
    """What a lock of ours says."""

    owner: Literal["agentv"] = "agentv"
    pid: int
    host: str
    started: float
    """When the process began, in seconds since 1970: process numbers are used again."""
    token: str
    """Tells the claims of one process apart."""
    claimed: str
    """UTC, ISO 8601."""

    @property
    def is_this_process(self) -> bool:
        """Whether the lock is our own."""
        here = self.pid == os.getpid() and self.host == socket.gethostname()
        return here and self.started == _start_of(self.pid)

    def words(self) -> str:
        """For a message."""
        here = self.host == socket.gethostname()
        return f"process {self.pid}" + ("" if here else f" on {self.host}")


class LockState(Record, frozen=True, kw_only=True):
    """A lock file as it is found."""

    owner: Owner | None
    """`None` for another program's."""
    age_seconds: float
    """Since it was last touched."""
    is_stale: bool

    def words(self) -> str:
        """Who holds it, for a message."""
        return self.owner.words() if self.owner else "another program"


class Lock(msgspec.Struct, frozen=True):
    """A lock that is ours."""

    path: Path
    token: str

    def touch(self) -> None:
        """Tell other machines that we are still there."""
        if self._is_ours():
            with suppress(OSError):
                os.utime(self.path)

    def release(self) -> None:
        """Give the worker back, unless somebody has taken it from us."""
        if self._is_ours():
            with suppress(OSError):
                self.path.unlink()

    def _is_ours(self) -> bool:
        owner = _read(self.path)
        return owner is not None and owner.token == self.token


def try_lock(path: Path) -> Lock | None:
    """Make the lock, with its owner in it, in one step; `None` if there is one already."""
    owner = Owner(
        pid=os.getpid(),
        host=socket.gethostname(),
        started=_start_of(os.getpid()),
        token=token_hex(8),
        claimed=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    draft = path.with_name(f".{path.name}.{owner.token}")
    try:
        draft.write_bytes(msgspec.json.encode(owner))
        # Like O_CREAT | O_EXCL, but it is never there without its content.
        os.link(draft, path)
    except FileExistsError:
        return None
    finally:
        draft.unlink(missing_ok=True)
    return Lock(path, owner.token)


def lock_state(path: Path, now: float) -> LockState | None:
    """Who holds a lock; `None` if nobody does.

    Args:
        path: The lock file.
        now: Seconds since 1970.
    """
    try:
        age = max(0.0, now - path.stat().st_mtime)
    except OSError:
        return None
    owner = _read(path)
    return LockState(owner=owner, age_seconds=age, is_stale=_is_stale(owner, age))


def _is_stale(owner: Owner | None, age: float) -> bool:
    if owner is None or owner.host != socket.gethostname():
        return age > ABANDONED_SECONDS
    return not _lives(owner)


def _read(path: Path) -> Owner | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Owner)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


@cache
def _start_of(pid: int) -> float:
    import psutil

    return psutil.Process(pid).create_time()


def _lives(owner: Owner) -> bool:
    import psutil

    try:
        process = psutil.Process(owner.pid)
        is_same = abs(process.create_time() - owner.started) <= _CLOCK_SLACK_SECONDS
        return is_same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:  # There is one, and nothing says that it is another.
        return True
