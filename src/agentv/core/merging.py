"""What was asked of several runs, as one."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from agentv.core.belonging import Source, asked, counterpart
from agentv.model.run import MergedRun, RunManifest, SuitePlan, TargetRecord

_OF_ONE_RUN = ("shard", "out", "exports", "dump_prompts", "record")
"""Arguments that speak of one run alone."""


def suites_in(first: RunManifest, other: RunManifest) -> dict[str, str]:
    """How the suites of a run are called in another: a folder may have been renamed between."""
    return {
        plan.path: same.path
        for plan in other.suites
        if (same := counterpart(plan, first)) is not None
    }


def joined(sources: Sequence[Source], run_id: str, now: str) -> RunManifest:
    """What was asked, as if it had been one run.

    Args:
        sources: Those that belong together.
        run_id: Of the new run.
        now: When it is made; UTC, ISO 8601.
    """
    first = sources[0].manifest
    manifests = [source.manifest for source in sources]
    commits = {manifest.git_commit for manifest in manifests}
    budgets = [manifest.budget_usd for manifest in manifests]
    budget = sum(each or 0.0 for each in budgets) if None not in budgets else None
    return msgspec.structs.replace(
        first,
        run_id=run_id,
        started=now,
        resumed=(),
        git_commit=first.git_commit if len(commits) == 1 else None,
        arguments=_arguments(manifests, budget),
        budget_usd=budget,
        cache=any(manifest.cache for manifest in manifests),
        recorded=None,
        shard=None,
        merged=tuple(_origins(sources)),
        suites=tuple(_whole(plan, manifests) for plan in first.suites),
        targets=_targets(manifests),
    )


def _whole(plan: SuitePlan, manifests: Sequence[RunManifest]) -> SuitePlan:
    """A suite's plan over everything that was asked for."""
    by_selection: dict[tuple[str, ...], int] = {}
    for manifest in manifests:
        own = counterpart(plan, manifest)
        if own is not None:
            trials = own.trials if own.in_all_shards is None else own.in_all_shards
            ids = asked(manifest, "eval_ids")
            by_selection[ids] = max(trials, by_selection.get(ids, 0))
    # Selections may overlap: then this is too many, and the run is incomplete, never green.
    trials = by_selection.get((), sum(by_selection.values()))
    return msgspec.structs.replace(plan, trials=trials, in_all_shards=None)


def _arguments(manifests: Sequence[RunManifest], budget: float | None) -> dict[str, Any]:
    """Those by which the run can go on."""
    first = manifests[0].arguments
    arguments = {key: value for key, value in first.items() if key not in _OF_ONE_RUN}
    selections = [asked(manifest, "eval_ids") for manifest in manifests]
    if () in selections:
        arguments.pop("eval_ids", None)
    else:
        ids = (id_ for selection in selections for id_ in selection)
        arguments["eval_ids"] = list(dict.fromkeys(ids))
    if budget is None:
        arguments.pop("budget_usd", None)
    else:
        arguments["budget_usd"] = budget
    return arguments


def _targets(manifests: Iterable[RunManifest]) -> tuple[TargetRecord, ...]:
    found: dict[str, TargetRecord] = {}
    for manifest in manifests:
        for target in manifest.targets:
            found.setdefault(target.name, target)
    return tuple(found.values())


def _origins(sources: Iterable[Source]) -> Iterator[MergedRun]:
    """The runs that have rows of their own: of a merged run those that it was joined from."""
    for source in sources:
        manifest = source.manifest
        if manifest.merged:
            yield from manifest.merged
        else:
            yield MergedRun(
                run_id=manifest.run_id,
                folder=source.folder,
                started=manifest.started,
                shard=manifest.shard,
            )
