"""`agentv show` and `agentv export`: a past run, recomputed from its rows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentv.assembly.comparing import flips_since
from agentv.cli.console import out, paint, print_json, visible
from agentv.cli.summary import report_json, summary_lines
from agentv.core.gate import decide
from agentv.core.summary import summarise
from agentv.errors import ExitCode
from agentv.execution.places import RESULTS_ROOT
from agentv.execution.report import RunReport
from agentv.exporters.base import export, exporter_for
from agentv.storage.finding import find_run
from agentv.storage.manifest import read_manifest
from agentv.storage.rows import open_rows
from agentv.storage.run_folder import RunFolder


def show_run(reference: str, *, as_json: bool) -> int:
    """Print a run's summary and return the exit code that the run deserves."""
    report = load_report(reference)
    if as_json:
        print_json(report_json(report))
    else:
        for line in summary_lines(report):
            out(line)
    return report.exit_code


def export_run(reference: str, files: Sequence[Path], *, as_json: bool) -> int:
    """Write a run's rows to each file."""
    folder = find_run(reference, RESULTS_ROOT)
    run_id = read_manifest(folder.manifest_path).run_id
    for path in files:
        exporter_for(path)  # all names are looked at before the first file is written
    for path in files:
        export(open_rows(folder.journal_path, dict[str, Any]), path)
        if not as_json:
            out(f"{paint('wrote', 'good')} {visible(str(path))}")
    if as_json:
        written = [str(path) for path in files]
        print_json({"exit_code": 0, "run_id": run_id, "folder": str(folder.path), "files": written})
    return ExitCode.OK


def load_report(reference: str) -> RunReport:
    """A past run, from its folder, its id or `latest`.

    Raises:
        SetupError: There is no such run, or it cannot be read.
    """
    return report_of(find_run(reference, RESULTS_ROOT))


def report_of(folder: RunFolder) -> RunReport:
    """What came of a run, from its folder.

    Raises:
        SetupError: It cannot be read.
    """
    manifest = read_manifest(folder.manifest_path)
    summary = summarise(manifest, open_rows(folder.journal_path))
    return RunReport(
        folder=folder,
        manifest=manifest,
        summary=summary,
        decision=decide(summary),
        flips=flips_since(folder, manifest, RESULTS_ROOT),
    )
