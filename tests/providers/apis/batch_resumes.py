"""Runs over a batch that are killed and gone on with, held against a run that nobody disturbed."""

import json
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batch_project import BatchProject, case_name
from batch_vendor import BatchVendor, Step

from kill_harness.project import comparable_rows
from kill_harness.recorded import recorded, whole_lines

WORKERS = (1, 2, 4, 8, 16, 32, 64)
REASONS = (400, 500, None, 429)
DELAYS: dict[Step, float] = {
    "upload": 0.05,
    "create": 0.15,
    "status": 0.03,
    "results": 0.05,
    "single": 0.02,
}
_RUN = "run"
_OF_ONE_RUN = ("run_id", "folder", "resumed", "attempts")
_LONGEST_SECONDS = 120
_QUIET_SECONDS = 0.05
_EARLY = 0.1


@dataclass(frozen=True, kw_only=True)
class Flavour:
    """What kind of suite."""

    api: str
    judged: bool = False
    wrong: int = 0
    """Every how manieth case fails."""
    cases: int = 60
    failing: bool = True
    """Whether every tenth case has no answer in the batch, and one in forty none at all."""

    @property
    def fates(self) -> dict[str, int | None]:
        numbers = range(3, self.cases, 10) if self.failing else ()
        return {case_name(n): REASONS[n // 10 % 4] for n in numbers}

    @property
    def refused(self) -> dict[str, int]:
        return {case_name(n): 400 for n in range(3, self.cases, 40)} if self.failing else {}


@dataclass(frozen=True, kw_only=True)
class Control:
    """What a run that nobody disturbs comes to."""

    flavour: Flavour
    code: int
    rows: list[dict[str, Any]]
    export: list[dict[str, Any]]
    summary: Mapping[str, Any]


@dataclass
class Told:
    """What happened in a story, and what should not have."""

    workers: int
    stages: list[str] = field(default_factory=list)
    """How far the run was at each kill."""
    in_resume: int = 0
    cut: int = 0
    """How often the journal was cut at a byte after a kill."""
    settled: int = 0
    """How often that was done to a run that had come to its end before."""
    repeated: int = 0
    """Requests that were sent singly, or to a judge, once more since they had been in flight."""
    broken: list[str] = field(default_factory=list)


def vendor_of(flavour: Flavour) -> BatchVendor:
    """Who answers; one for a control and its stories, since rows tell of its address."""
    return BatchVendor(fates=flavour.fates, single_fates=flavour.refused, polls=3, delays=DELAYS)


def control(flavour: Flavour, vendor: BatchVendor, folder: Path) -> Control:
    """Run it once, undisturbed."""
    vendor.forget()
    project = _project(flavour, folder, vendor)
    process = _start(project, "eval", "a.eval.yaml", *_ENDED, "--out", _RUN, "--workers", "8")
    code = process.wait(_LONGEST_SECONDS)
    assert len(vendor.batches) == 1
    return _outcome(project, flavour, code)


def story(
    known: Control,
    vendor: BatchVendor,
    folder: Path,
    rng: random.Random,
    *,
    kills: int | None = None,
    cuts: bool = False,
) -> Told:
    """Kill a run at random moments, go on with it each time, and look at what there is.

    Args:
        known: What it must come to.
        vendor: That answered there.
        folder: Made.
        rng: Chooses the moments.
        kills: How many, at most.
        cuts: Whether the files of the run are cut at some byte after a kill.
    """
    flavour = known.flavour
    told = Told(workers=rng.choice(WORKERS))
    allowed: Counter[tuple[str, str]] = Counter()
    kept: set[bytes] = set()
    vendor.forget()
    project = _project(flavour, folder, vendor)
    run = project.folder / _RUN
    wanted = kills or rng.randint(1, 4)
    while True:
        before = _asked(vendor)
        is_resume = (run / "run.json").exists()
        is_deadly = len(told.stages) < wanted
        process = _go_on(project, told, rng)
        if is_deadly:
            _kill(process, vendor, rng)
        code = process.wait(_LONGEST_SECONDS)
        lines = set(whole_lines(run / "results.jsonl"))
        told.broken += [f"a row was lost: {row[:90]!r}" for row in kept - lines]
        if code >= 0:
            break
        told.in_resume += is_resume
        told.stages.append(_stage(project, vendor, run))
        asked = _asked_in_the_end(vendor)
        flying = set(asked - before) - recorded(run)
        if len(flying) > told.workers:
            told.broken.append(f"{len(flying)} in flight with {told.workers} workers")
        if cuts and _is_cut(run, rng):
            told.cut += 1
            # What was in rows that all were there is paid again: nobody keeps it any longer.
            is_gone = bool(vendor.batches) and not project.ledger_files
            told.settled += is_gone or told.settled > 0
            flying = set(asked) - recorded(run)
        allowed.update(flying)
        kept = set(whole_lines(run / "results.jsonl"))
    _check(told, known, project, vendor, allowed, code)
    return told


def _check(
    told: Told,
    known: Control,
    project: BatchProject,
    vendor: BatchVendor,
    allowed: Counter[tuple[str, str]],
    code: int,
) -> None:
    asked = _asked(vendor)
    told.repeated = asked.total() - len(asked)
    for asking, times in asked.items():
        if times > 1 + allowed[asking]:
            told.broken.append(f"{asking} was asked {times} times, {allowed[asking]} in flight")
    if not 1 <= len(vendor.batches) <= 1 + told.settled:
        told.broken.append(f"{len(vendor.batches)} batches are paid")
    if others := set(vendor.singles) - known.flavour.fates.keys():
        told.broken.append(f"sent singly for nothing: {sorted(others)}")
    if left := [path.name for path in project.ledger]:
        told.broken.append(f"left in the ledger: {left}")
    if (project.folder / _RUN / "steps.jsonl").exists():
        told.broken.append("steps are left")
    here = _outcome(project, known.flavour, code)
    for what in ("code", "rows", "export", "summary"):
        found, expected = getattr(here, what), getattr(known, what)
        if found != expected:
            told.broken.append(f"{what}: {_difference(found, expected):.400}")


def _difference(found: Any, expected: Any) -> str:
    """The first place where two things differ."""
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        pairs = list(zip(found, expected, strict=True))
        return next((_difference(a, b) for a, b in pairs if a != b), "")
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        keys = {**found, **expected}
        own = [key for key in keys if found.get(key) != expected.get(key)]
        return f"{own[0]}: {_difference(found.get(own[0]), expected.get(own[0]))}"
    return f"{found!r} is not {expected!r}"


def _project(flavour: Flavour, folder: Path, vendor: BatchVendor) -> BatchProject:
    return BatchProject(
        folder,
        vendor,
        flavour.api,
        cases=flavour.cases,
        judged=flavour.judged,
        wrong=flavour.wrong,
    )


_ENDED = ("--json", "--export", "export.jsonl")


def _go_on(project: BatchProject, told: Told, rng: random.Random) -> "subprocess.Popen[bytes]":
    if (project.folder / _RUN / "run.json").exists() and rng.random() < 0.5:
        return _start(project, "resume", _RUN, *_ENDED)
    options = ("--out", _RUN, "--workers", str(told.workers), "--resume")
    return _start(project, "eval", "a.eval.yaml", *_ENDED, *options)


def _start(project: BatchProject, *command: str) -> "subprocess.Popen[bytes]":
    """With its output in files: a pipe would have to be read."""
    out, err = project.folder / "stdout", project.folder / "stderr"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        return project.spawn(*command, stdout=stdout, stderr=stderr)


def _kill(process: "subprocess.Popen[bytes]", vendor: BatchVendor, rng: random.Random) -> None:
    """While it starts, or some time after it has asked for something, unless it ends before."""
    step = rng.choice((None, None, "single", *DELAYS))
    before = vendor.seen.copy()

    def is_due() -> bool:
        news = vendor.seen - before
        return news[step] > 0 if step else news.total() > 0

    early = time.monotonic() + rng.random() if rng.random() < _EARLY else None
    _until(process, lambda: is_due() if early is None else time.monotonic() > early)
    if early is None:
        late = time.monotonic() + rng.uniform(0.0, DELAYS[step] * 6 if step else 1.0)
        _until(process, lambda: time.monotonic() > late)
    process.send_signal(signal.SIGKILL)


def _until(process: "subprocess.Popen[bytes]", is_so: Callable[[], bool]) -> None:
    while process.poll() is None and not is_so():
        time.sleep(0.001)


def _stage(project: BatchProject, vendor: BatchVendor, run: Path) -> str:
    """How far a killed run had come."""
    if vendor.judged:
        return "judging"
    if whole_lines(run / "results.jsonl"):
        return "handing out"
    if whole_lines(run / "steps.jsonl"):
        return "answered"
    parts = [p for path in project.ledger_files for p in json.loads(path.read_bytes())["parts"]]
    if not any(part["asked"] for part in parts):
        return "before asking"
    if not any(part["batch_id"] for part in parts):
        return "made, not noted" if vendor.batches else "asked, not made"
    return "fetching" if vendor.seen["results"] else "polling"


def _asked(vendor: BatchVendor) -> Counter[tuple[str, str]]:
    """Who was asked, and of which case."""
    singly = [("default", _id(case)) for case in list(vendor.singles)]
    return Counter([*singly, *(("judge", _id(case)) for case in list(vendor.judged))])


def _asked_in_the_end(vendor: BatchVendor) -> Counter[tuple[str, str]]:
    """The same once nothing more is coming."""
    before = -1
    while (now := vendor.seen.total()) != before:
        before = now
        time.sleep(_QUIET_SECONDS)
    return _asked(vendor)


def _id(case: str) -> str:
    return f"c{int(case.removeprefix('case '))}"


def _is_cut(run: Path, rng: random.Random) -> bool:
    is_cut = False
    for name in ("results.jsonl", "steps.jsonl"):
        path = run / name
        if path.exists() and rng.random() < 0.7:
            is_cut = True
            with path.open("r+b") as file:
                file.truncate(rng.randint(0, path.stat().st_size))
    return is_cut


def _outcome(project: BatchProject, flavour: Flavour, code: int) -> Control:
    try:
        report = json.loads((project.folder / "stdout").read_text())
    except ValueError:
        report = {}
    return Control(
        flavour=flavour,
        code=code,
        rows=comparable_rows(project.folder / _RUN / "results.jsonl"),
        export=comparable_rows(project.folder / "export.jsonl"),
        summary={key: value for key, value in report.items() if key not in _OF_ONE_RUN},
    )
