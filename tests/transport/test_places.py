"""Places in virtual time: how many are under way, and what a rest does."""

import asyncio
from collections.abc import Sequence

import pytest

from agentv.transport.places import Places, hold_in, resting
from virtual_time import now, run_virtually


class Shift:
    """Workers who take turns on some places; each works for a while, and perhaps rests."""

    def __init__(self, places: int) -> None:
        self.places = Places(places)
        self.under_way = 0
        self.most = 0

    async def work(self, seconds: float, rest: float = 0.0) -> float:
        """When it was done."""
        hold_in(self.places)
        await self.places.take()
        await self._busy(seconds)
        if rest:
            async with resting():
                await asyncio.sleep(rest)
            await self._busy(seconds)
        self.places.leave()
        return now()

    async def _busy(self, seconds: float) -> None:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(seconds)
        self.under_way -= 1


def done_times(shift: Shift, work: Sequence[tuple[float, float]]) -> list[float]:
    async def story() -> list[float]:
        tasks = [asyncio.create_task(shift.work(*each)) for each in work]
        return list(await asyncio.gather(*tasks))

    return run_virtually(story())


def test_so_many_at_once_in_the_order_of_asking() -> None:
    shift = Shift(2)
    assert done_times(shift, [(1.0, 0.0)] * 5) == [1.0, 1.0, 2.0, 2.0, 3.0]
    assert shift.most == 2


def test_who_only_waits_lends_the_place_and_has_it_back_in_time() -> None:
    """Never are more than two busy, and nobody begins before the one that comes back."""
    shift = Shift(2)
    quick = [(0.01, 0.0)] * 50
    times = done_times(shift, [*quick, (0.01, 1.0), *quick * 4])
    assert shift.most == 2
    assert times[50] == pytest.approx(0.27 + 1.0 + 0.01, abs=0.011)
    assert max(times) == pytest.approx(251 * 0.01 / 2, abs=0.05)


def test_where_places_seldom_come_free_none_is_lent() -> None:
    shift = Shift(1)
    times = done_times(shift, [(5.0, 0.0), (5.0, 0.0), (5.0, 2.0), (5.0, 0.0)])
    assert times == [5.0, 10.0, 22.0, 27.0]


def test_a_cancelled_wait_takes_no_place() -> None:
    async def story() -> float:
        shift = Shift(1)
        first, second, third = (asyncio.create_task(shift.work(1.0)) for _ in range(3))
        await asyncio.sleep(0.5)
        second.cancel()
        await first
        return await third

    assert run_virtually(story()) == 2.0


def test_cancelled_at_the_moment_in_which_it_comes_the_place_goes_on() -> None:
    async def story() -> float:
        places = Places(1)
        await places.take()
        next_one = asyncio.create_task(places.take())
        last = asyncio.create_task(places.take())
        await asyncio.sleep(1)
        places.leave()
        next_one.cancel()
        await last
        return now()

    assert run_virtually(story()) == 1.0


def test_without_places_a_rest_is_just_a_wait() -> None:
    async def story() -> float:
        async with resting():
            await asyncio.sleep(3)
        return now()

    assert run_virtually(story()) == 3.0


def test_who_goes_on_keeps_the_place_unless_somebody_comes_back() -> None:
    """A worker with more to do lets nobody wait that has rested, and nobody in that begins."""
    order: list[str] = []

    async def worker(name: str, places: Places, jobs: int, rests: bool) -> None:
        hold_in(places)
        await places.take()
        for job in range(jobs):
            await asyncio.sleep(0.01)
            if rests and job == 3:
                async with resting():
                    await asyncio.sleep(0.015)
            order.append(name)
            await places.offer()
        places.leave()

    async def story() -> None:
        places = Places(1)
        await asyncio.gather(worker("one", places, 5, True), worker("two", places, 3, False))

    run_virtually(story())
    assert order == [*["one"] * 3, "two", "two", "one", "one", "two"]
