"""Options that several commands share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

SHARE = click.FloatRange(min=0, max=1)
SECONDS = click.FloatRange(min=0, min_open=True)
AMOUNT = click.FloatRange(min=0, min_open=True)

EVAL_PATHS = click.argument("paths", nargs=-1, required=True, metavar="PATHS...")


def shared_help(command: F) -> F:
    """`--json` and `--quiet`, worded the same everywhere."""
    as_json = click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document on stdout, nothing else."
    )
    quiet = click.option(
        "-q", "--quiet", is_flag=True, help="No progress; results and errors only."
    )
    return as_json(quiet(command))


def json_only(command: F) -> F:
    """`--json` alone."""
    option = click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document on stdout, nothing else."
    )
    return option(command)


def one_shard(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """`2/5`, as it was typed; for a `callback`."""
    from agentv.model.shard import parse_shard

    try:
        return None if value is None else str(parse_shard(value))
    except ValueError as error:
        raise click.BadParameter(f"{error}.", ctx, param) from error
