"""`agentv init`."""

from pathlib import Path

import click


@click.command("init")
@click.argument(
    "folder", default=".", type=click.Path(path_type=Path, file_okay=False), metavar="[FOLDER]"
)
@click.option("--force", is_flag=True, help="Overwrite files that are there and differ.")
def init_command(folder: Path, force: bool) -> int:
    """Write a starter suite that runs at once, without a key.

    Files that are there already are kept unless you agree to overwrite them.
    """
    from agentv.cli.run_init import run_init

    return run_init(folder, force=force)
