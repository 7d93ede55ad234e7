"""The batches of one plan: from their place in the ledger to their answers."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime

import msgspec

from agentv.errors import ProviderError, ReplayMiss, RunAborted
from agentv.providers.apis.batch_api import BatchFailed
from agentv.providers.apis.batch_entry import BatchPart, LedgerEntry
from agentv.providers.apis.batch_hold import BatchHold
from agentv.providers.apis.batch_making import BatchMaker
from agentv.providers.apis.batch_plan import BatchPlan, Outcome
from agentv.providers.apis.batch_reading import Answers, sort_out
from agentv.providers.apis.batch_telling import Teller
from agentv.providers.apis.batch_watching import BatchGone, BatchWatcher
from agentv.providers.apis.options import ApiOptions
from agentv.providers.apis.wire import Wire


class BatchJob:
    """Makes the batches or takes them up, waits for all of them at once, and reads the answers.

    Args:
        wire: Reads an answer.
        options: Of the target.
        plan: What is asked, all of it at that place.
        run: Who asks.
        hold: On their place in the ledger.
        maker: Makes a batch, or finds one that was made.
        watcher: Waits for one.
        tell: Takes what people should see.
    """

    def __init__(
        self,
        wire: Wire,
        options: ApiOptions,
        plan: BatchPlan,
        run: str,
        hold: BatchHold,
        maker: BatchMaker,
        watcher: BatchWatcher,
        tell: Teller,
    ) -> None:
        self._wire = wire
        self._options = options
        self._plan = plan
        self._run = run
        self._hold = hold
        self._place = hold.place
        self._maker = maker
        self._watcher = watcher
        self._tell = tell
        self._making = asyncio.Lock()  # What is sent is in memory while a batch is made.
        self._parts: list[BatchPart] = []
        self._refusals: list[tuple[BatchPart, Exception]] = []

    @property
    def size(self) -> int:
        """How many requests it is for."""
        return len(self._plan.digests)

    def begin(self) -> None:
        """Note down what is to be asked, or take up what an interrupted run left behind.

        Raises:
            OSError: It cannot be noted down.
        """
        self._parts = self._noted_parts()

    async def answers(self) -> dict[str, Outcome]:
        """What came of each request, by its digest; those without an answer are missing.

        Call `begin` first.

        Raises:
            ProviderError, OSError: There is no batch at all.
            RunAborted: The answers cannot be had now.
        """
        parts = self._parts
        found: dict[str, Outcome] = {}
        limit = self._options.batch_timeout_seconds
        try:
            async with asyncio.timeout(limit), asyncio.TaskGroup() as group:
                for part in parts:
                    group.create_task(self._read(part, found))
        except TimeoutError as error:
            raise self._aborted(f"no end of the batch within {limit:g} s") from error
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        if len(self._refusals) == len(parts):
            if self._place.entry is not None and not self._place.entry.is_asked:
                self._place.forget()
            raise self._refusals[0][1]
        for part, refusal in self._refusals:
            number = len(part.requests)
            self._tell.warning(f"no batch of {number} requests ({refusal}): they are sent singly")
        return found

    def _noted_parts(self) -> list[BatchPart]:
        entry = self._place.entry
        if entry is None:
            parts = self._plan.parts()
            endpoint = self._wire.endpoint
            entry = LedgerEntry(
                endpoint=endpoint, made=_now(), parts=tuple(parts), runs=(self._run,)
            )
            self._place.keep(entry)
            return parts
        wanted = set(self._plan.digests)
        parts = [part for part in entry.parts if wanted & part.requests.keys()]
        for part in parts:
            if part.batch_id is not None:
                made = f"{entry.made:%Y-%m-%d %H:%M} UTC"
                words = f"batch {part.batch_id} of an interrupted run ({made}) is taken up"
                own, total = len(wanted & part.requests.keys()), len(part.requests)
                self._tell.news(words if own == total else f"{words}: {own} of {total} answers")
        return parts

    async def _read(self, part: BatchPart, found: dict[str, Outcome]) -> None:
        """Put what came of one batch to the rest; nothing where there is no batch.

        Raises:
            RunAborted: There is one, and the service does not tell what came of it.
        """
        answers = None
        while answers is None:
            was_there = part.asked is not None
            try:
                async with self._making:
                    part = await self._maker.made(part)
                answers = await self._answers_of(part)
            except (ProviderError, OSError) as error:
                part = self._without_batch(part, is_asked=False)
                if not was_there or not isinstance(error, BatchFailed | BatchGone):
                    self._refusals.append((part, error))
                    return
                self._tell.news(f"{error}: it is of no use any more")
            else:
                if answers is None:
                    self._tell.news(f"batch {part.batch_id} is not the one that was looked for")
                    part = self._without_batch(part, is_asked=True)
        for key, custom_id in self._plan.left_of(part).requests.items():
            found[key] = answers.outcome(custom_id, self._wire, self._options)

    async def _answers_of(self, part: BatchPart) -> Answers | None:
        """Wait for a batch; `None` if its results show that it is another one."""
        batch_id = part.batch_id or ""
        try:
            results = await self._watcher.results(batch_id, len(part.requests))
        except (BatchFailed, BatchGone, ReplayMiss):
            raise
        except ProviderError as error:
            raise self._aborted(str(error)) from error
        answers = sort_out(results, part.requests.values())
        if not part.is_sure and not answers.by_custom_id:
            return None
        self._tell.answered(batch_id, answers)
        return answers

    def _without_batch(self, part: BatchPart, *, is_asked: bool) -> BatchPart:
        """Noted down: the part as if it had no batch, or as if nobody had asked for one."""
        rejected = (*part.rejected, part.batch_id) if part.batch_id else part.rejected
        part = msgspec.structs.replace(part, batch_id=None, is_sure=True, rejected=rejected)
        if not is_asked:
            part = msgspec.structs.replace(part, asked=None, file=None)
        with suppress(OSError):  # the old note leads to a batch that is not there: that is harmless
            self._place.keep_part(part)
        return part

    def _aborted(self, reason: str) -> RunAborted:
        return RunAborted(f"{reason}; {self._hold.told()}")


def _now() -> datetime:
    return datetime.now(UTC)
