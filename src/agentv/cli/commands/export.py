"""`agentv export`."""

from pathlib import Path

import click

from agentv.cli.parameters import json_only


@click.command("export")
@click.argument("run", metavar="RUN")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
@json_only
def export_command(run: str, files: tuple[Path, ...], as_json: bool) -> int:
    """Write a past run's rows in the format of each FILE's suffix (.jsonl, .yaml).

    RUN is a folder, a run's id or the beginning of one, `latest` or `latest~1`.
    """
    from agentv.cli.run_show import export_run

    return export_run(run, files, as_json=as_json)
