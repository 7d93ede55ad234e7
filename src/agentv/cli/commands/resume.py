"""`agentv resume`."""

from pathlib import Path
from typing import Any

import click

from agentv.cli.parameters import AMOUNT, shared_help


@click.command("resume", context_settings={"max_content_width": 100})
@click.argument("run", default="latest", metavar="[RUN]")
@click.option("--retry-errors", is_flag=True, help="Try trials again that ended in an error.")
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
    help="What the whole run may cost, with what is spent.  [default: as the run was started]",
)
@click.option(
    "--export",
    "exports",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write the rows to FILE.  [default: as the run was started]",
)
@click.option("--verbose", is_flag=True, help="Say more: commands run, retries, fallbacks.")
@shared_help
def resume_command(run: str, **given: Any) -> int:
    """Go on with a run, with the arguments that it was started with.

    RUN is a folder, a run's id or the beginning of one, `latest` (the default) or `latest~1`. Rows
    that stand are kept, answers that were had are only judged, the rest is asked.
    """
    from agentv.cli.run_resume import ResumeOptions, run_resume

    return run_resume(ResumeOptions(run=run, **given))
