"""Workers: how many trials are in flight at once, and over what."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from agentv.errors import RunAborted
from agentv.model.event import TrialStarted
from agentv.model.result import TrialResult
from agentv.model.trial import Trial
from agentv.runner.trial import Bench, run_trial

Job = tuple[Trial, Bench]


@dataclass(frozen=True, kw_only=True)
class Lane:
    """Jobs that share one budget of workers."""

    jobs: Iterator[Job]
    """Read one at a time as workers become free, so only what is in flight is held."""
    workers: int


async def run_lanes(lanes: Sequence[Lane], record: Callable[[TrialResult], None]) -> None:
    """Run every job of every lane; a finished row is recorded before its worker goes on.

    Raises:
        RunAborted: The run cannot go on; trials in flight were cancelled, finished rows stand.
    """
    try:
        async with asyncio.TaskGroup() as group:
            for lane in lanes:
                for _ in range(lane.workers):
                    group.create_task(_work(lane.jobs, record))
    except* RunAborted as aborted:
        raise _first(aborted) from None


async def _work(jobs: Iterator[Job], record: Callable[[TrialResult], None]) -> None:
    for trial, bench in jobs:
        bench.emit(TrialStarted(eval_id=trial.case.id, target=trial.target))
        record(await run_trial(trial, bench))
        # A provider that answers at once never yields by itself; progress and the journal must.
        await asyncio.sleep(0)


def _first(group: BaseExceptionGroup[RunAborted]) -> RunAborted:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error if isinstance(error, RunAborted) else RunAborted(str(error))
