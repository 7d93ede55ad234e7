"""Where the trials of one target are run, with the judges of its evaluators."""

from collections.abc import Callable
from typing import TypeVar

from agentv.assembly.asking import Asking
from agentv.assembly.judges import JudgeFor
from agentv.assembly.options import (
    Surroundings,
)
from agentv.assembly.stations import Station
from agentv.core.digest import evaluator_digest, verdict_digest
from agentv.loading.suites import LoadedSuite
from agentv.model.options import EvaluatorOptions
from agentv.protocols import (
    Evaluator,
    EvaluatorBuild,
    Provider,
)
from agentv.runner.attempts import RetryingProvider
from agentv.runner.attributing import attribute
from agentv.runner.trial import Bench

_CACHED_EVALUATORS = 256


def bench_of(
    station: Station,
    loaded: LoadedSuite,
    asking: Asking,
    around: Surroundings,
    judge_for: JudgeFor,
) -> Bench:
    """The bench of a suite's trials on a target.

    Args:
        station: The target.
        loaded: The suite.
        asking: What stands between the trials and the target.
        around: The world as the run sees it.
        judge_for: Whom each evaluator asks, if anybody.
    """

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
