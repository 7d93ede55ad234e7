"""One run, killed a few times at random moments, and gone on with until it comes to its end."""

import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from pathlib import Path
from random import Random

from kill_harness.disks import grow, small_disk
from kill_harness.project import SUITES, Asking, KilledProject
from kill_harness.recorded import recorded, whole_lines

_WORKERS = (1, 2, 3, 4, 8, 16, 32, 64)
_LATE_SHARE = 0.9
"""Of the kills, those that come after the start of Python and of everything else."""
_LONGEST_SECONDS = 60
_KILOBYTES = 1024
"""Of the small disk, at first."""


class Death(Enum):
    """What ends a run before its time."""

    KILL = "SIGKILL"
    TERM = "SIGTERM"
    INTERRUPT_TWICE = "SIGINT twice"
    DISK = "a file that cannot grow"
    SMALL_DISK = "a disk of 1 MB"
    """Needs the right to mount one, and questions that fill it."""
    CUT = "SIGKILL, and the journal cut at a byte"


_FULL = {Death.DISK: "File too large", Death.SMALL_DISK: "No space left on device"}


@dataclass
class Told:
    """What happened in a story, and what should not have."""

    death: Death
    workers: int
    kills: int = 0
    """How many times the run was ended before its time."""
    in_resume: int = 0
    """How many of them while it was being gone on with."""
    in_flight: list[int] = field(default_factory=list)
    """At each kill: askings that had begun and of which no answer was written down."""
    resent: int = 0
    """Askings that were made more than once."""
    torn: int = 0
    """Kills that left a line cut off."""
    broken: list[str] = field(default_factory=list)
    """What does not hold."""


def story(project: KilledProject, rng: Random, death: Death, kills: int | None = None) -> Told:
    """Kill a run up to `kills` times, let it come to its end, and look at what is left."""
    told = Told(death=death, workers=rng.choice(_WORKERS))
    project.runs += 1
    run = project.folder / f"run-{project.runs}"
    if death is not Death.SMALL_DISK:
        return _story(project, rng, told, run, kills or rng.randint(1, 4))
    with small_disk(run, _KILOBYTES):
        return _story(project, rng, told, run, kills or rng.randint(1, 4))


def _story(project: KilledProject, rng: Random, told: Told, run: Path, wanted: int) -> Told:
    death = told.death
    begun = before = project.asked()
    allowed: Counter[Asking] = Counter()
    kept: set[bytes] = set()
    export = f"{run.name}.jsonl"
    while True:
        is_resume = (run / "run.json").exists()
        deadly = told.kills < wanted
        code = _run_until(project, run, told, rng, death if deadly else None)
        asked = project.asked()
        phase, before = asked - before, asked
        lines = whole_lines(run / "results.jsonl")
        told.broken += [f"a row was lost: {row[:90]!r}" for row in kept - set(lines)]
        if project.report is not None and code in (0, 1) and code == project.report["exit_code"]:
            break
        if not deadly:
            told.broken.append(f"exit code {code} of a run that nobody disturbed: {project.said}")
            return told
        told.kills += 1
        if death is Death.SMALL_DISK:
            is_last = told.kills == wanted
            grow(run, 64 * _KILOBYTES if is_last else _KILOBYTES + told.kills * 200)
        told.in_resume += is_resume
        _look_at_the_end(project, death, code, told)
        told.torn += any(map(_is_torn, (run / "results.jsonl", run / "steps.jsonl")))
        flying = set(phase) - recorded(run)
        told.in_flight.append(len(flying))
        if len(flying) > told.workers:
            told.broken.append(f"{len(flying)} in flight with {told.workers} workers: {flying}")
        if death is Death.CUT:
            _cut(run, rng)
            flying = set(asked - begun) - recorded(run)
        allowed.update(flying)
        kept = set(whole_lines(run / "results.jsonl"))
    asked -= begun
    told.resent = asked.total() - len(asked)
    for asking, times in asked.items():
        if times > 1 + allowed[asking]:
            told.broken.append(f"{asking} was asked {times} times, {allowed[asking]} in flight")
    told.broken += _differences(project, run.name, code, export)
    return told


def _run_until(
    project: KilledProject,
    run: Path,
    told: Told,
    rng: Random,
    death: Death | None,
) -> int:
    """Start or go on, and end it at some moment; the exit code."""
    limit = None
    if death is Death.DISK:
        size = project.planned * (2_000 + 2 * project.flavour.padding)
        limit = rng.randrange(3_000, size)
    workers = ("--workers", str(told.workers))
    if (run / "run.json").exists() and rng.random() < 0.5:
        process = project.start("resume", run.name, "--json", largest=limit)
    else:
        options = ("--out", run.name, "--resume", "--json", "--export", f"{run.name}.jsonl")
        process = project.start("eval", *SUITES, *workers, *options, largest=limit)
    if death not in (None, Death.DISK, Death.SMALL_DISK):
        if rng.random() < _LATE_SHARE:
            _wait_for(process, partial(_is_written_by, process.pid, run))
            _wait(process, rng.uniform(0.0, _seconds_left(project, run, told.workers)))
        else:
            _wait(process, rng.uniform(0.0, 1.0))
        if death is Death.INTERRUPT_TWICE:
            process.send_signal(signal.SIGINT)
            _wait(process, rng.uniform(0.0, 0.2))
            process.send_signal(signal.SIGINT)
        else:
            process.send_signal(signal.SIGTERM if death is Death.TERM else signal.SIGKILL)
    return process.wait(_LONGEST_SECONDS)


def _is_written_by(pid: int, run: Path) -> bool:
    """Whether a process has taken the run up."""
    try:
        return b'"pid":%d,' % pid in (run / "lock").read_bytes()
    except OSError:
        return False


def _seconds_left(project: KilledProject, run: Path, workers: int) -> float:
    """What is left of a run: a pause for everybody who is asked, or the time of a busy core."""
    asked = 6 * project.flavour.cases
    left = max(asked - sum(1 for who, _ in recorded(run) if who != "mock"), 1)
    return 0.05 + max(left * project.flavour.pause / workers, left * 0.006)


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    until = time.monotonic() + seconds
    _wait_for(process, lambda: time.monotonic() >= until)


def _wait_for(process: subprocess.Popen[bytes], is_so: Callable[[], bool]) -> None:
    while process.poll() is None and not is_so():
        time.sleep(0.001)


def _look_at_the_end(project: KilledProject, death: Death, code: int, told: Told) -> None:
    """A run that can still speak says why it ends."""
    if death in _FULL:
        said = f"cannot be written: {_FULL[death]}" in project.said
        if code not in (2, 3) or not said or "Traceback" in project.said:
            told.broken.append(f"a full disk: exit code {code}, and it says {project.said!r}")
    elif "Traceback" in project.said and "KeyboardInterrupt" not in project.said:
        told.broken.append(f"it says {project.said!r}")


def _is_torn(path: Path) -> bool:
    return path.exists() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0


def _cut(run: Path, rng: Random) -> None:
    for name in ("results.jsonl", "steps.jsonl"):
        path = run / name
        if path.exists() and rng.random() < 0.7:
            with path.open("r+b") as file:
                file.truncate(rng.randint(0, path.stat().st_size))


def _differences(project: KilledProject, run: str, code: int, export: str) -> list[str]:
    """Where the run differs from the one that nobody disturbed."""
    here, there = project.outcome(run, code, export), project.control
    found = []
    if len(here.rows) != len({(row["suite"], row["eval_id"]) for row in here.rows}):
        found.append("a trial has two rows")
    for what in ("code", "rows", "export", "summary"):
        if getattr(here, what) != getattr(there, what):
            found.append(
                f"{what}: {getattr(here, what)!r:.300} is not {getattr(there, what)!r:.300}"
            )
    if set(here.files) - {"superseded.jsonl"} != set(there.files):
        found.append(f"files are left: {here.files}")
    return found
