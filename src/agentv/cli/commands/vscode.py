"""`agentv vscode`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from agentv.cli.groups import ForgivingGroup
from agentv.cli.parameters import SECONDS, json_only

F = TypeVar("F", bound=Callable[..., Any])


def _whose(command: F) -> F:
    """Which workers are meant, worded the same everywhere."""
    root = click.option(
        "--root",
        metavar="DIR",
        type=click.Path(path_type=Path, file_okay=False),
        help="The workers' folder.  [default: ~/.subagent/vscode-agents, or "
        "vscode-insiders-agents beside it]",
    )
    insiders = click.option("--insiders", is_flag=True, help="Those of VS Code Insiders.")
    return insiders(root(command))


def _dry_run(command: F) -> F:
    option = click.option("--dry-run", is_flag=True, help="Only say what would be done.")
    return option(command)


@click.group("vscode", cls=ForgivingGroup)
def vscode_command() -> None:
    """Manage the workers of `vscode` and `vscode-insiders` targets.

    A worker is a folder with a VS Code window of its own, which takes one request at a time. The
    npm tool `subagent` uses the same folders.
    """


@vscode_command.command("provision")
@click.option(
    "--subagents",
    "number",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many workers there are to be.",
)
@_whose
@click.option("--force", is_flag=True, help="Write the files of workers that are there anew.")
@_dry_run
def provision_command(**given: Any) -> int:
    """Make workers, so that as many requests can be in flight."""
    from agentv.cli.run_vscode import run_provision

    return run_provision(**given)


@vscode_command.command("list")
@_whose
@json_only
def list_command(**given: Any) -> int:
    """Show the workers, and who uses them."""
    from agentv.cli.run_vscode import run_list

    return run_list(**given)


@vscode_command.command("unlock")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "every", is_flag=True, help="Every worker.")
@_whose
@click.option("--force", is_flag=True, help="Also where the owner still lives.")
@_dry_run
def unlock_command(**given: Any) -> int:
    """Remove the locks that were left behind.

    A run does that itself for owners that are known to be gone. The lock of another program, or of
    another machine, is only known to be left behind when it is an hour old.
    """
    from agentv.cli.run_vscode import run_unlock

    return run_unlock(**given)


@vscode_command.command("warmup")
@click.option(
    "--subagents",
    "number",
    metavar="N",
    type=click.IntRange(min=1),
    help="How many windows.  [default: all]",
)
@_whose
@click.option("--executable", metavar="PROGRAM", help="VS Code's command line.")
@click.option(
    "--timeout",
    "seconds",
    type=SECONDS,
    default=60.0,
    show_default=True,
    help="Seconds each window may take.",
)
@_dry_run
def warmup_command(**given: Any) -> int:
    """Open the workers' windows and see that their agents answer."""
    from agentv.cli.run_vscode import run_warmup

    return run_warmup(**given)
