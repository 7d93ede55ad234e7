"""`agentv rerun`."""

from pathlib import Path
from typing import Any

import click

from agentv.cli.parameters import AMOUNT, shared_help


@click.command("rerun", context_settings={"max_content_width": 100})
@click.argument("run", default="latest", metavar="[RUN]")
@click.option("--failed", is_flag=True, help="The trials that failed.")
@click.option("--errors", is_flag=True, help="The trials that ended in an error.")
@click.option(
    "--eval-id",
    "eval_ids",
    multiple=True,
    metavar="GLOB",
    help="The trials of cases whose id matches; repeat for several.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Trials in flight at once.  [default: as the run was started]",
)
@click.option(
    "--budget-usd",
    type=AMOUNT,
    metavar="AMOUNT",
    help="What the new run may cost.  [default: as the run was started]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The new run's folder.  [default: .agentv/results/<run id>]",
)
@click.option(
    "--export",
    "exports",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write the new rows to FILE, in the format of its suffix; repeatable.",
)
@click.option("--verbose", is_flag=True, help="Say more: commands run, retries, fallbacks.")
@shared_help
def rerun_command(run: str, **given: Any) -> int:
    """Ask trials of a past run anew, in a new run of these trials alone.

    RUN is a folder, a run's id or the beginning of one, `latest` (the default) or `latest~1`. With
    several of --failed, --errors and --eval-id, each trial that one of them means is asked; with
    none, all are. The gate holds the chosen trials against the suites' shares.
    """
    from agentv.cli.run_rerun import RerunOptions, run_rerun

    return run_rerun(RerunOptions(run=run, **given))
