"""`agentv cache`: what is kept of earlier answers."""

import click
import msgspec

from agentv.cli.amounts import file_size
from agentv.cli.console import can_be_asked, out, paint, print_json
from agentv.errors import AuthorError, ExitCode
from agentv.storage.response_cache import (
    CACHE_PATH,
    UnreadableCacheError,
    cache_stats,
    clear_cache,
)


def show_stats(*, as_json: bool) -> int:
    """Print what is in the cache."""
    stats = cache_stats(CACHE_PATH)
    if as_json:
        print_json({"path": str(CACHE_PATH), **msgspec.to_builtins(stats)})
        return ExitCode.OK
    out(f"  answers     {stats.answers:,}")
    if stats.answers:
        out(f"  kept        {stats.oldest} to {stats.newest}")
        out(f"  size        {file_size(stats.size_bytes)}")
    out(f"  cache       {CACHE_PATH}")
    return ExitCode.OK


def clear(*, agreed: bool) -> int:
    """Empty the cache once it is agreed to; answers are money."""
    what = _content()
    if what is None:
        out(f"  {paint('empty', 'dim')}       {CACHE_PATH}")
        return ExitCode.OK
    if not (agreed or _agrees(what)):
        out(f"  {paint('kept', 'warn')}        {what}")
        return ExitCode.OK
    clear_cache(CACHE_PATH)
    out(f"  {paint('cleared', 'good')}     {what}")
    return ExitCode.OK


def _content() -> str | None:
    """What would be lost; `None` if nothing would."""
    try:
        answers = cache_stats(CACHE_PATH).answers
    except UnreadableCacheError:
        return f"{CACHE_PATH}, which is no response cache"
    return f"{answers:,} answer{'' if answers == 1 else 's'} in {CACHE_PATH}" if answers else None


def _agrees(what: str) -> bool:
    if not can_be_asked():
        raise AuthorError(f"Nobody can be asked whether to clear {what}; say so with --yes.")
    return click.confirm(f"Clear {what}?", default=False)
