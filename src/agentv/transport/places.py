"""Places for what is under way at once, lent to others while their holders only wait.

A request that a service sends away for a second would otherwise keep a worker from its work for
that second. Who comes back from a rest goes before those that begin; and a place is only lent while
places come free so often that it is had back before anybody notices.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from math import inf

_UNNOTICED_SECONDS = 0.02
_MEMORY = 0.98
"""How much of the average is what was known before."""


class Places:
    """So many at once, first come, first served."""

    def __init__(self, number: int) -> None:
        self._free = number
        self._returning: deque[asyncio.Future[None]] = deque()
        self._beginning: deque[asyncio.Future[None]] = deque()
        self._left_at = inf
        self._interval = inf
        """Seconds from one place that comes free to the next, on average."""

    @property
    def are_quickly_free(self) -> bool:
        """Whether a place that is given away is soon had back."""
        return self._interval <= _UNNOTICED_SECONDS

    async def take(self, *, returning: bool = False) -> None:
        """Wait for a place; a wait that is cancelled takes none."""
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        (self._returning if returning else self._beginning).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._pass_on()  # it had come just now
            raise

    async def offer(self) -> None:
        """Go on in the same place, unless somebody comes back from a rest: then after them."""
        self._note_end()
        if any(not turn.done() for turn in self._returning):
            self._pass_on()
            await self.take()

    def leave(self) -> None:
        """A place comes free."""
        self._note_end()
        self._pass_on()

    def _note_end(self) -> None:
        now = asyncio.get_running_loop().time()
        gap = now - self._left_at if self._left_at < inf else inf
        known = self._interval
        self._interval = gap if known == inf else known * _MEMORY + gap * (1 - _MEMORY)
        self._left_at = now

    def _pass_on(self) -> None:
        for queue in (self._returning, self._beginning):
            while queue:
                turn = queue.popleft()
                if not turn.done():
                    turn.set_result(None)
                    return
        self._free += 1


_places: ContextVar[Places | None] = ContextVar("places", default=None)


def hold_in(places: Places) -> None:
    """From here on this task holds one of these places, save when it rests."""
    _places.set(places)


@asynccontextmanager
async def resting() -> AsyncIterator[None]:
    """While only time must pass: somebody else may have the place meanwhile."""
    places = _places.get()
    if places is None or not places.are_quickly_free:
        yield
        return
    places.leave()
    try:
        yield
    finally:
        await places.take(returning=True)
