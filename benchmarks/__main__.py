"""Measure everything (or what `--only` names), print it, and fail when a promise is not kept."""

import argparse
import compileall
import json
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.contests import CONTESTS, Contest
from benchmarks.figures import Figure, growth_figures, process_figures, result_figures
from benchmarks.measure import alternate
from benchmarks.stick_process import serving
from benchmarks.table import HEADER, as_json, closing, line, machine


def main() -> int:
    options = _options()
    chosen = [contest for contest in CONTESTS if _is_chosen(contest, options.only)]
    if not chosen:
        names = ", ".join(contest.name for contest in CONTESTS)
        print(f"No benchmark is called so. There are: {names}", file=sys.stderr)
        return 2
    _compile("agentv")
    progress = sys.stderr if options.json else sys.stdout
    print(f"{machine()}\n\n{HEADER}", file=progress, flush=True)
    figures: list[Figure] = []
    for figure in measure(chosen, options.rounds):
        figures.append(figure)
        print(line(figure), file=progress, flush=True)
    print(f"\n{closing(figures)}", file=progress)
    if options.json:
        print(json.dumps({"machine": machine(), "figures": list(map(as_json, figures))}, indent=2))
    return int(any(figure.met is False for figure in figures))


def measure(contests: Sequence[Contest], rounds: int) -> Iterator[Figure]:
    """Every figure, as soon as it is known."""
    peaks: dict[str, float] = {}
    for contest in contests:
        with TemporaryDirectory(prefix="agentv-bench-") as name, serving(contest.stick):
            folder = Path(name)
            contest.prepare(folder)
            runs = min(rounds, contest.most_rounds)
            ours, bare = alternate(contest.ours, contest.bare, folder, runs, contest.leaves)
            peaks[contest.name] = ours.peak_mb
            yield from process_figures(contest, ours, bare)
            if contest.rows and not contest.stick:
                yield from result_figures(contest, folder)
    yield from growth_figures(peaks, {contest.name: contest.rows for contest in contests})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        help=f"a benchmark, or a glob; repeatable: {', '.join(c.name for c in CONTESTS)}",
    )
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="runs (default: 5)")
    parser.add_argument("--json", action="store_true", help="figures as JSON on standard output")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds: at least one run is needed for a figure")
    return options


def _is_chosen(contest: Contest, globs: Sequence[str] | None) -> bool:
    return globs is None or any(fnmatchcase(contest.name, glob) for glob in globs)


def _compile(package: str) -> None:
    """As an installer does; otherwise the first run pays for it, or each one does."""
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations if spec else None) or ():
        compileall.compile_dir(folder, quiet=1)


if __name__ == "__main__":
    sys.exit(main())
