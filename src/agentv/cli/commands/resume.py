"""`agentv resume`."""

from typing import Any

import click

from agentv.cli import parameters


@click.command("resume", context_settings={"max_content_width": 100})
@parameters.RUN
@click.option("--retry-errors", is_flag=True, help="Try trials again that ended in an error.")
@parameters.workers("Trials in flight at once.  [default: as the run was started]")
@parameters.budget_usd(
    "What the whole run may cost, with what is spent.  [default: as the run was started]"
)
@parameters.exports("Also write the rows to FILE.  [default: as the run was started]")
@parameters.VERBOSE
@parameters.shared_help
def resume_command(run: str, **given: Any) -> int:
    """Go on with a run, with the arguments that it was started with.

    RUN is a folder, a run's id or the beginning of one, `latest` (the default) or `latest~1`. Rows
    that stand are kept, answers that were had are only judged, the rest is asked.
    """
    from agentv.cli.run_resume import ResumeOptions, run_resume

    return run_resume(ResumeOptions(run=run, **given))
