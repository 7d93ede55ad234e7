"""Who judges for an evaluator."""

from collections.abc import Callable

from agentv.assembly.options import CustomTarget
from agentv.assembly.stations import Station, Stations
from agentv.loading.suites import LoadedSuite
from agentv.model.options import EvaluatorOptions
from agentv.registry import Registry

JudgeOf = Callable[[EvaluatorOptions | None], Station]


def judges_of(
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


def where_needed(judge_of: JudgeOf, registry: Registry) -> JudgeFor:
    """The same, save that evaluators which ask nobody have no judge."""

    def judge_for(options: EvaluatorOptions) -> Station | None:
        entry = registry.find("evaluators", options.type)
        return judge_of(options) if entry is not None and entry.needs_judge else None

    return judge_for
