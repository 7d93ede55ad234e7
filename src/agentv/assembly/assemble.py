"""Put a run together: which suite goes to which target, by how many workers."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TypeVar

import msgspec

from agentv.assembly.asking import Asking, asking_of
from agentv.assembly.batching import Batches
from agentv.assembly.choosing import Scope
from agentv.assembly.lots import Lot, planned_lots
from agentv.assembly.options import (
    DEFAULT_MIN_PASS_RATE,
    DEFAULT_THRESHOLD,
    CustomTarget,
    RunOptions,
    Surroundings,
    first,
)
from agentv.assembly.resuming import LeftToDo
from agentv.assembly.stations import Station, Stations
from agentv.assembly.trials import Part, cases_of, trials_of
from agentv.core.digest import evaluator_digest, verdict_digest
from agentv.errors import SetupError
from agentv.loading.suites import LoadedSuite
from agentv.loading.workspace import Workspace
from agentv.model.event import Notice
from agentv.model.options import EvaluatorOptions
from agentv.model.prior import Prior
from agentv.model.request import ProviderRequest
from agentv.model.run import SuitePlan
from agentv.model.step import Step
from agentv.model.trial import Trial
from agentv.protocols import (
    Checkable,
    Closable,
    Evaluator,
    EvaluatorBuild,
    Preparable,
    Provider,
    Settling,
)
from agentv.registry import Registry
from agentv.runner.attempts import RetryingProvider
from agentv.runner.attributing import attribute
from agentv.runner.crews import Crew, Job
from agentv.runner.inputs import request_of
from agentv.runner.trial import Bench
from agentv.storage.lines import Key

_CACHED_EVALUATORS = 256


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


def assemble(
    workspace: Workspace,
    options: RunOptions,
    around: Surroundings,
    custom: CustomTarget | None = None,
    scope: Scope | None = None,
) -> Assembly:
    """Build everything that a run of these suites needs.

    Args:
        workspace: Loaded without errors.
        options: What the run is told.
        around: The world as the run sees it.
        custom: A program's own target, in place of those the suites name.
        scope: What of it is run; everything when `None`.
    """
    scope = scope or Scope()
    stations = Stations(workspace, options, around, custom, scope.answered)
    if custom is not None and around.cache is not None:
        message = (
            f"the answers of '{custom.name}' are not kept: a change in its code cannot be seen"
        )
        around.emit(Notice(level="warning", message=message))
    if custom is not None and around.cassette is not None:
        message = f"'{custom.name}' is code: it is not recorded, and a replay calls it as well"
        around.emit(Notice(level="warning", message=message))
    asking = asking_of(options, around)
    lots = planned_lots(workspace, custom, options.shard, scope.chosen)
    parts: list[Part] = []
    suites: list[SuitePlan] = []
    for loaded in workspace.suites:
        own = [lot for lot in lots if lot.loaded is loaded]
        suite = _suite_plan(loaded, options, own)
        suites.append(suite)
        for name in loaded.judges if not options.dry_run else ():
            stations.of(loaded, name)
        for lot in own:
            judge_of = _judges(stations, loaded, lot.target, custom)
            if loaded.judged and not options.dry_run:
                judge_of(None)  # built now, so that its health is probed before the first trial
            candidate = stations.candidate(loaded, lot.target)
            judge_for = _judge_for(judge_of, around.registry)
            parts.append(
                Part(
                    loaded=loaded,
                    station=candidate,
                    bench=_bench(candidate, loaded, asking, around, judge_for),
                    planned=lot.planned,
                    threshold=suite.threshold,
                    takes_all=lot.takes_all,
                    inside=lot.inside,
                    judge_of=judge_for,
                )
            )
    return Assembly(
        options=options,
        parts=parts,
        suites=tuple(suites),
        stations=stations,
        asking=asking,
        scope=scope,
    )


JudgeOf = Callable[[EvaluatorOptions | None], Station]


def _judges(
    stations: Stations, loaded: LoadedSuite, target: str, custom: CustomTarget | None
) -> JudgeOf:
    """Which station judges for an evaluator: its own `target`, else the candidate's judge."""

    def judge_of(options: EvaluatorOptions | None) -> Station:
        named = getattr(options, "target", None)
        if isinstance(named, str):
            return stations.of(loaded, named)
        if custom is not None or loaded.targets is None:
            return stations.of(loaded, target)
        return stations.of(loaded, loaded.targets.judge_of(target))

    return judge_of


JudgeFor = Callable[[EvaluatorOptions], Station | None]


def _judge_for(judge_of: JudgeOf, registry: Registry) -> JudgeFor:
    """The same, save that evaluators which ask nobody have no judge."""

    def judge_for(options: EvaluatorOptions) -> Station | None:
        entry = registry.find("evaluators", options.type)
        return judge_of(options) if entry is not None and entry.needs_judge else None

    return judge_for


def _suite_plan(loaded: LoadedSuite, options: RunOptions, lots: Sequence[Lot]) -> SuitePlan:
    suite = loaded.suite
    return SuitePlan(
        path=suite.shown,
        dataset=suite.dataset,
        digest=suite.digest,
        cases=loaded.total_cases,
        trials=sum(lot.planned for lot in lots),
        in_all_shards=sum(lot.whole for lot in lots) if options.shard else None,
        threshold=first(options.threshold, suite.threshold, DEFAULT_THRESHOLD),
        min_pass_rate=first(options.min_pass_rate, suite.min_pass_rate, DEFAULT_MIN_PASS_RATE),
    )


def _bench(
    station: Station,
    loaded: LoadedSuite,
    asking: Asking,
    around: Surroundings,
    judge_for: JudgeFor,
) -> Bench:
    def build(own: EvaluatorOptions) -> Evaluator:
        judge = judge_for(own)
        given = EvaluatorBuild(
            folder=loaded.suite.path.parent,
            files=loaded.files,
            env=loaded.environment.values,
            processes=around.processes,
            judge=_asked_judge(judge, asking) if judge else None,
            judge_target=judge.name if judge else None,
        )
        return around.registry.build_evaluator(own, given)

    def digest_of(own: EvaluatorOptions) -> str:
        judge = judge_for(own)
        return evaluator_digest(own.shaping(loaded.files), judge.record.digest if judge else None)

    shared = _remembering(digest_of)

    def takes_time(own: EvaluatorOptions) -> bool:
        entry = around.registry.find("evaluators", own.type)
        return entry is None or entry.takes_time

    return Bench(
        provider=asking.provider(station),
        policy=station.policy,
        build_evaluator=_remembering(build),
        emit=around.emit,
        now=around.now,
        digest_of=lambda own, trial: verdict_digest(shared(own), trial),
        takes_time=_remembering(takes_time),
        costs=station.costs,
        dry_run=asking.dry_run,
        attribute=attribute if asking.is_on_cassette else None,
    )


def _asked_judge(judge: Station, asking: Asking) -> Provider:
    return RetryingProvider(asking.provider(judge, judges=True), judge.policy)


Made = TypeVar("Made")


def _remembering(build: Callable[[EvaluatorOptions], Made]) -> Callable[[EvaluatorOptions], Made]:
    """Build once for options that many cases share; forget before a large suite fills memory."""
    built: dict[int, tuple[EvaluatorOptions, Made]] = {}

    def remembered(options: EvaluatorOptions) -> Made:
        found = built.get(id(options))
        if found is None:
            if len(built) >= _CACHED_EVALUATORS:
                built.clear()
            found = built[id(options)] = (options, build(options))
        return found[1]

    return remembered
