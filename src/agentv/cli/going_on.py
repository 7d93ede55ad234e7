"""How a run that lacks rows is gone on with, in a line of its summary."""

import shlex
from collections.abc import Iterator

from agentv.cli.console import visible
from agentv.errors import ExitCode
from agentv.execution.places import RESULTS_ROOT
from agentv.execution.report import RunReport
from agentv.storage.run_folder import RunFolder
from agentv.storage.run_lock import writer_of


def going_on_lines(report: RunReport) -> Iterator[str]:
    """`go on       agentv resume nightly`, where that would do something."""
    if report.summary.is_complete or not report.manifest.arguments.get("paths"):
        return
    if report.manifest.rescored_from is not None and not was_cut_short(report):
        return  # what is missing has no answer that fits, and nobody is asked for one
    if writer := writer_of(report.folder.lock_path):
        yield f"  writer      {visible(writer)}"
        return
    budget = report.summary.budget
    more = " --budget-usd AMOUNT" if budget and budget.is_reached else ""
    yield f"  go on       agentv resume {visible(_named(report.folder))}{more}"


def was_cut_short(report: RunReport) -> bool:
    """Whether more rows would be there had nothing come in between."""
    budget = report.summary.budget
    interrupted = report.exit_code == ExitCode.INTERRUPTED
    return interrupted or report.aborted is not None or bool(budget and budget.is_reached)


def _named(folder: RunFolder) -> str:
    """As `agentv resume` takes it."""
    is_at_home = folder.path.absolute().parent == RESULTS_ROOT.absolute()
    return shlex.quote(folder.path.name if is_at_home else str(folder.path))
