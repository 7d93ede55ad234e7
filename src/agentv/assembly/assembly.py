"""A run that can start: which suite goes to which target, by how many workers."""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain

import msgspec

from agentv.assembly.asking import Asking
from agentv.assembly.batching import Batches
from agentv.assembly.choosing import Scope
from agentv.assembly.options import (
    RunOptions,
)
from agentv.assembly.resuming import LeftToDo
from agentv.assembly.stations import Station, Stations
from agentv.assembly.trials import Part, cases_of, trials_of
from agentv.errors import SetupError
from agentv.model.prior import Prior
from agentv.model.request import ProviderRequest
from agentv.model.run import SuitePlan
from agentv.model.step import Step
from agentv.model.trial import Trial
from agentv.protocols import (
    Checkable,
    Closable,
    Preparable,
    Settling,
)
from agentv.runner.crews import Crew, Job
from agentv.runner.inputs import request_of
from agentv.storage.lines import Key


class Assembly(msgspec.Struct, kw_only=True):
    """A run that can start."""

    options: RunOptions
    parts: list[Part]
    suites: tuple[SuitePlan, ...]
    stations: Stations
    asking: Asking
    scope: Scope
    left: LeftToDo | None = None
    """What a run that goes on has still to do; everything when `None`."""
    run: str = ""
    """Tells the run from all others, also when it goes on."""
    asks_anew: bool = False
    """Whether it asks what another run has asked before."""
    note: Callable[[Step], None] = lambda _step: None
    """Writes the steps of trials down."""
    _batches: Batches | None = None

    @property
    def planned(self) -> int:
        """Rows that a complete run has."""
        return sum(part.planned for part in self.parts)

    @property
    def keys(self) -> Iterator[Key]:
        """Of every trial that is planned."""
        for part in self.parts:
            suite, name = part.loaded.suite.shown, part.station.name
            yield from ((suite, case.id, name, 1) for case in cases_of(part))

    @property
    def secrets(self) -> dict[str, str]:
        """What must never be shown, by the name of its variable or key.

        Two projects may mean two values by one name: both are kept.
        """
        found: dict[str, str] = {}
        for station in self.stations.all():
            for name, value in station.secrets.items():
                label = name if found.get(name, value) == value else f"{name} of {station.name}"
                found[label] = value
        return found

    def crews(self) -> list[Crew]:
        """One crew over everything with `--workers`, else one for each target."""
        if self.options.workers is not None:
            return [self._crew(self.parts, self.options.workers)]
        by_station: dict[int, list[Part]] = {}
        for part in self.parts:
            by_station.setdefault(id(part.station), []).append(part)
        return [self._crew(own, own[0].station.workers) for own in by_station.values()]

    async def check(self) -> None:
        """See whether this machine has what the targets need.

        Raises:
            SetupError: It does not; the message names everything that is missing.
        """
        missing = []
        for station in self.stations.all():
            if isinstance(station.provider, Checkable):
                try:
                    await station.provider.check()
                except SetupError as error:
                    missing.append(f"Target '{station.name}': {str(error).removesuffix('.')}.")
        if missing:
            raise SetupError("\n".join(missing))

    async def prepare(self) -> None:
        """Probe every target that is to be called, then dispatch the batches asked for.

        Raises:
            RunAborted: A health check failed.
        """
        for station in self.stations.all():
            if isinstance(station.provider, Settling):
                station.provider.begin(self.run, self._again(station), alone=self.asks_anew)
        if self.options.dry_run or (self.left is not None and self.left.is_empty):
            return
        for station in self.stations.all():
            is_called = self.left is None or self.left.callees.has(station)
            if is_called and isinstance(station.provider, Preparable):
                await station.provider.prepare()
        batches = self._batches = Batches(asking=self.asking, note=self.note)
        # All at once: a vendor may take a day for a batch.
        try:
            async with asyncio.TaskGroup() as group:
                for part in self.parts:
                    if part.station.batching:
                        group.create_task(batches.send(part, partial(self._to_be_asked, part)))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None

    def settle(self) -> None:
        """The crews are done: what was kept for starting the run again is of no more use.

        Unless the budget stopped it: then some trials have no rows.
        """
        if self.asking.budget is not None and self.asking.budget.has_stopped:
            return
        for station in self.stations.all():
            if isinstance(station.provider, Settling):
                station.provider.settle(self._planned(station))

    async def aclose(self) -> None:
        """Close what the providers hold."""
        for station in self.stations.all():
            if isinstance(station.provider, Closable):
                await station.provider.aclose()

    def _to_be_asked(self, part: Part) -> Iterator[Trial]:
        trials = self._trials(part)
        return (trial for trial, prior in trials if prior is None and not trial.problem)

    def _planned(self, station: Station) -> Iterator[ProviderRequest]:
        """What a target is asked in the whole run."""
        for part in self.parts:
            if part.station is station:
                yield from (request_of(trial) for trial in trials_of(part) if not trial.problem)

    def _again(self, station: Station) -> Iterator[ProviderRequest]:
        """What a target is asked although it had an outcome before."""
        for part in self.parts:
            if self.left is not None and self.left.asks_again and part.station is station:
                trials = self._to_be_asked(part)
                yield from (request_of(trial) for trial in trials if self.left.is_again(trial))

    def _crew(self, parts: list[Part], workers: int) -> Crew:
        planned = sum(part.planned for part in parts)
        jobs = chain.from_iterable(map(self._jobs, parts))
        return Crew(jobs=self.asking.within_budget(jobs), workers=min(workers, planned))

    def _jobs(self, part: Part) -> Iterator[Job]:
        batches = self._batches or Batches(asking=self.asking, note=self.note)
        bench = batches.bench_of(part)
        for trial, prior in self._trials(part):
            yield trial, bench, prior
            # Like an answer that is given now, it is paid once there has been money for it.
            if prior is not None and self.left is not None:
                self.left.pay(trial.target, prior)

    def _trials(self, part: Part) -> Iterator[tuple[Trial, Prior | None]]:
        if self.left is None:
            return ((trial, None) for trial in trials_of(part))
        # Reading the cases of a large suite once more takes a while.
        return iter(()) if self.left.is_empty else self.left.of(trials_of(part))
