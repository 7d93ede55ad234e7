"""What is measured, against what, and what is promised: times on two shared cores."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.inputs import LONG, SHORT, Form, write_suite
from benchmarks.past_runs import write_run, write_runs

Prepare = Callable[[Path], None]

_AGENTV = str(Path(sys.executable).with_name("agentv"))
_BARE = Path(__file__).with_name("bare")


@dataclass(frozen=True, kw_only=True)
class Contest:
    """One thing we do, and bare Python doing the same."""

    name: str
    says: str
    ours: tuple[str, ...]
    bare: tuple[str, ...]
    prepare: Prepare = lambda _folder: None
    """Writes the input into the folder in which both run."""
    seconds: float | None = None
    """Promised; `None` promises nothing."""
    peak_mb: float | None = None
    """Promised."""
    cpu_seconds: float | None = None
    """Promised."""
    stick: tuple[str, ...] = ()
    """Arguments of the API (`benchmarks.stick`) that both sides ask, at `$STICK_URL`."""
    most_rounds: int = 1_000
    """Of what takes long, fewer runs will do."""
    leaves: tuple[str, ...] = (".agentv", "results")
    """What a run of either side leaves, and what is gone before the next one."""
    rows: int = 0
    """How many rows a run of ours leaves; its results are measured too when there are any."""


def _agentv(*arguments: str) -> tuple[str, ...]:
    return _AGENTV, *arguments


def _bare(program: str, *arguments: str) -> tuple[str, ...]:
    return sys.executable, str(_BARE / program), *arguments


def _start(flag: str, seconds: float) -> Contest:
    return Contest(
        name=flag.strip("-"),
        says=f"agentv {flag}",
        ours=_agentv(flag),
        bare=(sys.executable, "-c", "pass"),
        seconds=seconds,
    )


def _cases(
    number: int, form: Form, seconds: float | None = None, peak_mb: float | None = None
) -> Contest:
    cases = f"{number:,} mock case{'' if number == 1 else 's'}"
    return Contest(
        name=f"{number}-{form}",
        says=f"eval of {cases} in {form.upper()}, one check each",
        ours=_agentv("eval", "--quiet", "suite.yaml"),
        bare=_bare("evaluate.py", "suite.yaml"),
        prepare=lambda folder: write_suite(folder, SHORT, number, form),
        seconds=seconds,
        peak_mb=peak_mb,
        rows=number,
    )


def _commands(number: int, workers: int, seconds: float) -> Contest:
    return Contest(
        name="commands",
        says=f"eval of {number} `echo` commands by {workers} workers",
        ours=_agentv("eval", "--quiet", "--workers", str(workers), "suite.yaml"),
        bare=_bare("commands.py", str(number), str(workers)),
        prepare=lambda folder: write_suite(folder, SHORT, number, target="echo"),
        seconds=seconds,
        rows=number,
    )


def _validate(number: int, form: Form, seconds: float) -> Contest:
    return Contest(
        name=f"validate-{form}",
        says=f"validate {number:,} cases in {form.upper()}",
        ours=_agentv("validate", "suite.yaml"),
        bare=_bare("read.py", "suite.yaml" if form == "yaml" else "cases.jsonl"),
        prepare=lambda folder: write_suite(folder, LONG, number, form),
        seconds=seconds,
    )


def _asking(
    name: str,
    number: int,
    workers: int,
    seconds: float,
    *,
    judged: bool = False,
    latency: float = 0.1,
    faults: bool = False,
    peak_mb: float | None = None,
) -> Contest:
    what = "case" if number == 1 else "cases"
    also = ", each judged" * judged + ", some of them faulty" * faults
    return Contest(
        name=f"llm-{name}",
        says=f"{number:,} LLM {what} by {workers}{also}",
        ours=_agentv("eval", "--quiet", "--workers", str(workers), "suite.yaml"),
        bare=_bare("ask.py", str(number), str(workers), "2" if judged else "1"),
        prepare=lambda folder: write_suite(folder, SHORT, number, target="llm", judged=judged),
        seconds=seconds,
        cpu_seconds=number * CPU_SECONDS_A_CASE if number >= 1_000 else None,
        peak_mb=peak_mb,
        stick=(str(latency), *(["faults"] if faults else [])),
        most_rounds=2 if seconds > 5 else 1_000,
        rows=number,
    )


def _show(rows: int, seconds: float, peak_mb: float) -> Contest:
    return Contest(
        name="show",
        says=f"show of a run with {rows:,} judged rows",
        ours=_agentv("show", "past"),
        bare=_bare("count_rows.py", "past"),
        prepare=lambda folder: write_run(folder / "past", rows),
        seconds=seconds,
        cpu_seconds=seconds,
        peak_mb=peak_mb,
    )


def _list(runs: int, rows: int, seconds: float) -> Contest:
    return Contest(
        name="runs",
        says=f"list of {runs} runs with {rows:,} judged rows each",
        ours=_agentv("runs", "--limit", str(runs)),
        bare=_bare("count_rows.py", *(f".agentv/results/{n}" for n in range(runs))),
        prepare=lambda folder: write_runs(folder / ".agentv" / "results", runs, rows),
        seconds=seconds,
        leaves=(),
    )


CPU_SECONDS_A_CASE = 0.001
"""Promised for cases that ask an API."""

CONTESTS = (
    _start("--version", 0.15),
    _start("--help", 0.25),
    _cases(1, "yaml", 0.35, 60),
    _cases(1_000, "yaml", 0.7),
    _cases(1_000, "jsonl", 0.7),
    _cases(10_000, "yaml", 2.0, 120),
    _cases(10_000, "jsonl", 2.0, 120),
    _cases(50_000, "jsonl"),
    _commands(200, 8, 0.8),
    _validate(10_000, "yaml", 1.5),
    _validate(10_000, "jsonl", 0.45),
    _show(100_000, 2.0, 150),
    _list(100, 1_000, 2.0),
    _asking("start", 1, 1, 0.5, latency=0.0),
    _asking("few", 1_000, 10, 10.8),
    _asking("many", 1_000, 100, 1.7),
    _asking("crowd", 5_000, 500, 2.5, peak_mb=120),
    _asking("judged", 500, 50, 2.8, judged=True),
    _asking("faults", 1_000, 50, 9.0, faults=True),
)

ROW_OVERHEAD_BYTES = 1024
"""Promised: what a row adds to the prompt and the answer that it holds."""
FILES_OF_A_RUN = 2
"""Promised: `run.json` and `results.jsonl`, however many cases there are."""
GROWTH = ("10000-jsonl", "50000-jsonl")
"""Suites in JSONL are read a case at a time, so peak memory hardly differs between these."""
GROWTH_BYTES_A_CASE = 256
"""Promised: what is remembered of a case is its id, the place of its line, and its score."""
