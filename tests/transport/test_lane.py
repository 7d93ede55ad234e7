"""Lanes in virtual time: order, pauses, limits, and cancelled waits."""

import asyncio

import pytest

from agentv.model.score import Usage
from agentv.transport.lane import PacedLane
from agentv.transport.traffic import Traffic
from virtual_time import now, run_virtually


def limited(rpm: float | None = None, tpm: float | None = None) -> PacedLane:
    return Traffic().lane("https://api.test", "m", rpm=rpm, tpm=tpm)


async def starts(lane: PacedLane, number: int, tokens: int = 1) -> list[float]:
    """When each of many requests that come at once may start."""

    async def enter() -> float:
        await lane.enter(tokens)
        return now()

    return list(await asyncio.gather(*(enter() for _ in range(number))))


def test_without_limits_and_refusals_nobody_waits() -> None:
    assert run_virtually(starts(limited(), 500)) == [0.0] * 500


def test_requests_per_minute_are_spread_after_a_burst_of_a_second() -> None:
    times = run_virtually(starts(limited(rpm=120), 6))
    assert times == pytest.approx([0.0, 0.0, 0.5, 1.0, 1.5, 2.0])


def test_tokens_per_minute_hold_back_large_requests() -> None:
    times = run_virtually(starts(limited(tpm=6000), 3, tokens=100))
    assert times == pytest.approx([0.0, 1.0, 2.0])


def test_tokens_that_an_answer_took_beyond_the_estimate_hold_back_what_follows() -> None:
    async def story() -> float:
        lane = limited(tpm=6000)
        await lane.enter(50)
        lane.used(Usage(input_tokens=60, output_tokens=190), 50)
        lane.used(Usage(input_tokens=1), 50)
        lane.used(None, 50)
        await lane.enter(100)
        return now()

    assert run_virtually(story()) == pytest.approx(2.5)  # 250 are gone, at 100 a second


def test_equal_endpoint_and_model_share_a_lane_with_the_tightest_limits() -> None:
    traffic = Traffic()
    lane = traffic.lane("https://api.test", "m", rpm=600)
    assert traffic.lane("https://api.test", "m", rpm=60) is lane
    assert traffic.lane("https://api.test", "m", rpm=6000) is lane
    assert traffic.lane("https://api.test", "other") is not lane
    assert run_virtually(starts(lane, 3)) == pytest.approx([0.0, 1.0, 2.0])


def test_first_come_first_served() -> None:
    order: list[int] = []

    async def story() -> None:
        lane = limited(rpm=60)

        async def enter(number: int) -> None:
            await lane.enter(1)
            order.append(number)

        await asyncio.gather(*(enter(number) for number in range(20)))

    run_virtually(story())
    assert order == list(range(20))


def test_one_that_waited_as_asked_goes_before_those_that_were_never_sent() -> None:
    async def story() -> tuple[float, list[float]]:
        lane = limited(rpm=60)
        async with asyncio.TaskGroup() as group:
            crowd = group.create_task(starts(lane, 10))
            retry = group.create_task(entered(lane, after=2.5))
        return retry.result(), crowd.result()

    async def entered(lane: PacedLane, after: float) -> float:
        await lane.enter(1, after=after)
        return now()

    retried, others = run_virtually(story())
    assert retried == pytest.approx(4.0)  # the one that already stood at the head went at 3 s
    assert others == pytest.approx([0, 1, 2, 3, 5, 6, 7, 8, 9, 10])


def test_a_wait_that_was_asked_for_is_kept_exactly() -> None:
    async def story() -> float:
        await limited().enter(1, after=7.25)
        return now()

    assert run_virtually(story()) == 7.25


def test_a_cancelled_wait_costs_the_others_nothing() -> None:
    async def story() -> list[float]:
        lane = limited(rpm=60)
        await lane.enter(1)
        async with asyncio.TaskGroup() as group:
            head = group.create_task(lane.enter(1))
            second = group.create_task(lane.enter(1))
            retry = group.create_task(lane.enter(1, after=0.25))
            others = group.create_task(starts(lane, 2))
            await asyncio.sleep(0.5)
            for task in (head, second, retry):
                task.cancel()
        return others.result()

    assert run_virtually(story()) == pytest.approx([1.0, 2.0])


def test_scattered_refusals_hold_up_nobody_else() -> None:
    async def story() -> list[float]:
        lane = limited()
        for number in range(200):
            await lane.enter(1)
            lane.refused(30.0) if number % 10 == 0 else lane.succeeded()
            lane.left()
        return await starts(lane, 100)

    assert run_virtually(story()) == [0.0] * 100


def test_overload_makes_everybody_pause_as_long_as_the_service_asks() -> None:
    async def story() -> list[float]:
        lane = limited()
        await starts(lane, 50)
        for number in range(50):
            lane.succeeded() if number < 20 else lane.refused(8.0)
        return await starts(lane, 3)

    first, *rest = run_virtually(story())
    assert first == pytest.approx(8.0)
    assert rest == pytest.approx([8.05, 8.10], abs=0.02)  # nearly 20 a second were accepted


def test_waiting_lanes_say_who_waits_and_how_long() -> None:
    async def story() -> None:
        traffic = Traffic()
        lane = traffic.lane("https://api.test", "m")
        await lane.enter(1)
        assert traffic.waiting() == []
        async with asyncio.TaskGroup() as group:
            waiting = [group.create_task(lane.enter(1, after=after)) for after in (8.0, 30.0)]
            await asyncio.sleep(2)
            [state] = traffic.waiting()
            assert (state.endpoint, state.model) == ("https://api.test", "m")
            assert (state.in_flight, state.waiting, state.wait_seconds) == (1, 2, 6.0)
            for task in waiting:
                task.cancel()
        lane.left()
        assert traffic.waiting() == []
        assert lane.state().in_flight == 0

    run_virtually(story())
