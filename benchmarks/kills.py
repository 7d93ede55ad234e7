"""Runs killed at random moments and gone on with: is anything lost, doubled or different?

    python -m benchmarks.kills [--kills 200] [--death SIGKILL] [--seed 0] [--cases 20]

Each story runs suites over a mock, a command and an HTTP service with 1 to 64 workers, kills the
run up to four times (in the middle of a resume, too), lets it come to its end, and holds rows,
summary, export and exit code against a run that nobody disturbed. Exits with 1 when something does
not hold.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kill_harness import (
    Death,
    Flavour,
    KilledProject,
    Told,
    killed_project,
    may_mount,
    story,
)

_FILLING = 20_000
"""Characters of a question, so that few rows fill a small disk."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__)
    deaths = [death.value for death in Death]
    parser.add_argument("--kills", type=int, default=200, help="of each kind (default: 200)")
    parser.add_argument("--death", action="append", choices=deaths, help="(default: all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=20, help="in each of three suites")
    options = parser.parse_args()
    chosen = [Death(name) for name in options.death or deaths]
    broken = 0
    with ExitStack() as stack:
        for death in chosen:
            if death is Death.SMALL_DISK and not may_mount():
                print(f"{death.value}: left out, since no disk may be mounted here")
                continue
            padding = _FILLING if death is Death.SMALL_DISK else 0
            projects = [
                _project(stack, Flavour(cases=options.cases, failing=failing, padding=padding))
                for failing in (False, True)
            ]
            broken += _measure(projects, death, options.kills, Random(options.seed))
    return int(broken > 0)


def _project(stack: ExitStack, flavour: Flavour) -> KilledProject:
    folder = stack.enter_context(TemporaryDirectory(prefix="agentv-kills-"))
    return stack.enter_context(killed_project(Path(folder), flavour))


def _measure(projects: Sequence[KilledProject], death: Death, kills: int, rng: Random) -> int:
    began = time.perf_counter()
    told: list[Told] = []
    while sum(one.kills for one in told) < kills:
        told.append(story(projects[len(told) % len(projects)], rng, death))
        for line in told[-1].broken:
            print(f"  broken ({told[-1].workers} workers): {line}", flush=True)
    _print(death, told, time.perf_counter() - began)
    return sum(len(one.broken) for one in told)


def _print(death: Death, told: Sequence[Told], seconds: float) -> None:
    flying = [number for one in told for number in one.in_flight]
    above = sum(number > one.workers for one in told for number in one.in_flight)
    kills = sum(one.kills for one in told)
    print(f"{death.value}: {kills} kills in {len(told)} runs, {seconds:.0f} s")
    print(f"  workers                 {' '.join(map(str, sorted({one.workers for one in told})))}")
    print(f"  in the middle of resume {sum(one.in_resume for one in told)}")
    print(f"  lines cut off           {sum(one.torn for one in told)}")
    mean = sum(flying) / len(flying)
    print(f"  in flight at a kill     {mean:.1f} on average, {max(flying)} at most")
    print(f"  above the concurrency   {above}")
    print(f"  asked more than once    {sum(one.resent for one in told)}")
    print(f"  what does not hold      {sum(len(one.broken) for one in told)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
