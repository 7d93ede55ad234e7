"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

SHARE = click.FloatRange(min=0, max=1)
SECONDS = click.FloatRange(min=0, min_open=True)
AMOUNT = click.FloatRange(min=0, min_open=True)

EVAL_PATHS = click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
RUN = click.argument("run", default="latest", metavar="[RUN]")
VERBOSE = click.option(
    "--verbose", is_flag=True, help="Say more: commands run, retries, fallbacks."
)


def targets_file(text: str) -> Callable[[F], F]:
    """`--targets FILE`."""
    path = click.Path(path_type=Path)
    return click.option("--targets", "targets_path", type=path, metavar="FILE", help=text)


def workers(text: str) -> Callable[[F], F]:
    """`--workers N`."""
    return click.option("--workers", type=click.IntRange(min=1), metavar="N", help=text)


def threshold(text: str) -> Callable[[F], F]:
    """`--threshold SCORE`."""
    return click.option("--threshold", type=SHARE, metavar="SCORE", help=text)


def min_pass_rate(text: str) -> Callable[[F], F]:
    """`--min-pass-rate SHARE`."""
    return click.option("--min-pass-rate", type=SHARE, metavar="SHARE", help=text)


def budget_usd(text: str) -> Callable[[F], F]:
    """`--budget-usd AMOUNT`."""
    return click.option("--budget-usd", type=AMOUNT, metavar="AMOUNT", help=text)


def out(text: str) -> Callable[[F], F]:
    """`--out DIR`."""
    return click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help=text)


def exports(text: str) -> Callable[[F], F]:
    """`--export FILE`, again and again."""
    path = click.Path(path_type=Path)
    return click.option("--export", "exports", multiple=True, type=path, metavar="FILE", help=text)


def shared_help(command: F) -> F:
    """`--json` and `--quiet`, worded the same everywhere."""
    quiet = click.option(
        "-q", "--quiet", is_flag=True, help="No progress; results and errors only."
    )
    return json_only(quiet(command))


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
