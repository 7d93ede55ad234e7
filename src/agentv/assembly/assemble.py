"""Put a run together."""

from collections.abc import Sequence

from agentv.assembly.asking import asking_of
from agentv.assembly.assembly import Assembly
from agentv.assembly.benches import bench_of
from agentv.assembly.choosing import Scope
from agentv.assembly.judges import judges_of, where_needed
from agentv.assembly.lots import Lot, planned_lots
from agentv.assembly.options import (
    DEFAULT_MIN_PASS_RATE,
    DEFAULT_THRESHOLD,
    CustomTarget,
    RunOptions,
    Surroundings,
    first,
)
from agentv.assembly.stations import Stations
from agentv.assembly.trials import Part
from agentv.loading.suites import LoadedSuite
from agentv.loading.workspace import Workspace
from agentv.model.event import Notice
from agentv.model.run import SuitePlan


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
            judge_of = judges_of(stations, loaded, lot.target, custom)
            if loaded.judged and not options.dry_run:
                judge_of(None)  # built now, so that its health is probed before the first trial
            candidate = stations.candidate(loaded, lot.target)
            judge_for = where_needed(judge_of, around.registry)
            parts.append(
                Part(
                    loaded=loaded,
                    station=candidate,
                    bench=bench_of(candidate, loaded, asking, around, judge_for),
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
