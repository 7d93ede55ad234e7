"""Waiting for files that other programs write."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 0.5


async def until(look: Callable[[], T | None], *, within: float | None) -> T | None:
    """What a look finds at last; `None` when it has found nothing in so many seconds.

    Looks often at first and twice a second later: an answer takes seconds or minutes.
    """
    loop = asyncio.get_running_loop()
    deadline = None if within is None else loop.time() + within
    pause = _FIRST_PAUSE
    while (found := look()) is None:
        left = pause if deadline is None else deadline - loop.time()
        if left <= 0:
            return None
        await asyncio.sleep(min(pause, left))
        pause = min(pause * 1.5, _LONGEST_PAUSE)
    return found
