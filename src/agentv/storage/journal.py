"""The journal of a run: its rows, `results.jsonl`, and the steps of trials that have none yet.

Rows are the only source of truth. Steps are what a run that is cut short would lose otherwise.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from agentv.core.json_text import to_json
from agentv.core.redaction import Redactor
from agentv.errors import RunAborted
from agentv.model.result import TrialResult
from agentv.model.step import Asked, Step
from agentv.storage.append_file import AppendFile
from agentv.storage.disk import Disk, RealDisk

FLUSH_EVERY_SECONDS = 0.1
"""At most this often the disk is asked to hold everything appended since."""


class Journal:
    """Appends rows and steps; a row counts as done once `on_durable` has been called with it.

    A line is written at once, so it outlives the death of this process. It outlives the death
    of the machine as soon as it is flushed; that is done for many lines together and off the event
    loop, so that no worker waits for a disk. Leaving the context flushes what is left, whatever
    the reason.

    Args:
        path: Of the rows; created if it is not there.
        redactor: Every line passes through it.
        on_durable: Called on the event loop with rows in the order in which they were appended, as
            they stand in the file: without secrets.
        steps: Of the steps; they are not written down when `None`.
        disk: Takes the bytes.
    """

    def __init__(
        self,
        path: Path,
        redactor: Redactor,
        on_durable: Callable[[Sequence[TrialResult]], None],
        *,
        steps: Path | None = None,
        disk: Disk | None = None,
    ) -> None:
        self._paths = (path, steps)
        self._redactor = redactor
        self._on_durable = on_durable
        self._disk = disk or RealDisk()
        self._pending: list[TrialResult] = []
        self._appended = asyncio.Event()

    async def __aenter__(self) -> Self:
        rows, steps = self._paths
        self._rows = AppendFile(rows, self._disk)
        self._steps = AppendFile(steps, self._disk) if steps is not None else None
        self._files = [file for file in (self._rows, self._steps) if file is not None]
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")
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
        failure: BaseException | None = self._finish()
        [flushing] = await asyncio.gather(self._flusher, return_exceptions=True)
        failure = failure or flushing
        if error is None and isinstance(failure, Exception):
            raise failure

    def append(self, row: TrialResult) -> None:
        """Write one row; it is safe from a crash of this process when this returns.

        Raises:
            RunAborted: The disk refuses this row or refused an earlier line; nothing more is taken.
            ValueError: A score is not a finite number.
        """
        self._refuse_if_broken()
        _require_finite_scores(row)
        written = to_json(row)
        cleaned = self._redactor.json_bytes(written)
        self._rows.append(cleaned + b"\n")
        if cleaned is not written:
            row = msgspec.json.decode(cleaned, type=TrialResult)
        self._pending.append(row)
        self._appended.set()

    def note(self, step: Step) -> None:
        """Write one step; like a row, save that nobody is told of it.

        Raises:
            RunAborted: As for rows: what cannot be written down is not to be paid for.
        """
        if self._steps is None:
            return
        self._refuse_if_broken()
        written = to_json(step)
        if isinstance(step, Asked):
            # Ids, which no redactor touches. Should the machine die, the question is asked again
            # whether or not this is known.
            self._steps.append(written + b"\n", is_precious=False)
            return
        self._steps.append(self._redactor.json_bytes(written) + b"\n")
        self._appended.set()

    def _refuse_if_broken(self) -> None:
        for file in self._files:
            if file.broken is not None:
                raise RunAborted(str(file.broken))
        if self._flusher.done() and not self._flusher.cancelled():
            self._flusher.result()

    async def _flush_in_groups(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._appended.wait()
            self._appended.clear()
            covered = len(self._pending)
            await loop.run_in_executor(self._thread, self._sync)
            self._settle(covered)
            await asyncio.sleep(FLUSH_EVERY_SECONDS)

    def _sync(self) -> None:
        for file in self._files:
            file.sync()

    def _finish(self) -> RunAborted | None:
        self._thread.shutdown()
        try:
            self._sync()
        except RunAborted as failure:
            return failure
        finally:
            for file in self._files:
                file.close()
        self._settle(len(self._pending))
        return None

    def _settle(self, count: int) -> None:
        rows, self._pending = self._pending[:count], self._pending[count:]
        if rows:
            self._on_durable(rows)


def _require_finite_scores(row: TrialResult) -> None:
    scores = [row.score, *(result.score for result in row.evaluator_results)]
    if not all(score is None or math.isfinite(score) for score in scores):
        raise ValueError(f"a score of '{row.eval_id}' is not a finite number: {scores}")
