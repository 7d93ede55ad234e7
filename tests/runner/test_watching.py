"""What sinks hear of requests that wait for a rate limit."""

import asyncio
from collections.abc import Sequence

from agentv.cli.progress import LineProgress, lane_line
from agentv.model.event import Event, LaneState, LanesWaiting
from agentv.runner.watching import watching

BUSY = LaneState(
    endpoint="https://api.example.com", model="gpt-x", in_flight=14, waiting=30, wait_seconds=8.2
)


def test_waiting_is_told_and_its_end_once() -> None:
    looks: list[Sequence[LaneState]] = [[], [BUSY], [BUSY], [], [], []]
    told: list[Event] = []

    async def story() -> None:
        done = asyncio.Event()

        def look() -> Sequence[LaneState]:
            if len(looks) == 1:
                done.set()
                return looks[0]
            return looks.pop(0)

        async with watching(look, told.append, every_seconds=0):
            await done.wait()

    asyncio.run(story())
    one = LanesWaiting(lanes=(BUSY,))
    assert told == [one, one, LanesWaiting(lanes=())]


def test_a_lane_in_a_line() -> None:
    expected = "api.example.com/gpt-x: 14 in flight, 30 waiting 8 s on a rate limit"
    assert lane_line(BUSY) == expected


def test_a_log_is_not_filled_with_waiting() -> None:
    lines: list[str] = []
    progress = LineProgress(write=lines.append)
    for _ in range(3):
        progress.handle(LanesWaiting(lanes=(BUSY,)))
    assert lines == [f"  ⏸ {lane_line(BUSY)}"]
