"""Which batches are under way, on disk: a run that was cut short finds its batches again.

One small file in a folder stands for the batches of one plan: all requests of a suite to a target.
It is there from the moment before the first of them is asked for until every row of the run is:
whatever ends the run in between, the same run started again, or what a cache leaves of it, finds
them and pays for nothing twice. A batch is noted twice, before it is asked for and with its id: one
that was asked for and has no id may be there, and is looked for. A lock beside the file, which the
system lifts when a process dies, tells a run that was cut short from one that goes on. Once a run
has ended well the file is gone: the next one wants new answers.
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


class BatchPart(Record, frozen=True, kw_only=True):
    """One batch of a plan: to be made, perhaps made, or made and paid for."""

    key: str
    """No other batch has it."""
    requests: dict[str, str]
    """The custom id of each request, by the request's digest; in the batch's order."""
    asked: datetime | None = None
    """When the vendor was asked for it; UTC."""
    file: str | None = None
    """What was uploaded for it."""
    batch_id: str | None = None
    is_sure: bool = True
    """Whether the batch of that id can be no other."""
    rejected: tuple[str, ...] = ()
    """Batches that turned out to be others, or came to nothing."""


class LedgerEntry(Record, frozen=True, kw_only=True):
    """The batches of one plan."""

    endpoint: str
    """Scheme and host, for people who look into the file."""
    made: datetime
    """UTC."""
    parts: tuple[BatchPart, ...]

    @property
    def requests(self) -> set[str]:
        """Digests of all of them."""
        return {key for part in self.parts for key in part.requests}

    @property
    def is_asked(self) -> bool:
        """Whether any batch of it may be there."""
        return any(part.asked for part in self.parts)


class Claim:
    """One run's hold on one place in the ledger, until `release`."""

    def __init__(self, path: Path, lock: int, entry: LedgerEntry | None) -> None:
        self._path = path
        self._lock = lock
        self.entry = entry
        """What an earlier run left behind."""
        self.has_rival = False
        """Whether a run that goes on has batches with all these requests."""

    def keep(self, entry: LedgerEntry) -> None:
        """On disk, whole, when this returns.

        Raises:
            OSError: The disk does not take it.
        """
        self.entry = entry
        new = self._path.with_suffix(".new")
        with new.open("wb") as file:
            file.write(msgspec.json.encode(entry) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)
        _sync_folder(self._path.parent)

    def keep_part(self, part: BatchPart) -> None:
        """The same for the part with that key, in place of what was known of it."""
        if self.entry is None:
            raise ValueError("there is no entry with parts")
        parts = tuple(part if part.key == old.key else old for old in self.entry.parts)
        self.keep(msgspec.structs.replace(self.entry, parts=parts))

    def forget(self) -> None:
        """The batches are of no more use."""
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
    """The place of a plan that has all these requests and no living run; else an empty one.

    Args:
        folder: Made if it is not there.
        target: Says to whom they go; fit for a file name.
        requests: Digests.
        now: What is older than `KEPT` by then is swept away.

    Raises:
        OSError: The folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    has_rival = False
    for path in sorted(folder.glob(f"{target}-*.json")):
        place = _hold(path, now)
        if place and place.entry and place.entry.requests >= set(requests):
            return place
        if place:
            place.release()
        else:
            held = _read(path)
            has_rival |= held is not None and held.requests >= set(requests)
    for number in count(1):
        place = _hold(folder / f"{target}-{number}.json", now)
        if place and place.entry is None:
            place.has_rival = has_rival
            return place
        if place:
            place.release()
    raise AssertionError("there is always another place")


def known_batches(folder: Path) -> set[str]:
    """The ids of all batches that are noted down, whoever holds them."""
    entries = (_read(path) for path in folder.glob("*.json"))
    return {part.batch_id for e in entries if e for part in e.parts if part.batch_id}


def _hold(path: Path, now: datetime) -> Claim | None:
    """The place as it is; `None` while somebody else holds it."""
    lock = _locked(_lock_of(path))
    if lock is None:
        return None
    entry = _read(path)
    if entry is not None and now - entry.made.astimezone(UTC) >= KEPT:
        entry = None
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


def _read(path: Path) -> LedgerEntry | None:
    """What is there; a broken one is worth as much as none."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=LedgerEntry)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # some file systems cannot
            os.fsync(folder)
    finally:
        os.close(folder)
