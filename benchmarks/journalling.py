"""What the journal costs: runs with it held against the same runs without steps and flushes.

    python -m benchmarks.journalling [--rounds 7] [--only llm-many]

Both are timed in turns, and the fastest of each side are compared: the rest is what else the
machine was doing. Exits with 1 when a run takes more than `SLOWDOWN` times as long with a journal.
"""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.contests import CONTESTS, Contest
from benchmarks.measure import Sample, Samples, alternate
from benchmarks.stick_process import serving
from benchmarks.table import machine

SLOWDOWN = 1.10
"""Promised, of the time on the wall."""
_CONTESTS = ("10000-yaml", "10000-jsonl", "commands", "llm-many", "llm-crowd", "llm-judged")
_WITHOUT = str(Path(__file__).with_name("bare") / "unjournalled.py")
_COLUMNS = "{:<12} {:>10} {:>10} {:>7} {:>12} {:>12} {:>7} {}"


def main() -> int:
    options = _options()
    print(f"{machine()}\n")
    cells = ("benchmark", "journal", "without", "ratio", "CPU, journal", "CPU, without", "ratio")
    print(_COLUMNS.format(*cells, "").rstrip(), flush=True)
    ratios = [_compare(each, options.rounds) for each in CONTESTS if each.name in options.only]
    missed = sum(ratio > SLOWDOWN for ratio in ratios)
    print(f"\n{missed} of {len(ratios)} runs take more than {SLOWDOWN:.2f} times as long.")
    return int(missed > 0)


def _compare(contest: Contest, rounds: int) -> float:
    """Time both sides and print their line; the ratio of their times."""
    without = (sys.executable, _WITHOUT, *contest.ours[1:])
    with TemporaryDirectory(prefix="agentv-bench-") as name, serving(contest.stick):
        folder = Path(name)
        contest.prepare(folder)
        ours, others = alternate(contest.ours, without, folder, rounds, contest.leaves)
    fast, bare = _fastest(ours), _fastest(others)
    ratio, cpu_ratio = fast.seconds / bare.seconds, fast.cpu_seconds / bare.cpu_seconds
    cells = [contest.name, f"{fast.seconds:.3f} s", f"{bare.seconds:.3f} s", f"{ratio:.2f}x"]
    cells += [f"{fast.cpu_seconds:.3f} s", f"{bare.cpu_seconds:.3f} s", f"{cpu_ratio:.2f}x"]
    print(_COLUMNS.format(*cells, "✗" if ratio > SLOWDOWN else "✓"), flush=True)
    return ratio


def _fastest(samples: Samples) -> Sample:
    """The best of each."""
    return Sample(
        seconds=min(run.seconds for run in samples.runs),
        cpu_seconds=min(run.cpu_seconds for run in samples.runs),
        peak_mb=samples.peak_mb,
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.journalling", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, metavar="N")
    parser.add_argument("--only", nargs="+", choices=_CONTESTS, default=_CONTESTS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
