"""Crews of workers: how many trials are under way at once, and over what."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

from agentv.errors import RunAborted
from agentv.model.base import Record
from agentv.model.event import TrialStarted
from agentv.model.prior import Prior
from agentv.model.result import TrialResult
from agentv.model.trial import Trial
from agentv.runner.trial import Bench, run_trial
from agentv.transport.places import Places, hold_in

Job = tuple[Trial, Bench, Prior | None]

_HANDS_A_PLACE = 2
"""A worker whose service asks it to wait lends its place to another one."""


class Crew(Record, frozen=True, kw_only=True):
    """Workers who share the jobs of one target, or of all of them."""

    jobs: Iterator[Job]
    """Read one at a time as workers become free, so only what is in flight is held."""
    workers: int


async def run_crews(crews: Sequence[Crew], record: Callable[[TrialResult], None]) -> None:
    """Run every job of every crew; a finished row is recorded before its worker goes on.

    Raises:
        RunAborted: The run cannot go on; trials in flight were cancelled, finished rows stand.
    """
    try:
        async with asyncio.TaskGroup() as group:
            for crew in crews:
                places = Places(crew.workers)
                for _ in range(crew.workers * _HANDS_A_PLACE):
                    group.create_task(_work(crew.jobs, places, record))
    except BaseExceptionGroup as failures:
        # Not `except*`: what is raised there comes out wrapped on some versions of Python 3.11.
        aborted = failures.subgroup(RunAborted)
        if aborted is None:
            raise
        raise _first(aborted) from None


async def _work(jobs: Iterator[Job], places: Places, record: Callable[[TrialResult], None]) -> None:
    hold_in(places)
    await places.take()
    for trial, bench, prior in jobs:
        bench.emit(TrialStarted(eval_id=trial.case.id, target=trial.target))
        record(await run_trial(trial, bench, prior))
        # A provider that answers at once never yields by itself; progress and the journal must.
        await asyncio.sleep(0)
        await places.offer()
    places.leave()  # not after an error: that ends the run, and nothing new must begin


def _first(group: BaseExceptionGroup[RunAborted]) -> RunAborted:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error if isinstance(error, RunAborted) else RunAborted(str(error))
