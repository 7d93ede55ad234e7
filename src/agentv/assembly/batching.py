"""The batches of a run: sent before its first trial, their answers written down at once."""

import asyncio
from collections.abc import Callable, Iterator

import msgspec

from agentv.assembly.asking import Asking
from agentv.assembly.trials import Part
from agentv.model.event import Notice
from agentv.model.step import Answered, Asked, Step, StepKey, step_key
from agentv.model.trial import Trial
from agentv.protocols import BatchProvider
from agentv.runner.batch import BatchedProvider, dispatch_batch
from agentv.runner.inputs import request_of
from agentv.runner.trial import Bench

_NOTED_AT_ONCE = 100
"""Answers, before anything else gets a turn."""


class Batches(msgspec.Struct, kw_only=True):
    """What batches answered, by the part of the run that they were for."""

    asking: Asking
    note: Callable[[Step], None]
    """Writes the steps of trials down."""
    _benches: dict[int, Bench] = {}

    async def send(self, part: Part, trials: Callable[[], Iterator[Trial]]) -> None:
        """Wait for the batch of a part; each answer is on disk when this returns.

        Args:
            part: Whose station is asked.
            trials: Those that are to be asked; gone through twice, so that none need be held.

        Raises:
            RunAborted: There is a batch, and its answers cannot be had now.
        """
        station, bench, budget = part.station, part.bench, self.asking.budget
        if budget is not None and budget.is_reached:
            return  # no trial will begin
        # A batch is one call: its requests are all held until it is answered.
        requests = self.asking.unanswered(station, [request_of(trial) for trial in trials()])
        if not requests:
            return
        if budget is not None and isinstance(station.provider, BatchProvider):
            whole = f"the batch for target '{station.name}' is sent whole, whatever the budget"
            bench.emit(Notice(level="warning", message=whole))
        batched = await dispatch_batch(station.name, station.provider, requests, bench.emit)
        del requests
        noted = set()
        if isinstance(batched, BatchedProvider) and station.costs:
            noted = await self._write_down(trials(), batched)
        self._benches[id(part)] = msgspec.structs.replace(
            bench, provider=self.asking.provider(station, batched), note=self._others_than(noted)
        )

    def bench_of(self, part: Part) -> Bench:
        """Where the trials of a part are run."""
        own = self._benches.get(id(part))
        return msgspec.structs.replace(part.bench, note=self.note) if own is None else own

    async def _write_down(
        self, trials: Iterator[Trial], batched: BatchedProvider
    ) -> set[tuple[object, ...]]:
        """Note every answer, since it may be long before a worker comes to it."""
        noted = set()
        for trial in trials:
            response = batched.answer_to(request_of(trial))
            # A blank one is an error of its case, as it would be singly.
            if response is None or response.dry_run or not response.text.strip():
                continue
            key = step_key(trial)
            self.note(
                Answered(**key, digest=trial.digest, attempts=1, duration_ms=0.0, response=response)
            )
            noted.add(_identity(key))
            if len(noted) % _NOTED_AT_ONCE == 0:
                await asyncio.sleep(0)
        return noted

    def _others_than(self, noted: set[tuple[object, ...]]) -> Callable[[Step], None]:
        """Notes steps, save that these trials were asked and have answered."""

        def note(step: Step) -> None:
            key = step.suite, step.eval_id, step.target, step.trial
            if not (isinstance(step, Asked | Answered) and key in noted):
                self.note(step)

        return note


def _identity(key: StepKey) -> tuple[object, ...]:
    return key["suite"], key["eval_id"], key["target"], key["trial"]
