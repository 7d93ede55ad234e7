"""`agentv validate`."""

from typing import Any

import click

from agentv.cli import parameters


@click.command("validate")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@parameters.targets_file("The targets file; found from each suite upwards when not given.")
@click.option(
    "--strict",
    is_flag=True,
    help="Warnings count as errors.",
)
@parameters.shared_help
def validate_command(**given: Any) -> int:
    """Check eval, targets and config files; every mistake at once.

    PATHS are files, folders or globs; the working directory when none is given. Exits 0 when
    everything is right, 2 when a file is wrong, 5 when nothing was checked or a suite asserts
    nothing.
    """
    from agentv.cli.run_validate import ValidateOptions, run_validate

    return run_validate(ValidateOptions(**given))
