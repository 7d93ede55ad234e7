"""`agentv runs`: every run on a line, the newest first."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal

import msgspec

from agentv.cli.amounts import counted
from agentv.cli.console import err, one_line, out, paint, print_json, visible, whole_line
from agentv.cli.run_show import report_of
from agentv.cli.summary import counts_json
from agentv.core.money import dollars
from agentv.errors import ExitCode, SetupError
from agentv.execution.places import RESULTS_ROOT
from agentv.execution.report import RunReport
from agentv.model.base import Record
from agentv.model.summary import UsageSum
from agentv.storage.finding import newest_first, remains, where_runs_are
from agentv.storage.run_folder import RunFolder
from agentv.storage.run_lock import writer_of

State = Literal["complete", "incomplete", "running", "unreadable"]

_HEADER = ("run", "started (UTC)", "suites", "targets", "pass rate", "cost", "state")
_WIDEST = 32
_REMOVE_IT = "`agentv runs rm` removes it."


class Listed(Record, frozen=True, kw_only=True):
    """A run as the list shows it."""

    folder: RunFolder
    state: State
    report: RunReport | None
    """`None` when it cannot be read."""
    problem: str | None = None
    """Why not."""


def list_runs(*, limit: int, as_json: bool) -> int:
    """Print the newest runs, read anew from their rows."""
    folders = [*newest_first(RESULTS_ROOT), *remains(RESULTS_ROOT)]
    runs = map(listed, islice(folders, limit))
    if as_json:
        print_json({"total": len(folders), "runs": [run_json(run) for run in runs]})
        return ExitCode.OK
    if not folders:
        out(where_runs_are(RESULTS_ROOT))
        return ExitCode.OK
    shown = [*runs]
    for line in _table([_HEADER, *map(_cells, shown)]):
        out(line)
    for run in shown:
        if run.problem is not None:
            err(f"{paint('warning:', 'warn', err=True)} {visible(run.problem)}")
    if more := len(folders) - len(shown):
        out(f"  … and {more:,} more: --limit {len(folders)} shows all")
    return ExitCode.OK


def listed(folder: RunFolder) -> Listed:
    """Look at one run; one that cannot be read must not hide the others."""
    # Asked first: a run that ends in between is then shown with all its rows.
    writer = writer_of(folder.lock_path)
    if not folder.manifest_path.exists():
        if writer:
            return Listed(folder=folder, state="running", report=None)
        problem = f"{folder.path} has no run.json: nothing can be told of it. {_REMOVE_IT}"
        return Listed(folder=folder, state="unreadable", report=None, problem=problem)
    try:
        report = report_of(folder)
    except SetupError as error:
        return Listed(folder=folder, state="unreadable", report=None, problem=str(error))
    done: State = "complete" if report.summary.is_complete else "incomplete"
    return Listed(folder=folder, state="running" if writer else done, report=report)


def run_json(run: Listed) -> dict[str, Any]:
    """A run as plain data; the same keys for every run."""
    plain: dict[str, Any] = {
        "run_id": run.folder.path.name,
        "folder": str(run.folder.path),
        "state": run.state,
        "problem": run.problem,
        **dict.fromkeys(("started", "dry_run", "shard", "counts", "cost_usd", "exit_code")),
        **dict.fromkeys(("rescored_from", "rerun_of", "replayed")),
        **{name: [] for name in ("resumed", "suites", "targets", "merged")},
    }
    if (report := run.report) is not None:
        manifest, summary = report.manifest, report.summary
        plain |= {
            "run_id": manifest.run_id,
            "started": manifest.started,
            "resumed": list(manifest.resumed),
            "suites": [{"path": s.path, "dataset": s.dataset} for s in manifest.suites],
            "targets": _targets(report),
            "dry_run": manifest.dry_run,
            "shard": msgspec.to_builtins(manifest.shard),
            "merged": msgspec.to_builtins(manifest.merged),
            "rescored_from": msgspec.to_builtins(manifest.rescored_from),
            "rerun_of": msgspec.to_builtins(manifest.rerun_of),
            "replayed": manifest.replayed,
            "counts": counts_json(summary.counts),
            "cost_usd": msgspec.to_builtins(summary.cost_usd),
            "exit_code": None if run.state == "running" else int(report.exit_code),
        }
    return plain


def started(time: str) -> str:
    """`2026-11-21 07:08` of a manifest's time."""
    return one_line(time[:16].replace("T", " "))


def _cells(run: Listed) -> tuple[str, ...]:
    report = run.report
    if report is None:
        return run.folder.path.name, *("-",) * 5, run.state
    counts = report.summary.counts
    rate = "-" if report.manifest.dry_run else f"{counts.passed} of {counts.total}"
    if not report.manifest.dry_run and counts.pass_rate is not None:
        rate = f"{counts.pass_rate:.3f} ({rate})"
    return (
        run.folder.path.name,
        started(report.manifest.started),
        ", ".join(report.manifest.datasets),
        ", ".join(_targets(report)),
        rate,
        _cost(report.summary.cost_usd),
        _state(run, report),
    )


def _state(run: Listed, report: RunReport) -> str:
    manifest, counts = report.manifest, report.summary.counts
    words: list[str] = [run.state]
    if run.state != "complete":
        words = [f"{run.state} {counts.total - counts.missing} of {counts.total}"]
    if manifest.dry_run:
        words.append("dry run")
    if manifest.shard is not None:
        words.append(f"shard {manifest.shard}")
    if manifest.merged:
        words.append(f"of {counted(len(manifest.merged), 'run')}")
    if (link := manifest.rerun_of) is not None:
        words.append(f"rerun of {link.run_id}")
    if (answers := manifest.rescored_from) is not None:
        words.append(f"rescored from {answers.run_id}")
    if manifest.replayed is not None:
        words.append("replay")
    return ", ".join(words)


def _cost(cost: UsageSum) -> str:
    if cost.total is None:
        return "-"
    return f"{dollars(cost.total)}{'+' if cost.unknown else ''}"


def _targets(report: RunReport) -> list[str]:
    """Those that have rows; before there is one, all that the plan names."""
    asked = [target.name for target in report.summary.targets]
    return asked or [target.name for target in report.manifest.targets]


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    # A run's name is never shortened: it is what one types. Neither is what nothing stands behind.
    cells = [
        [whole_line(name), *(one_line(cell, _WIDEST) for cell in row), whole_line(last)]
        for name, *row, last in rows
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for number, row in enumerate(cells):
        line = f"  {'  '.join(_padded(row, widths))}".rstrip()
        yield line if number else paint(line, "dim")


def _padded(row: Iterable[str], widths: Iterable[int]) -> Iterator[str]:
    return (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
