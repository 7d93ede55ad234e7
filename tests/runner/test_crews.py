"""How many trials are in flight, and what one that goes wrong does to the others."""

import asyncio
from collections.abc import Iterable, Iterator

import pytest
from trial_build import Opinion, bench, never, trial

from agentv.errors import ProviderError, RunAborted
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.model.result import TrialResult
from agentv.model.score import Score
from agentv.protocols import Provider
from agentv.runner.crews import Crew, Job, run_crews
from agentv.runner.trial import Bench
from agentv.testing import ScriptedProvider

GOOD = {"good": Opinion(Score(value=1.0))}


class Crowd:
    """A provider that answers only when so many are asking at once, and remembers the most."""

    def __init__(self, size: int) -> None:
        self._barrier = asyncio.Barrier(size)
        self._now = 0
        self.most = 0

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        self._now += 1
        self.most = max(self.most, self._now)
        async with asyncio.timeout(5):
            await self._barrier.wait()
        self._now -= 1
        return ProviderResponse(text="here")


def jobs(ids: Iterable[str], where: Bench) -> Iterator[Job]:
    return ((trial(id_, "good"), where, None) for id_ in ids)


def numbered(count: int) -> list[str]:
    return [f"case-{number}" for number in range(count)]


def run(*crews: Crew) -> list[TrialResult]:
    rows: list[TrialResult] = []
    asyncio.run(run_crews(crews, rows.append))
    return rows


@pytest.mark.parametrize("workers", [1, 3, 8])
def test_as_many_trials_are_in_flight_as_there_are_workers(workers: int) -> None:
    """Scenario: Configurable concurrency. The crowd moves on only when all of them are there."""

    async def story() -> tuple[int, int]:
        crowd = Crowd(workers)
        rows: list[TrialResult] = []
        crew = Crew(jobs=jobs(numbered(24), bench(crowd, GOOD)), workers=workers)
        await run_crews([crew], rows.append)
        return crowd.most, sum(row.verdict == "pass" for row in rows)

    assert asyncio.run(story()) == (workers, 24)


def test_crews_run_beside_each_other() -> None:
    async def story() -> int:
        crowd = Crowd(5)
        where = bench(crowd, GOOD)
        crews = [Crew(jobs=jobs(numbered(n), where), workers=n) for n in (2, 3)]
        await run_crews(crews, lambda row: None)
        return crowd.most

    assert asyncio.run(story()) == 5


def test_only_what_is_in_flight_is_held() -> None:
    """A job is taken when a worker is free for it, and its row is recorded before the next."""
    taken = recorded = most = 0

    def lazily(where: Bench) -> Iterator[Job]:
        nonlocal taken, most
        for job in jobs(numbered(50), where):
            taken += 1
            most = max(most, taken - recorded)
            yield job

    def record(row: TrialResult) -> None:
        nonlocal recorded
        recorded += 1

    where = bench(ScriptedProvider(lambda request: "4"), GOOD)
    asyncio.run(run_crews([Crew(jobs=lazily(where), workers=4)], record))

    assert (taken, recorded) == (50, 50)
    assert most <= 4


def test_a_trial_that_fails_does_not_hold_up_the_others() -> None:
    """Scenarios: Error isolation in parallel mode, Maximum retries exceeded."""
    crashes: dict[int, Exception] = {1: ProviderError("exit 1"), 4: ValueError("a bug")}

    def reply(request: ProviderRequest) -> str | Exception:
        return crashes.get(int(request.eval_id.removeprefix("case-")), "4")

    where = bench(ScriptedProvider(reply), GOOD)
    rows = run(Crew(jobs=jobs(numbered(8), where), workers=3))

    verdicts = {row.eval_id: row.verdict for row in rows}
    assert [verdicts[id_] for id_ in numbered(8)] == [
        *("pass", "error", "pass", "pass", "error", "pass", "pass", "pass")
    ]


def test_an_aborted_run_ends_what_is_in_flight_and_keeps_what_is_done() -> None:
    ended: list[str] = []

    class Service(Provider):
        async def respond(self, request: ProviderRequest) -> ProviderResponse:
            if request.eval_id == "quick":
                return ProviderResponse(text="4")
            if request.eval_id == "fatal":
                raise RunAborted("the licence has run out")
            try:
                await never()
            finally:
                ended.append(request.eval_id)
            raise AssertionError

    where, rows = bench(Service(), GOOD), list[TrialResult]()
    crew = Crew(jobs=jobs(["quick", "slow", "fatal", "later"], where), workers=2)
    with pytest.raises(RunAborted, match="the licence has run out"):
        asyncio.run(run_crews([crew], rows.append))

    assert [row.eval_id for row in rows] == ["quick"]
    assert ended == ["slow"]


def test_a_journal_that_refuses_a_row_aborts_the_run() -> None:
    def refuse(row: TrialResult) -> None:
        raise RunAborted("results.jsonl cannot be written")

    crew = Crew(jobs=jobs(numbered(5), bench(ScriptedProvider(["4"]), GOOD)), workers=1)
    with pytest.raises(RunAborted, match=r"results\.jsonl"):
        asyncio.run(run_crews([crew], refuse))
