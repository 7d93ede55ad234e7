"""Figures: what was measured, beside what is promised."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.contests import (
    FILES_OF_A_RUN,
    GROWTH,
    GROWTH_BYTES_A_CASE,
    ROW_OVERHEAD_BYTES,
    Contest,
)
from benchmarks.measure import Samples

Unit = Literal["s", "MB", "B", "files"]

_RESULTS = Path(".agentv", "results")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One measured number."""

    contest: str
    what: str
    value: float
    """The median where there are several runs; of peak memory the largest."""
    unit: Unit
    spread: tuple[float, float] | None = None
    """The smallest and the largest."""
    bare: float | None = None
    """Bare Python's."""
    promised: float | None = None
    """At most."""

    @property
    def ratio(self) -> float | None:
        """How many times bare Python's it is."""
        return self.value / self.bare if self.bare else None

    @property
    def met(self) -> bool | None:
        """Whether the promise is kept; `None` where nothing is promised."""
        return None if self.promised is None else self.value <= self.promised


def process_figures(contest: Contest, ours: Samples, bare: Samples) -> Iterator[Figure]:
    """Time and memory of the runs."""
    yield Figure(
        contest=contest.name,
        what=contest.says,
        value=ours.seconds,
        unit="s",
        spread=ours.spread,
        bare=bare.seconds,
        promised=contest.seconds,
    )
    if contest.cpu_seconds is not None:
        yield Figure(
            contest=contest.name,
            what="CPU time",
            value=ours.cpu_seconds,
            unit="s",
            bare=bare.cpu_seconds,
            promised=contest.cpu_seconds,
        )
    yield Figure(
        contest=contest.name,
        what="peak memory",
        value=ours.peak_mb,
        unit="MB",
        bare=bare.peak_mb,
        promised=contest.peak_mb,
    )


def result_figures(contest: Contest, folder: Path) -> Iterator[Figure]:
    """Number and size of the files that the last run left, its prompts and answers taken off."""
    files = [path for path in (folder / _RESULTS).rglob("*") if path.is_file()]
    texts = rows = 0
    with next(path for path in files if path.name == "results.jsonl").open("rb") as journal:
        for row in map(json.loads, journal):
            rows += 1
            texts += len(row["candidate_answer"].encode())
            texts += len(row["raw_request"]["question"].encode())
    if rows != contest.rows:
        raise RuntimeError(f"{contest.name} left {rows} rows instead of {contest.rows}")
    yield Figure(
        contest=contest.name,
        what="results a case, beyond prompt and answer",
        value=(sum(path.stat().st_size for path in files) - texts) / rows,
        unit="B",
        # A run's manifest is as large for one case as for many.
        promised=ROW_OVERHEAD_BYTES if rows > 1 else None,
    )
    yield Figure(
        contest=contest.name,
        what="files of a run",
        value=len(files),
        unit="files",
        promised=FILES_OF_A_RUN,
    )


def growth_figures(peaks: Mapping[str, float], rows: Mapping[str, int]) -> Iterator[Figure]:
    """How much more memory a longer suite takes, a case.

    Args:
        peaks: Peak memory in MB, by contest.
        rows: Cases, by contest.
    """
    small, large = GROWTH
    if small in peaks and large in peaks:
        grown = (peaks[large] - peaks[small]) * 1024 * 1024
        yield Figure(
            contest="growth",
            what=f"memory a case, from {rows[small]:,} to {rows[large]:,}",
            value=grown / (rows[large] - rows[small]),
            unit="B",
            promised=GROWTH_BYTES_A_CASE,
        )
