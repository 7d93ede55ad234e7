"""`agentv rerun`: trials of an earlier run, asked anew in a new run."""

from pathlib import Path

import msgspec

from agentv.assembly.earlier import Rerun
from agentv.cli.recalling import options_of_new_run
from agentv.cli.run_eval import run_eval
from agentv.execution.places import RESULTS_ROOT
from agentv.model.base import Record
from agentv.storage.finding import find_run


class RerunOptions(Record, frozen=True, kw_only=True):
    """What was typed."""

    run: str
    failed: bool
    errors: bool
    eval_ids: tuple[str, ...]
    workers: int | None
    budget_usd: float | None
    out: Path | None
    exports: tuple[Path, ...]
    verbose: bool
    as_json: bool
    quiet: bool


def run_rerun(options: RerunOptions) -> int:
    """Ask the chosen trials anew and return the exit code of these."""
    origin = Rerun(
        folder=find_run(options.run, RESULTS_ROOT),
        failed=options.failed,
        errors=options.errors,
        eval_ids=options.eval_ids,
    )
    replaced = ("workers", "budget_usd")
    recalled = options_of_new_run(origin.folder, options.run, options, replaced)
    # Its trials are listed one by one: they are no shard of the plan as it is now.
    return run_eval(msgspec.structs.replace(recalled, shard=None), origin)
