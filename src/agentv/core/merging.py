"""Joining runs: whether they belong together, and what was asked of them as one.

Pure: from manifests to a manifest, or to every reason why there can be none.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from agentv.model.base import Record
from agentv.model.run import MergedRun, RunManifest, SuitePlan, TargetRecord
from agentv.model.shard import Shard

_OF_ONE_RUN = ("shard", "out", "exports", "dump_prompts")
"""Arguments that speak of one run alone."""


class Source(Record, frozen=True, kw_only=True):
    """A run that is to be joined with others."""

    folder: str
    """As messages name it."""
    manifest: RunManifest


def shards_of(manifest: RunManifest) -> list[Shard]:
    """The shards whose rows a run has; none if no plan was split."""
    own = [manifest.shard, *(source.shard for source in manifest.merged)]
    return sorted({shard for shard in own if shard is not None}, key=lambda shard: shard.number)


def missing_shards(manifests: Iterable[RunManifest]) -> list[int]:
    """The numbers of the shards that no run has."""
    have = [shard for manifest in manifests for shard in shards_of(manifest)]
    if not have:
        return []
    return sorted(set(range(1, have[0].of + 1)).difference(shard.number for shard in have))


def misfits(sources: Sequence[Source]) -> list[str]:
    """Every reason why runs do not belong together, each in a sentence."""
    first = sources[0]
    found = [reason for other in sources[1:] for reason in _unlike(first, other)]
    return found + list(_same_shards(sources))


def doubts(sources: Sequence[Source]) -> list[str]:
    """What makes one run of them less than a run that was made at once."""
    versions = sorted({source.manifest.version for source in sources})
    commits = {source.manifest.git_commit for source in sources}
    found = []
    if len(versions) > 1:
        found.append(f"the runs were made by several versions of AgentV: {', '.join(versions)}")
    if len(commits) > 1:
        named = ", ".join(sorted(str(commit)[:12] if commit else "none" for commit in commits))
        found.append(f"the runs were made on several commits of the repository: {named}")
    return found


def suites_in(first: RunManifest, other: RunManifest) -> dict[str, str]:
    """How the suites of a run are called in another: a folder may have been renamed between."""
    return {
        plan.path: same.path
        for plan in other.suites
        if (same := _counterpart(plan, first)) is not None
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
        shard=None,
        merged=tuple(_origins(sources)),
        suites=tuple(_whole(plan, manifests) for plan in first.suites),
        targets=_targets(manifests),
    )


def _unlike(first: Source, other: Source) -> Iterator[str]:
    a, b = first.manifest, other.manifest
    if a.dry_run != b.dry_run:
        is_, none = (first, other) if a.dry_run else (other, first)
        yield f"{is_.folder} is a dry run, and {none.folder} is none."
    yield from _unlike_suites(first, other)
    yield from _unlike_targets(first, other)
    yield from _unlike_plans(first, other)


def _unlike_suites(first: Source, other: Source) -> Iterator[str]:
    ours, theirs = first.manifest, other.manifest
    for here, there in ((first, other), (other, first)):
        for plan in here.manifest.suites:
            if _counterpart(plan, there.manifest) is None:
                yield f"{here.folder} has the suite '{plan.path}', and {there.folder} has not."
    for plan in theirs.suites:
        same = _counterpart(plan, ours)
        if same is None:
            continue
        if same.digest != plan.digest:
            yield (
                f"The suite '{same.path}' is another one in {other.folder} than in {first.folder}: "
                "it was edited between the runs."
            )
        for what, here_, there_ in (
            ("threshold", same.threshold, plan.threshold),
            ("min_pass_rate", same.min_pass_rate, plan.min_pass_rate),
        ):
            if here_ != there_:
                yield (
                    f"The suite '{same.path}' has a `{what}` of {here_:g} in {first.folder} and of "
                    f"{there_:g} in {other.folder}."
                )


def _unlike_targets(first: Source, other: Source) -> Iterator[str]:
    ours = {target.name: target for target in first.manifest.targets}
    for target in other.manifest.targets:
        same = ours.get(target.name)
        if same is None or same.digest == target.digest:
            continue
        keys = sorted(
            key
            for key in {*same.settings, *target.settings}
            if same.settings.get(key) != target.settings.get(key)
        )
        shown = ", ".join(f"`{key}`" for key in keys) if keys else f"provider {target.provider}"
        yield (
            f"The target '{target.name}' has other settings in {other.folder} than in "
            f"{first.folder} ({shown})."
        )


def _unlike_plans(first: Source, other: Source) -> Iterator[str]:
    a, b = first.manifest, other.manifest
    if _asked(a, "targets") != _asked(b, "targets"):
        yield (
            f"{first.folder} was run {_options('--target', _asked(a, 'targets'))}, and "
            f"{other.folder} {_options('--target', _asked(b, 'targets'))}."
        )
    ours, theirs = shards_of(a), shards_of(b)
    if not ours and not theirs:
        return
    if not ours or not theirs:
        part, whole = (first, other) if ours else (other, first)
        yield f"{part.folder} is of a plan that was split into shards, and {whole.folder} is not."
    elif ours[0].of != theirs[0].of:
        yield f"{first.folder} is of {ours[0].of} shards, and {other.folder} of {theirs[0].of}."
    elif _asked(a, "eval_ids") != _asked(b, "eval_ids"):
        yield (
            f"{first.folder} was run {_options('--eval-id', _asked(a, 'eval_ids'))}, and "
            f"{other.folder} {_options('--eval-id', _asked(b, 'eval_ids'))}."
        )


def _same_shards(sources: Sequence[Source]) -> Iterator[str]:
    seen: dict[Shard, str] = {}
    for source in sources:
        for shard in shards_of(source.manifest):
            if shard in seen:
                yield f"{seen[shard]} and {source.folder} are both shard {shard}: leave one out."
            seen.setdefault(shard, source.folder)


def _counterpart(plan: SuitePlan, manifest: RunManifest) -> SuitePlan | None:
    """The same suite in another run: by its path, else by what is in it."""
    for other in manifest.suites:
        if other.path == plan.path:
            return other
    alike = [
        other
        for other in manifest.suites
        if (other.dataset, other.digest) == (plan.dataset, plan.digest)
    ]
    return alike[0] if len(alike) == 1 else None


def _whole(plan: SuitePlan, manifests: Sequence[RunManifest]) -> SuitePlan:
    """A suite's plan over everything that was asked for."""
    by_selection: dict[tuple[str, ...], int] = {}
    for manifest in manifests:
        own = _counterpart(plan, manifest)
        if own is not None:
            trials = own.trials if own.in_all_shards is None else own.in_all_shards
            asked = _asked(manifest, "eval_ids")
            by_selection[asked] = max(trials, by_selection.get(asked, 0))
    # Selections may overlap: then this is too many, and the run is incomplete, never green.
    trials = by_selection.get((), sum(by_selection.values()))
    return msgspec.structs.replace(plan, trials=trials, in_all_shards=None)


def _arguments(manifests: Sequence[RunManifest], budget: float | None) -> dict[str, Any]:
    """Those by which the run can go on."""
    first = manifests[0].arguments
    arguments = {key: value for key, value in first.items() if key not in _OF_ONE_RUN}
    selections = [_asked(manifest, "eval_ids") for manifest in manifests]
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


def _asked(manifest: RunManifest, name: str) -> tuple[str, ...]:
    return tuple(sorted(set(manifest.arguments.get(name, ()))))


def _options(option: str, values: Sequence[str]) -> str:
    if not values:
        return f"without {option}"
    return f"with {' '.join(f'{option} {value}' for value in values)}"
