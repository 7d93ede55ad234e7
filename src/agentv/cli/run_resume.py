"""`agentv resume`: `agentv eval --resume`, with the arguments out of the run's own manifest."""

from pathlib import Path
from typing import Any

from agentv.cli.recalling import recalled_options
from agentv.cli.run_eval import run_eval
from agentv.execution.places import RESULTS_ROOT
from agentv.model.base import Record
from agentv.storage.finding import find_run


class ResumeOptions(Record, frozen=True, kw_only=True):
    """What was typed."""

    run: str
    retry_errors: bool
    workers: int | None
    budget_usd: float | None
    exports: tuple[Path, ...]
    verbose: bool
    as_json: bool
    quiet: bool


def run_resume(options: ResumeOptions) -> int:
    """Go on with the run and return the exit code of the whole of it."""
    folder = find_run(options.run, RESULTS_ROOT)
    changes: dict[str, Any] = {
        "resume": str(folder.path),
        "retry_errors": options.retry_errors,
        "verbose": options.verbose,
        "as_json": options.as_json,
        "quiet": options.quiet,
    }
    for name in ("workers", "budget_usd", "exports"):
        if given := getattr(options, name):
            changes[name] = given
    return run_eval(recalled_options(folder, options.run, **changes))
