"""Tells a run's sinks how long requests wait for rate limits, while the run goes on."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from agentv.model.event import Event, LaneState, LanesWaiting

EVERY_SECONDS = 0.5


@asynccontextmanager
async def watching(
    waiting: Callable[[], Sequence[LaneState]],
    emit: Callable[[Event], None],
    *,
    every_seconds: float = EVERY_SECONDS,
) -> AsyncIterator[None]:
    """Look at the lanes again and again; that nothing waits any more is told once."""
    task = asyncio.create_task(_watch(waiting, emit, every_seconds))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _watch(
    waiting: Callable[[], Sequence[LaneState]],
    emit: Callable[[Event], None],
    every_seconds: float,
) -> None:
    told = False
    while True:
        await asyncio.sleep(every_seconds)
        lanes = tuple(waiting())
        if lanes or told:
            emit(LanesWaiting(lanes=lanes))
        told = bool(lanes)
