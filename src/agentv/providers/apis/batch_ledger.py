"""Which batches are under way, on disk: a run that was cut short finds its batches again.

One small file in a folder stands for the batches of one plan: requests of a suite to a target. It
is there from the moment before the first of them is asked for until every row of the run is:
whatever ends the run in between, the run when it goes on, the same command started again, or what a
cache leaves of it, finds them and pays for nothing twice. A batch is noted twice, before it is
asked for and with its id: one that was asked for and has no id may be there, and is looked for. A
lock beside the file, which the system lifts when a process dies, tells a run that was cut short
from one that goes on. Once a run has ended well the file is gone: the next one wants new answers.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from fcntl import LOCK_EX, LOCK_NB, flock
from itertools import count
from pathlib import Path

import msgspec

from agentv.providers.apis.batch_entry import BatchPart, LedgerEntry

KEPT = timedelta(hours=48)
"""Vendors finish or drop a batch within a day. Who starts a run again after another day wants new
answers; and at least one vendor has deleted the old ones by then."""


class Claim:
    """One run's hold on one place in the ledger, until `release`."""

    def __init__(self, path: Path, lock: int, entry: LedgerEntry | None) -> None:
        self._path = path
        self._lock = lock
        self.entry = entry
        """What an earlier run left behind, or this one has noted."""

    def belongs_to(self, target: str) -> bool:
        """Whether it is a place for batches of this target."""
        return self._path.name.startswith(f"{target}-")

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

    def leave(self, left: LedgerEntry | None) -> None:
        """Keep what is left of an entry; forget it when that is nothing."""
        if left is None:
            self.forget()
        else:
            self.keep(left)

    def release(self) -> None:
        """Let another run have the place; what is kept stays. May be called again."""
        if self._lock < 0:
            return
        if self.entry is None:
            _lock_of(self._path).unlink(missing_ok=True)
        os.close(self._lock)
        self._lock = -1


class Ledger:
    """A folder of places.

    Args:
        folder: Made when something is to be noted.
        now: What is older than `KEPT` by then is swept away.
        warn: Told of files that cannot be read; they are left where they are.
    """

    def __init__(self, folder: Path, now: datetime, warn: Callable[[str], None]) -> None:
        self.folder = folder
        self._now = now
        self._warn = warn

    def left_behind(self) -> Iterator[Claim]:
        """Every place with batches and no living run, held; whoever takes one lets it go."""
        self._sweep()
        for path in self._files():
            lock = _locked(_lock_of(path))
            if lock is None:
                continue
            place = Claim(path, lock, self._read(path))
            if place.entry is None:
                self._release_unread(place, path)
            elif self._is_stale(place.entry):
                place.forget()
                place.release()
            else:
                yield place

    def empty(self, target: str) -> Claim:
        """A place where nothing is noted.

        Args:
            target: Says to whom the requests go; fit for a file name.

        Raises:
            OSError: The folder cannot be written.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        for number in count(1):
            path = self.folder / f"{target}-{number}.json"
            lock = _locked(_lock_of(path))
            if lock is None:
                continue
            if not path.exists():
                return Claim(path, lock, None)
            os.close(lock)
        raise AssertionError("there is always another place")

    def entries(self, target: str = "") -> Iterator[LedgerEntry]:
        """All that is noted, whoever holds it.

        Args:
            target: As for `empty`; everybody's batches when it is not given.
        """
        for path in self._files(target):
            with suppress(OSError, msgspec.MsgspecError):
                yield msgspec.json.decode(path.read_bytes(), type=LedgerEntry)

    def known_batches(self) -> set[str]:
        """The ids of all batches that are noted down, whoever holds them."""
        return {part.batch_id for e in self.entries() for part in e.parts if part.batch_id}

    def _files(self, target: str = "") -> list[Path]:
        return sorted(self.folder.glob(f"{target}*.json"))

    def _sweep(self) -> None:
        """Remove the locks of runs that were killed between their last step and their end."""
        for path in self.folder.glob("*.lock"):
            with suppress(OSError):
                if not path.with_suffix(".json").exists() and (lock := _locked(path)) is not None:
                    path.unlink()
                    os.close(lock)

    def _is_stale(self, entry: LedgerEntry) -> bool:
        return not entry.is_asked or self._now - entry.made.astimezone(UTC) >= KEPT

    def _read(self, path: Path) -> LedgerEntry | None:
        try:
            return msgspec.json.decode(path.read_bytes(), type=LedgerEntry)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError) as error:
            # It may stand for a batch that is under way: for a person to find out.
            reason = error.strerror if isinstance(error, OSError) else error
            self._warn(
                f"{path} cannot be read ({reason}): if a batch is noted there, "
                "it is not found again, and is paid for in vain"
            )
            return None

    def _release_unread(self, place: Claim, path: Path) -> None:
        with suppress(FileNotFoundError):
            written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            if self._now - written >= KEPT:
                path.unlink()
        place.release()


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


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # some file systems cannot
            os.fsync(folder)
    finally:
        os.close(folder)
