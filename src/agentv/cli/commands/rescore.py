"""`agentv rescore`."""

from typing import Any

import click

from agentv.cli import parameters


@click.command("rescore", context_settings={"max_content_width": 100})
@parameters.RUN
@click.option(
    "--anew",
    multiple=True,
    metavar="GLOB",
    help="Judge anew by the evaluators whose name matches, although nothing that can be seen of "
    "them changed; repeat for several.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Say what would be judged anew, by whom, and about what it would cost; ask nobody.",
)
@parameters.targets_file("The targets file, for judges.  [default: as the run was started]")
@parameters.workers("Answers that are judged at once.  [default: as the run was started]")
@parameters.threshold(
    "A case passes at this score.  [default: as the run was started, else the suite's]"
)
@parameters.min_pass_rate(
    "The gate: this share of all cases must pass.  [default: as the run was started, else "
    "the suite's]"
)
@parameters.budget_usd(
    "What judges may cost before no further answer is taken up.  [default: as the run was started]"
)
@parameters.out("The new run's folder.  [default: .agentv/results/<run id>]")
@parameters.exports("Also write the new rows to FILE, in the format of its suffix; repeatable.")
@parameters.VERBOSE
@parameters.shared_help
def rescore_command(run: str, **given: Any) -> int:
    """Judge the answers of a past run anew, with the evaluators that its suites have now.

    RUN is a folder, a run's id or the beginning of one, `latest` (the default) or `latest~1`. It is
    left as it is: the verdicts make a new run. No candidate is asked; a verdict stands where
    neither the answer nor its evaluator changed. What flipped is told after the summary.
    """
    from agentv.cli.run_rescore import RescoreOptions, run_rescore

    return run_rescore(RescoreOptions(run=run, **given))
