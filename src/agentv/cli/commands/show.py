"""`agentv show`."""

from typing import Any

import click

from agentv.cli import parameters


@click.command("show")
@parameters.RUN
@parameters.json_only
def show_command(run: str, **given: Any) -> int:
    """Show the summary of a past run, recomputed from its rows.

    RUN is a folder, a run's id or the beginning of one, `latest` (the default) or `latest~1`.
    The exit code is the run's own.
    """
    from agentv.cli.run_show import show_run

    return show_run(run, as_json=given["as_json"])
