"""Thousands of cases against a service that allows so many requests a second, in real time.

    python -m benchmarks.limited [--forms bucket,even] [--signs nothing] [--workers 10,50]

Each combination of a form of limit (`limits.py`), of what a refusal says (`limited_stick.py`) and
of workers is a run. Exits with 1 when a case is not answered, when after the first five seconds
more than `REFUSED_SHARE` of the requests are refused, or when a run takes more than `SLOWDOWN`
times what the limit makes it take. No slowdown is promised for the form `even`: it refuses whoever
is a millisecond early.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from subprocess import DEVNULL, PIPE
from tempfile import TemporaryDirectory

from benchmarks.inputs import SHORT, write_suite
from benchmarks.limited_stick import SIGNS
from benchmarks.limits import LIMITS

REFUSED_SHARE = 0.02
"""Promised, of the requests after …"""
SETTLING_SECONDS = 5.0
SLOWDOWN = 1.1
"""Promised."""
LATENCY_SECONDS = 0.1
_ROOT = Path(__file__).parents[1]
_COLUMNS = "{:<9} {:<12} {:>7} {:>9} {:>9} {:>9} {:>9}"


@dataclass(frozen=True, kw_only=True)
class Load:
    """One run to be made."""

    form: str
    sign: str
    workers: int
    cases: int
    rate: int


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a run."""

    load: Load
    code: int
    seconds: float
    refused: Sequence[bool]
    """Of all requests."""
    refused_late: Sequence[bool]
    """Of those after the first seconds."""

    @property
    def is_kept(self) -> bool:
        """Whether it is as promised."""
        in_time = self.seconds <= SLOWDOWN * self.load.cases / self.load.rate
        in_time = in_time or self.load.form == "even"
        return self.code == 0 and in_time and share(self.refused_late) <= REFUSED_SHARE


def main() -> int:
    loads, at_once = _loads()
    header = ("limit", "refusals say", "workers", "seconds", "requests", "refused", "after 5 s")
    print(_COLUMNS.format(*header), flush=True)
    outcomes = asyncio.run(measure_all(loads, at_once))
    missed = sum(not outcome.is_kept for outcome in outcomes)
    print(f"\n{missed} of {len(outcomes)} runs missed their promise." if missed else "\nAll kept.")
    return int(missed > 0)


async def measure_all(loads: Sequence[Load], at_once: int) -> list[Outcome]:
    turns = asyncio.Semaphore(at_once)

    async def in_turn(load: Load) -> Outcome:
        async with turns:
            return await measure(load)

    return list(await asyncio.gather(*map(in_turn, loads)))


async def measure(load: Load) -> Outcome:
    argv = ("-m", "benchmarks.limited_stick", load.form, load.rate, load.sign, LATENCY_SECONDS)
    stick = await asyncio.create_subprocess_exec(
        sys.executable, *map(str, argv), cwd=_ROOT, stdin=PIPE, stdout=PIPE
    )
    assert stick.stdin is not None
    assert stick.stdout is not None
    url = (await stick.stdout.readline()).decode().strip()
    code, seconds = await _evaluate(load, url)
    stick.stdin.close()
    log = [line.split() for line in (await stick.stdout.read()).decode().splitlines()]
    await stick.wait()
    began = float(log[0][0])
    outcome = Outcome(
        load=load,
        code=code,
        seconds=seconds,
        refused=[refused == "1" for _, refused in log],
        refused_late=[
            refused == "1" for at, refused in log if float(at) - began > SETTLING_SECONDS
        ],
    )
    print(_line(outcome), flush=True)
    return outcome


async def _evaluate(load: Load, url: str) -> tuple[int, float]:
    """Exit code and seconds of a whole run."""
    with TemporaryDirectory(prefix="agentv-limited-") as name:
        write_suite(Path(name), SHORT, load.cases, target="llm")
        options = ("eval", "--quiet", "--workers", str(load.workers), "suite.yaml")
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "agentv", *options),
            cwd=name,
            env={**os.environ, "STICK_URL": f"{url}/v1"},
            stdout=DEVNULL,
        )
        return await process.wait(), time.perf_counter() - began


def share(marks: Sequence[bool]) -> float:
    """How many are true, in [0, 1]."""
    return sum(marks) / len(marks) if marks else 0.0


def _line(outcome: Outcome) -> str:
    load = outcome.load
    return _COLUMNS.format(
        *(load.form, load.sign, load.workers, f"{outcome.seconds:.1f}", len(outcome.refused)),
        *(f"{share(outcome.refused):.2%}", f"{share(outcome.refused_late):.2%}"),
    ) + ("" if outcome.is_kept else f"  missed (exit code {outcome.code})")


def _loads() -> tuple[list[Load], int]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limited", description=__doc__)
    parser.add_argument("--forms", default=",".join(LIMITS))
    parser.add_argument("--signs", default=",".join(SIGNS))
    parser.add_argument("--workers", default="10,50,100")
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--rate", type=int, default=20, help="allowed requests a second")
    parser.add_argument("--at-once", type=int, default=6, help="runs at the same time")
    options = parser.parse_args()
    loads = [
        Load(form=form, sign=sign, workers=int(workers), cases=options.cases, rate=options.rate)
        for form, sign, workers in product(
            options.forms.split(","), options.signs.split(","), options.workers.split(",")
        )
    ]
    return loads, options.at_once


if __name__ == "__main__":
    sys.exit(main())
