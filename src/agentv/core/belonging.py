"""Whether runs belong together, so that they can be joined.

Pure: from manifests to every reason why they do not.
"""

from collections.abc import Iterable, Iterator, Sequence

from agentv.model.base import Record
from agentv.model.run import RunManifest, SuitePlan
from agentv.model.shard import Shard


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
    found = list(_of_answers_or_choices(sources))
    found += [reason for other in sources[1:] for reason in _unlike(first, other)]
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


def _of_answers_or_choices(sources: Iterable[Source]) -> Iterator[str]:
    """Their plans are not their suites' alone, which a merged run's is."""
    for source in sources:
        if source.manifest.rescored_from is not None:
            yield f"{source.folder} was rescored: merge what it comes from, and rescore that."
        elif source.manifest.rerun_of is not None:
            yield f"{source.folder} was rerun: merge what it comes from, and rerun that."


def _unlike(first: Source, other: Source) -> Iterator[str]:
    a, b = first.manifest, other.manifest
    if a.dry_run != b.dry_run:
        is_, none = (first, other) if a.dry_run else (other, first)
        yield f"{is_.folder} is a dry run, and {none.folder} is none."
    if (a.replayed is None) != (b.replayed is None):
        is_, none = (first, other) if a.replayed else (other, first)
        yield f"{is_.folder} is a replay, and {none.folder} is none."
    yield from _unlike_suites(first, other)
    yield from _unlike_targets(first, other)
    yield from _unlike_plans(first, other)


def _unlike_suites(first: Source, other: Source) -> Iterator[str]:
    ours, theirs = first.manifest, other.manifest
    for here, there in ((first, other), (other, first)):
        for plan in here.manifest.suites:
            if counterpart(plan, there.manifest) is None:
                yield f"{here.folder} has the suite '{plan.path}', and {there.folder} has not."
    for plan in theirs.suites:
        same = counterpart(plan, ours)
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
    if asked(a, "targets") != asked(b, "targets"):
        yield (
            f"{first.folder} was run {_options('--target', asked(a, 'targets'))}, and "
            f"{other.folder} {_options('--target', asked(b, 'targets'))}."
        )
    ours, theirs = shards_of(a), shards_of(b)
    if not ours and not theirs:
        return
    if not ours or not theirs:
        part, whole = (first, other) if ours else (other, first)
        yield f"{part.folder} is of a plan that was split into shards, and {whole.folder} is not."
    elif ours[0].of != theirs[0].of:
        yield f"{first.folder} is of {ours[0].of} shards, and {other.folder} of {theirs[0].of}."
    elif asked(a, "eval_ids") != asked(b, "eval_ids"):
        yield (
            f"{first.folder} was run {_options('--eval-id', asked(a, 'eval_ids'))}, and "
            f"{other.folder} {_options('--eval-id', asked(b, 'eval_ids'))}."
        )


def _same_shards(sources: Sequence[Source]) -> Iterator[str]:
    seen: dict[Shard, str] = {}
    for source in sources:
        for shard in shards_of(source.manifest):
            if shard in seen:
                yield f"{seen[shard]} and {source.folder} are both shard {shard}: leave one out."
            seen.setdefault(shard, source.folder)


def counterpart(plan: SuitePlan, manifest: RunManifest) -> SuitePlan | None:
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


def asked(manifest: RunManifest, name: str) -> tuple[str, ...]:
    """The values of an argument that can be given several times, in one order."""
    return tuple(sorted(set(manifest.arguments.get(name, ()))))


def _options(option: str, values: Sequence[str]) -> str:
    if not values:
        return f"without {option}"
    return f"with {' '.join(f'{option} {value}' for value in values)}"
