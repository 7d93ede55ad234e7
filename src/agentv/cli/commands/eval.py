"""`agentv eval`: its options, folded into one record."""

from pathlib import Path
from typing import Any

import click

from agentv.cli import parameters

_DUMP_DEFAULT = ".agentv/prompts"


class PathsFirst(click.Command):
    """The value of `--resume` may be left out, so a path behind it is taken for one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Say so where it leaves no paths."""
        resumes = "--resume" in args
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter as error:
            if not resumes:
                raise
            hint = "What stands behind --resume is taken for a run: put the paths before it."
            raise click.UsageError(f"{error.format_message()} {hint}", ctx) from error


@click.command("eval", cls=PathsFirst, context_settings={"max_content_width": 100})
@parameters.EVAL_PATHS
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="NAME",
    help="Run the suites on this target instead of their own; repeat for several. "
    "A case that names its own target keeps it.",
)
@parameters.targets_file("The targets file; found from the suite upwards when not given.")
@click.option(
    "--eval-id",
    "eval_ids",
    multiple=True,
    metavar="GLOB",
    help="Run only the cases whose id matches; repeat for several.",
)
@click.option(
    "--shard",
    callback=parameters.one_shard,
    metavar="K/N",
    help="Run only the K-th of N equal parts, on N machines say; `agentv merge` joins them.",
)
@parameters.workers(
    "Trials in flight at once, over all suites.  [default: the target's `workers`, or 1]"
)
@click.option(
    "--agent-timeout",
    type=parameters.SECONDS,
    metavar="SECONDS",
    help="Limit of one attempt.  [default: the target's `timeout_seconds`, or 120]",
)
@click.option(
    "--max-retries",
    type=click.IntRange(min=0),
    default=2,
    show_default=True,
    metavar="N",
    help="Attempts that may follow a time-out.",
)
@parameters.threshold("A case passes at this score.  [default: the suite's, or 0.8]")
@parameters.min_pass_rate(
    "The gate: this share of all cases must pass.  [default: the suite's, or 1.0]"
)
@parameters.budget_usd(
    "Start no further trial once calls are known to have cost this much; the run is then "
    "incomplete."
)
@click.option(
    "--cache",
    is_flag=True,
    help="Take answers that were given before from .agentv/cache, and keep new ones there.",
)
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Record what targets are asked and what they answer in the cassette DIR, without secrets.",
)
@click.option(
    "--replay",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Take every answer from the cassette DIR: no network, no keys; what was not recorded is "
    "an error that names the nearest recording.",
)
@parameters.out("The run's folder.  [default: .agentv/results/<run id>]")
@click.option(
    "--resume",
    is_flag=False,
    flag_value="",
    metavar="[RUN]",
    help="Go on with a run: rows that stand are kept, answers that were had are only judged.  "
    "[RUN: the folder of --out, or the last run of these suites]",
)
@click.option(
    "--retry-errors",
    is_flag=True,
    help="With --resume: try trials again that ended in an error.",
)
@parameters.exports(
    "Also write the rows to FILE, in the format of its suffix (.jsonl, .yaml); repeatable."
)
@click.option("--dry-run", is_flag=True, help="Rehearse: ask no target, score nothing.")
@click.option(
    "--dry-run-delay",
    type=click.FloatRange(min=0),
    default=0,
    metavar="MS",
    help="How long each rehearsed answer takes.",
)
@click.option(
    "--dry-run-delay-min",
    type=click.FloatRange(min=0),
    metavar="MS",
    help="Shortest rehearsed answer; with --dry-run-delay-max.",
)
@click.option(
    "--dry-run-delay-max",
    type=click.FloatRange(min=0),
    metavar="MS",
    help="Longest rehearsed answer.",
)
@click.option(
    "--dump-prompts",
    is_flag=False,
    flag_value=_DUMP_DEFAULT,
    metavar="[DIR]",
    type=click.Path(path_type=Path),
    help=f"Write what each case was asked, one JSON file a case.  [DIR: {_DUMP_DEFAULT}]",
)
@click.option("--seed", type=int, default=0, show_default=True, help="For everything random.")
@parameters.VERBOSE
@parameters.shared_help
def eval_command(**given: Any) -> int:
    """Run eval suites and leave a run.

    PATHS are eval files, folders or globs. The run is a folder with `run.json` (what was asked)
    and `results.jsonl` (one row a trial, written as trials finish).
    """
    from agentv.cli.run_eval import EvalOptions, run_eval

    return run_eval(EvalOptions(**given))
