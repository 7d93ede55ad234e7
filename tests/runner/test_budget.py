"""No trial begins once the budget is reached; what is in flight goes on to its end."""

import asyncio
from collections.abc import Iterator

import pytest

from agentv.errors import ProviderError
from agentv.model.event import Event, Notice
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.model.score import Usage
from agentv.runner.budget import Budget, MeteredProvider
from agentv.testing import Reply, ScriptedProvider

REQUEST = ProviderRequest(eval_id="one", question="Why?")


def costing(cost: float | None) -> ProviderResponse:
    return ProviderResponse(text="Because.", usage=Usage(cost_usd=cost))


class Till:
    """A budget, and what it said."""

    def __init__(self, limit_usd: float) -> None:
        self.said: list[str] = []
        self.budget = Budget(limit_usd, self._note)

    def ask(self, reply: Reply, target: str = "default") -> ProviderResponse:
        provider = MeteredProvider(ScriptedProvider([reply]), target, self.budget)
        return asyncio.run(provider.respond(REQUEST))

    def _note(self, event: Event) -> None:
        assert isinstance(event, Notice)
        assert event.level == "warning"
        self.said.append(event.message)


def test_calls_of_all_targets_are_paid_from_one_budget() -> None:
    till = Till(1.0)
    till.ask(costing(0.6))
    assert not till.budget.is_reached
    till.ask(costing(0.4), "judge")
    assert till.budget.is_reached


def test_ten_dimes_are_a_dollar() -> None:
    till = Till(1.0)
    for _ in range(10):
        till.ask(costing(0.1))
    assert till.budget.is_reached


def test_a_cost_that_is_unknown_is_said_once_a_target() -> None:
    till = Till(1.0)
    for target in ("a", "a", "b", "a"):
        till.ask(costing(None) if target == "a" else "no usage at all", target)
    assert till.said == [
        "the cost of target 'a' is unknown, so the budget cannot see it",
        "the cost of target 'b' is unknown, so the budget cannot see it",
    ]
    assert not till.budget.is_reached


def test_an_error_is_paid_where_it_says_what_it_took() -> None:
    till = Till(1.0)
    for error in (
        ProviderError("refused", kind="refusal", usage=Usage(cost_usd=2.0)),
        ProviderError("no connection"),
    ):
        with pytest.raises(ProviderError):
            till.ask(error)
    assert till.budget.is_reached
    assert till.said == []


def test_jobs_go_on_until_the_budget_is_reached() -> None:
    till, taken, begun = Till(1.0), [], []

    def jobs() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    for job in till.budget.within(jobs()):
        begun.append(job)
        till.ask(costing(0.4))
    assert begun == [0, 1, 2]
    assert taken == [0, 1, 2, 3], "the rest was never even made"
    assert till.said == ["budget of $1.00 reached ($1.20 spent): no further trial is started"]


def test_a_budget_that_suffices_says_nothing() -> None:
    """Also when the very last trial takes the rest of it."""
    till = Till(1.0)
    for _ in till.budget.within(iter(range(2))):
        till.ask(costing(0.5))
    assert till.budget.is_reached
    assert till.said == []


def test_workers_who_share_the_jobs_all_stop() -> None:
    till, begun = Till(1.0), []
    provider = MeteredProvider(ScriptedProvider(lambda _: costing(0.25)), "t", till.budget)
    jobs = till.budget.within(iter(range(100)))

    async def work() -> None:
        for job in jobs:
            begun.append(job)
            await asyncio.sleep(0)
            await provider.respond(REQUEST)

    async def run() -> None:
        await asyncio.gather(*(work() for _ in range(3)))

    asyncio.run(run())
    in_flight = 3
    assert 4 <= len(begun) < 4 + in_flight
    assert len(till.said) == 1
