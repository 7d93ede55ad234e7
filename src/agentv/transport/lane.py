"""The way to one endpoint and model, on which every request of a run keeps its distance."""

import asyncio
from contextlib import nullcontext

from agentv.model.event import LaneState
from agentv.model.score import Usage
from agentv.transport.bucket import Bucket
from agentv.transport.pace import Pace
from agentv.transport.places import resting

_MINUTE = 60.0


class PacedLane:
    """A lane (see `agentv.protocols.Lane`) that lets requests start at a polite pace.

    First come, first served, save that a request which has waited as long as the service asked
    goes before those that were never sent. The event loop's clock is the clock.
    """

    def __init__(self, endpoint: str, model: str) -> None:
        self.endpoint = endpoint
        self.model = model
        self._pace = Pace()
        self._limits: dict[str, Bucket] = {}
        self._newcomers = asyncio.Lock()
        """Held by the one that is first among those that were never sent."""
        self._head = asyncio.Lock()
        """Held by the one that goes next."""
        self._queued = 0
        self._due: dict[object, float] = {}
        """When those join the queue that wait as long as they were told to."""
        self._in_flight = 0

    def tighten(self, rpm: float | None, tpm: float | None) -> None:
        """Keep to these limits as well."""
        for name, limit in (("rpm", rpm), ("tpm", tpm)):
            known = self._limits.get(name)
            if limit is not None and (known is None or limit / _MINUTE < known.rate):
                a_second = limit / _MINUTE
                self._limits[name] = Bucket(a_second, max(a_second, 1.0))

    async def enter(self, tokens: int, *, after: float | None = None) -> None:
        """Wait until another request is polite; it is in flight then, until `left`.

        Cancelling gives the place in the queue to the next.

        Args:
            tokens: About how many tokens the request will cost.
            after: Seconds to wait in any case, for a request that is sent once more.
        """
        if after is None and not self._queued and not self._wait(tokens):
            self._start(tokens, again=False)
            return
        if after is not None:
            await self._wait_out(after)
        self._queued += 1
        try:
            async with self._newcomers if after is None else nullcontext():
                await self._take_turn(tokens, again=after is not None)
        finally:
            self._queued -= 1

    def left(self) -> None:
        """A request that had entered is over, however it ended."""
        self._in_flight -= 1

    def succeeded(self) -> None:
        """A request was answered."""
        self._pace.succeeded(_now())

    def used(self, usage: Usage | None, tokens: int) -> None:
        """What an answer consumed, where it is more than the tokens said on entering.

        Nothing is given back for less: some services count what an answer may take, not what it
        takes.
        """
        limit = self._limits.get("tpm")
        if limit is not None and usage is not None:
            more = (usage.input_tokens or 0) + (usage.output_tokens or 0) - tokens
            limit.take(_now(), max(more, 0))

    def refused(self, wait_seconds: float | None, *, again: bool = False) -> None:
        """A request was too much for the service, which may have said how long to wait."""
        self._pace.refused(_now(), wait_seconds, again=again)

    def state(self) -> LaneState:
        """What is going on now."""
        now = _now()
        waits = [due - now for due in self._due.values()]
        if self._queued:
            waits.append(self._wait(0))
        return LaneState(
            endpoint=self.endpoint,
            model=self.model,
            in_flight=self._in_flight,
            waiting=self._queued + len(self._due),
            wait_seconds=max(min(waits, default=0.0), 0.0),
        )

    async def _wait_out(self, seconds: float) -> None:
        me = object()
        self._due[me] = _now() + seconds
        try:
            async with resting():
                await asyncio.sleep(seconds)
        finally:
            del self._due[me]

    async def _take_turn(self, tokens: int, *, again: bool) -> None:
        async with self._head:
            # A pause may begin while a slot is waited for.
            while wait := self._wait(tokens):  # noqa: ASYNC110 - it is time that must pass
                await asyncio.sleep(wait)
            self._start(tokens, again=again)

    def _wait(self, tokens: int) -> float:
        now = _now()
        limits = (limit.wait(now, _amount(name, tokens)) for name, limit in self._limits.items())
        return max(self._pace.wait(now), max(limits, default=0.0))

    def _start(self, tokens: int, *, again: bool) -> None:
        now = _now()
        self._pace.start(now, again=again)
        for name, limit in self._limits.items():
            limit.take(now, _amount(name, tokens))
        self._in_flight += 1


def _amount(limit: str, tokens: int) -> float:
    return tokens if limit == "tpm" else 1


def _now() -> float:
    return asyncio.get_running_loop().time()
