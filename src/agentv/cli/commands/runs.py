"""`agentv runs`."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from agentv.cli.groups import ForgivingGroup
from agentv.cli.parameters import json_only

F = TypeVar("F", bound=Callable[..., Any])

_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def _age(ctx: click.Context, param: click.Parameter, value: str | None) -> timedelta | None:
    """`30d`, `12h`, `2w`."""
    if value is None:
        return None
    written = re.fullmatch(r"([0-9]{1,4})([hdw])", value.strip(), re.ASCII)
    if written is None:
        message = f"'{value}' is no age; say it in hours, days or weeks: 12h, 30d, 2w."
        raise click.BadParameter(message, ctx, param)
    return timedelta(**{_UNITS[written[2]]: int(written[1])})


def _removing(command: F) -> F:
    """Options of what removes runs, worded the same everywhere."""
    dry_run = click.option("--dry-run", is_flag=True, help="Only say what would go.")
    agreed = click.option("--yes", "agreed", is_flag=True, help="Do not ask first.")
    return agreed(dry_run(json_only(command)))


def _listing(command: F) -> F:
    """Options of the list, which can be had in two ways."""
    limit = click.option(
        "--limit",
        type=click.IntRange(min=1),
        default=20,
        show_default=True,
        metavar="N",
        help="The newest N.",
    )
    return limit(json_only(command))


@click.group(
    "runs",
    cls=ForgivingGroup,
    invoke_without_command=True,
    context_settings={"max_content_width": 100},
)
@_listing
@click.pass_context
def runs_command(context: click.Context, limit: int, as_json: bool) -> int:
    """List the runs of .agentv/results, the newest first, or remove some.

    Every number is computed anew from a run's rows. The pass rate is of all planned trials; `+`
    behind a cost means that some calls did not tell theirs.
    """
    if (command := context.invoked_subcommand) is not None:
        for option in ("limit", "as_json"):
            if context.get_parameter_source(option) is ParameterSource.COMMANDLINE:
                raise click.UsageError(f"Options go behind '{command}'.", context)
        return 0
    from agentv.cli.run_list import list_runs

    return list_runs(limit=limit, as_json=as_json)


@runs_command.command("list")
@_listing
def list_command(limit: int, as_json: bool) -> int:
    """List the runs, which `agentv runs` alone does as well."""
    from agentv.cli.run_list import list_runs

    return list_runs(limit=limit, as_json=as_json)


@runs_command.command("rm")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@_removing
def rm_command(runs: tuple[str, ...], **given: Any) -> int:
    """Remove runs.

    RUN is a folder, a run's id or the beginning of one, `latest` or `latest~1`. A run that is being
    written stays, and so does whatever else is in a run's folder.
    """
    from agentv.cli.run_removal import RemovalOptions, remove_runs

    return remove_runs(runs, RemovalOptions(**given))


@runs_command.command("prune")
@click.option(
    "--keep", type=click.IntRange(min=0), metavar="N", help="The newest N stay; the others may go."
)
@click.option(
    "--older-than",
    callback=_age,
    metavar="AGE",
    help="Only what was last taken up so long ago may go: 12h, 30d, 2w.",
)
@_removing
def prune_command(keep: int | None, older_than: timedelta | None, **given: Any) -> int:
    """Remove old runs of .agentv/results.

    With both options a run must be beyond both to go. A run that is being written stays, and so
    does whatever else is in a run's folder.
    """
    from agentv.cli.run_removal import RemovalOptions, prune_runs

    return prune_runs(keep=keep, older_than=older_than, options=RemovalOptions(**given))
