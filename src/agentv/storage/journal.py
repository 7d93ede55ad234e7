"""The journal, `results.jsonl`: one finished trial per line, and the only source of truth."""

import asyncio
import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from io import BufferedReader
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, overload

import msgspec

from agentv.core.json_text import to_json
from agentv.core.redaction import Redactor
from agentv.errors import RunAborted, SetupError
from agentv.model.result import TrialResult
from agentv.model.row_view import RowView
from agentv.storage.durable import sync_folder

FLUSH_EVERY_SECONDS = 0.02
"""At most this often the disk is asked to hold everything appended since."""

# macOS has no `fdatasync`.
_sync_to_disk: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)

T = TypeVar("T")


class Journal:
    """Appends rows; a row counts as done once `on_durable` has been called with it.

    The line is written at once, so it outlives the death of this process. It outlives the death
    of the machine as soon as it is flushed; that is done for many rows together and off the event
    loop, so that no worker waits for a disk. Leaving the context flushes what is left, whatever
    the reason.

    Args:
        path: Created if it is not there.
        redactor: Every line passes through it.
        on_durable: Called on the event loop with rows in the order in which they were appended, as
            they stand in the file: without secrets.
    """

    def __init__(
        self,
        path: Path,
        redactor: Redactor,
        on_durable: Callable[[Sequence[TrialResult]], None],
    ) -> None:
        self._path = path
        self._redactor = redactor
        self._on_durable = on_durable
        self._pending: list[TrialResult] = []
        self._appended = asyncio.Event()
        self._file = -1
        self._broken: RunAborted | None = None

    async def __aenter__(self) -> Self:
        self._file = _open(self._path)
        self._disk = ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._flusher = asyncio.create_task(self._flush_in_groups())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._flusher.cancel()
        # Without an `await`, so a second Ctrl-C cannot come between the rows and the disk.
        self._finish()
        [failure] = await asyncio.gather(self._flusher, return_exceptions=True)
        failure = self._broken or failure
        if error is None and isinstance(failure, Exception):
            raise failure

    def append(self, row: TrialResult) -> None:
        """Write one row; it is safe from a crash of this process when this returns.

        Raises:
            RunAborted: The disk refuses this row or refused an earlier one; nothing more is taken.
            ValueError: A score is not a finite number.
        """
        self._refuse_if_closed()
        _require_finite_scores(row)
        written = to_json(row)
        cleaned = self._redactor.json_bytes(written)
        try:
            _write_whole(self._file, cleaned + b"\n")
        except OSError as error:
            raise self._give_up(error) from error
        if cleaned is not written:
            row = msgspec.json.decode(cleaned, type=TrialResult)
        self._pending.append(row)
        self._appended.set()

    def _refuse_if_closed(self) -> None:
        if self._broken is not None:
            raise RunAborted(str(self._broken))
        if self._file < 0:
            raise RunAborted(f"{self._path} is closed, so no row can be added.")
        if self._flusher.done():
            self._flusher.result()

    async def _flush_in_groups(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._appended.wait()
            self._appended.clear()
            covered = len(self._pending)
            try:
                await loop.run_in_executor(self._disk, _sync_to_disk, self._file)
            except OSError as error:
                raise self._give_up(error) from error
            self._settle(covered)
            await asyncio.sleep(FLUSH_EVERY_SECONDS)

    def _finish(self) -> None:
        self._disk.shutdown()
        file, self._file = self._file, -1
        try:
            # After a failed flush the next one may succeed although the data is lost.
            if self._pending and self._broken is None:
                _sync_to_disk(file)
        except OSError as error:
            self._give_up(error)
        finally:
            os.close(file)
        if self._broken is None:
            self._settle(len(self._pending))

    def _settle(self, count: int) -> None:
        rows, self._pending = self._pending[:count], self._pending[count:]
        if rows:
            self._on_durable(rows)

    def _give_up(self, error: OSError) -> RunAborted:
        self._broken = RunAborted(
            f"{self._path} cannot be written: {error.strerror}. "
            "Rows that are already in it are kept."
        )
        return self._broken


class Rows(Generic[T]):
    """The rows of a journal; each iteration reads the file anew, a line at a time."""

    torn: bool = False
    """Whether the last line was cut off in the middle; it is set aside, and known at the end."""

    def __init__(self, path: Path, type_: type[T]) -> None:
        self._path = path
        self._decoder = msgspec.json.Decoder(type_)

    def __iter__(self) -> Iterator[T]:
        self.torn = False
        with _open_to_read(self._path) as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    self.torn = True
                    return
                try:
                    row = self._decoder.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    misfit = isinstance(error, msgspec.ValidationError)
                    if misfit or file.peek(1):
                        raise self._mistake(number, error) from error
                    self.torn = True
                    return
                yield row

    def _mistake(self, number: int, error: Exception) -> SetupError:
        return SetupError(
            f"{self._path}:{number}: this line is not a result row ({error}). Something other "
            "than AgentV changed the file; restore it, or take the line out to go on without it."
        )


@overload
def open_rows(path: Path) -> Rows[RowView]: ...
@overload
def open_rows(path: Path, type_: type[T]) -> Rows[T]: ...
def open_rows(path: Path, type_: type[Any] = RowView) -> Rows[Any]:
    """Read a journal in constant memory.

    Args:
        path: The journal.
        type_: What a line becomes: a slim `RowView`, a whole `TrialResult`, a plain `dict`.

    Raises:
        SetupError: While iterating: the file cannot be read, or a line is not a row.
    """
    return Rows(path, type_)


def _open(path: Path) -> int:
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        sync_folder(path.parent)
    except OSError as error:
        raise SetupError(f"{path} cannot be written: {error.strerror}.") from error
    return file


def _open_to_read(path: Path) -> BufferedReader:
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        raise SetupError(f"{path} does not exist, so there are no rows to read.") from error
    except OSError as error:
        raise SetupError(f"{path} cannot be read: {error.strerror}.") from error


def _write_whole(file: int, line: bytes) -> None:
    """Nearly always one call: the system takes less only when a disk or a quota is about full."""
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(file, rest) :]


def _require_finite_scores(row: TrialResult) -> None:
    scores = [row.score, *(result.score for result in row.evaluator_results)]
    if not all(score is None or math.isfinite(score) for score in scores):
        raise ValueError(f"a score of '{row.eval_id}' is not a finite number: {scores}")
