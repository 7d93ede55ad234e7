"""Which batches are under way, on disk: a run that was cut short finds its batch again.

One small file in a folder stands for one batch and lists the requests in it. It is there from the
moment the batch is made until every row of the run is: whatever ends the run in between, the same
run started again, or what a cache leaves of it, finds the batch and pays for nothing twice. A lock
beside the file, which the system lifts when a process dies, tells a run that was cut short from one
that goes on. An answer goes to one run that ends well, and to none after it.
"""

import os
from collections.abc import Collection
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from fcntl import LOCK_EX, LOCK_NB, flock
from itertools import count
from pathlib import Path

import msgspec

from agentv.model.base import Record

KEPT = timedelta(hours=48)
"""Vendors finish or drop a batch within a day. Who starts a run again after another day wants new
answers; and at least one vendor has deleted the old ones by then."""


class BatchEntry(Record, frozen=True, kw_only=True):
    """A batch that was made and paid for."""

    batch_id: str
    endpoint: str
    """Scheme and host, for people who look into the file."""
    made: datetime
    """UTC."""
    requests: dict[str, str]
    """The custom id of each request whose answer no run has used up, by the request's digest."""


class Claim:
    """One run's hold on one place in the ledger, until `release`."""

    def __init__(self, path: Path, lock: int, entry: BatchEntry | None) -> None:
        self._path = path
        self._lock = lock
        self.entry = entry
        """The batch that an earlier run left behind."""

    def keep(self, entry: BatchEntry) -> None:
        """On disk, whole, when this returns.

        Raises:
            OSError: The disk does not take it.
        """
        new = self._path.with_suffix(".new")
        with new.open("wb") as file:
            file.write(msgspec.json.encode(entry) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)
        _sync_folder(self._path.parent)
        self.entry = entry

    def use_up(self, requests: Collection[str]) -> None:
        """The answers to these are in the rows of a run; what has none left is forgotten."""
        if self.entry is None:
            return
        left = {key: id_ for key, id_ in self.entry.requests.items() if key not in requests}
        if left:
            self.keep(msgspec.structs.replace(self.entry, requests=left))
        else:
            self.forget()

    def forget(self) -> None:
        """The batch is of no more use."""
        self._path.unlink(missing_ok=True)
        self.entry = None

    def release(self) -> None:
        """Let another run have the place; what is kept stays. May be called again."""
        if self._lock < 0:
            return
        if self.entry is None:
            _lock_of(self._path).unlink(missing_ok=True)
        os.close(self._lock)
        self._lock = -1


def claim(folder: Path, target: str, requests: Collection[str], now: datetime) -> Claim:
    """The place of a batch that has all these requests and no living run; else an empty one.

    Args:
        folder: Made if it is not there.
        target: Says to whom they go; fit for a file name.
        requests: Digests.
        now: What is older than `KEPT` by then is swept away.

    Raises:
        OSError: The folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.glob(f"{target}-*.json")):
        place = _hold(path, now)
        if place and place.entry and place.entry.requests.keys() >= set(requests):
            return place
        if place:
            place.release()
    for number in count(1):
        place = _hold(folder / f"{target}-{number}.json", now)
        if place and place.entry is None:
            return place
        if place:
            place.release()
    raise AssertionError("there is always another place")


def _hold(path: Path, now: datetime) -> Claim | None:
    """The place as it is; `None` while somebody else holds it."""
    lock = _locked(_lock_of(path))
    if lock is None:
        return None
    entry = _read(path, now)
    if entry is None:
        path.unlink(missing_ok=True)
    return Claim(path, lock, entry)


def _lock_of(path: Path) -> Path:
    return path.with_suffix(".lock")


def _locked(path: Path) -> int | None:
    """An open file that holds the lock; `None` while another process, or another claim, has it."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return None
        except OSError:
            os.close(file)
            raise
        # Its last holder may have removed it while we came: then the lock is on nothing.
        with suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(file).st_ino:
                return file
        os.close(file)


def _read(path: Path, now: datetime) -> BatchEntry | None:
    """What is there; a broken or an old one is worth as much as none."""
    try:
        entry = msgspec.json.decode(path.read_bytes(), type=BatchEntry)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None
    return entry if now - entry.made.astimezone(UTC) < KEPT else None


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # some file systems cannot
            os.fsync(folder)
    finally:
        os.close(folder)
