"""Of which shards a run's rows are, in lines of its summary."""

from collections.abc import Iterator, Sequence

from agentv.core.belonging import missing_shards, shards_of
from agentv.model.run import RunManifest
from agentv.model.summary import RunSummary


def shard_lines(manifest: RunManifest, summary: RunSummary) -> Iterator[str]:
    """`shard 2 of 5`; of a merged run which shards it has, and which are missing."""
    if (shard := manifest.shard) is not None:
        whole = sum(plan.in_all_shards or 0 for plan in manifest.suites)
        yield f"  shard       {shard.number} of {shard.of} (all have {whole} trials)"
    if manifest.merged:
        yield f"  merged      {_sources(manifest)}"
    # Its trials may have been run since, by `agentv resume`.
    missing = [] if summary.is_complete else missing_shards([manifest])
    if missing:
        have = in_words([shard.number for shard in shards_of(manifest)])
        are = "is" if len(missing) == 1 else "are"
        of = shards_of(manifest)[0].of
        yield f"  shards      {have} of {of}; {in_words(missing)} {are} missing"


def in_words(numbers: Sequence[int]) -> str:
    """`1, 2 and 4`."""
    *first, last = map(str, numbers)
    return f"{', '.join(first)} and {last}" if first else last


def _sources(manifest: RunManifest) -> str:
    count = len(manifest.merged)
    return f"from {count} run{'' if count == 1 else 's'}"
