"""When to look for strays: always when it matters, seldom enough to cost nothing."""

import asyncio
import time
from collections.abc import Container

from agentv.transport.strays import kill_strays

SECONDS_BETWEEN_ROUTINE_SWEEPS = 1.0


class Sweeper:
    """Kills the strays of one run.

    Args:
        token: The run's part of the cookie.
        live: Numbers of commands that still run; looked at while sweeping, so it may change.
    """

    def __init__(self, token: str, live: Container[int]) -> None:
        self._token = token
        self._live = live
        self._turn = asyncio.Lock()
        self._began = time.monotonic()
        self._routine: asyncio.Task[None] | None = None

    async def now(self) -> None:
        """Return when a sweep that began after this call has found nothing more.

        Callers that wait for their turn share the next sweep, so many commands that are ended at
        once cost two sweeps and not one each.
        """
        asked = time.monotonic()
        async with self._turn:
            if self._began <= asked:
                self._began = time.monotonic()
                await asyncio.to_thread(kill_strays, self._token, self._live)

    def soon(self) -> None:
        """Sweep in the background, unless that was done a moment ago."""
        due = time.monotonic() - self._began >= SECONDS_BETWEEN_ROUTINE_SWEEPS
        if due and (self._routine is None or self._routine.done()):
            self._routine = asyncio.create_task(self.now())

    async def finish(self) -> None:
        """The last sweep; nothing goes on in the background afterwards."""
        await self.now()
        if self._routine is not None:
            await self._routine
