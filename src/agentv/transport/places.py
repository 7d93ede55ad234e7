"""Places for what is under way at once, lent to others while their holders wait for a while.

A request that a service sends away for a second would otherwise keep a worker from its work for
that second. Its place is only lent where it is had back at once: those that come back go first,
and places must come free so often that nobody notices the wait.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

_UNNOTICED_SECONDS = 0.02
"""A worker's place is lent only if places come free this often, on average."""
_MEMORY = 0.9
"""Of the average: what came before counts so much."""


class Places:
    """So many places, given in the order of asking; those that lent theirs go first."""

    def __init__(self, number: int) -> None:
        self._free = number
        self._returning: deque[asyncio.Future[None]] = deque()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._left_at: float | None = None
        self._interval = float("inf")
        """Seconds between two places that come free."""

    async def take(self, *, returning: bool = False) -> None:
        """Wait for a place; a wait that is cancelled takes none."""
        if self._free:
            self._free -= 1
            return
        queue = self._returning if returning else self._waiting
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                queue.remove(turn)
            else:
                self.leave()
            raise

    def leave(self) -> None:
        """A place comes free."""
        for queue in (self._returning, self._waiting):
            while queue:
                turn = queue.popleft()
                if not turn.done():
                    turn.set_result(None)
                    return
        self._free += 1

    def done(self) -> None:
        """Like `leave`, by one whose work is done: what tells how often that happens."""
        now = time.monotonic()
