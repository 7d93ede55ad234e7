"""`agentv resume`: `agentv eval --resume`, with the arguments out of the run's own manifest."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentv.cli.run_eval import EvalOptions, run_eval
from agentv.errors import SetupError
from agentv.execution import RESULTS_ROOT
from agentv.storage.manifest import read_manifest
from agentv.storage.run_folder import find_run


@dataclass(frozen=True, kw_only=True)
class ResumeOptions:
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
    recorded = read_manifest(folder.manifest_path).arguments
    if not recorded.get("paths"):
        raise SetupError(
            f"The run {options.run} was not started by `agentv eval`, so how it was started is not "
            "known; start it again where it came from."
        )
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
    return run_eval(EvalOptions.recalled(recorded, **changes))
