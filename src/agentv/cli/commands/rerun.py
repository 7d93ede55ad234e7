"""`agentv rerun`."""

from typing import Any

import click

from agentv.cli import parameters


@click.command("rerun", context_settings={"max_content_width": 100})
@parameters.RUN
@click.option("--failed", is_flag=True, help="The trials that failed.")
@click.option("--errors", is_flag=True, help="The trials that ended in an error.")
@click.option(
    "--eval-id",
    "eval_ids",
    multiple=True,
    metavar="GLOB",
    help="The trials of cases whose id matches; repeat for several.",
)
@parameters.workers("Trials in flight at once.  [default: as the run was started]")
@parameters.budget_usd("What the new run may cost.  [default: as the run was started]")
@parameters.out("The new run's folder.  [default: .agentv/results/<run id>]")
@parameters.exports("Also write the new rows to FILE, in the format of its suffix; repeatable.")
@parameters.VERBOSE
@parameters.shared_help
def rerun_command(run: str, **given: Any) -> int:
    """Ask trials of a past run anew, in a new run of these trials alone.

    RUN is a folder, a run's id or the beginning of one, `latest` (the default) or `latest~1`. With
    several of --failed, --errors and --eval-id, each trial that one of them means is asked; with
    none, all are. The gate holds the chosen trials against the suites' shares.
    """
    from agentv.cli.run_rerun import RerunOptions, run_rerun

    return run_rerun(RerunOptions(run=run, **given))
