"""`agentv cache`."""

from typing import Any

import click

from agentv.cli.groups import ForgivingGroup
from agentv.cli.parameters import json_only


@click.group("cache", cls=ForgivingGroup)
def cache_command() -> None:
    """Look at the response cache, or empty it.

    The cache is .agentv/cache/responses.sqlite below the working directory. `agentv eval --cache`
    fills it; nothing in it ever grows old by itself.
    """


@cache_command.command("stats")
@json_only
def stats_command(**given: Any) -> int:
    """Say what is in it, since when, and how much room it takes."""
    from agentv.cli.run_cache import show_stats

    return show_stats(as_json=given["as_json"])


@cache_command.command("clear")
@click.option("--yes", is_flag=True, help="Do not ask first.")
def clear_command(yes: bool) -> int:
    """Empty it, so that everything is asked anew."""
    from agentv.cli.run_cache import clear

    return clear(agreed=yes)
