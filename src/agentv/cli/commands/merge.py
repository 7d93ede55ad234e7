"""`agentv merge`."""

from typing import Any

import click

from agentv.cli import parameters


@click.command("merge", context_settings={"max_content_width": 100})
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@parameters.out("The merged run's folder.  [default: .agentv/results/<run id>]")
@parameters.exports(
    "Also write the rows to FILE, in the format of its suffix (.jsonl, .yaml); repeatable."
)
@parameters.json_only
def merge_command(**given: Any) -> int:
    """Join the shards of a plan, or parts of a run, into one run.

    RUN is a folder, a run's id or the beginning of one, `latest` or `latest~1`. The runs stay as
    they are. What does not belong together is refused: other suites, settings or shards, and
    trials with two rows. The exit code is the merged run's own: without all of its shards it is
    incomplete.
    """
    from agentv.cli.run_merge import MergeOptions, run_merge

    return run_merge(MergeOptions(**given))
