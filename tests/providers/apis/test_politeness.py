"""What a crowd of workers does to a service that says no, in virtual time."""

import asyncio
import json
from collections import Counter, deque
from collections.abc import Callable, Mapping
from itertools import pairwise
from random import Random

import pytest
from echo_wire import echo_provider, question

from agentv.errors import ProviderError, ProviderTimeout
from agentv.model.http import HttpReply, HttpRequest
from agentv.runner.attempts import AttemptPolicy, ask
from agentv.transport.traffic import Traffic
from virtual_time import now, run_virtually

Allow = Callable[[float], bool]


def bucket(rate: int) -> Allow:
    """A rest of a second is made up for by as many requests at once."""
    level, at = float(rate), 0.0

    def allow(now: float) -> bool:
        nonlocal level, at
        level, at = min(rate, level + (now - at) * rate), now
        level -= (allowed := level >= 1)
        return allowed

    return allow


def fixed_window(rate: int, seconds: int = 1) -> Allow:
    """So many in each second (or so many seconds) by the clock."""
    windows: Counter[int] = Counter()

    def allow(now: float) -> bool:
        window = int(now / seconds)
        windows[window] += 1
        return windows[window] <= rate * seconds

    return allow


def sliding_window(rate: int) -> Allow:
    """So many in any second."""
    times: deque[float] = deque(maxlen=rate)

    def allow(now: float) -> bool:
        allowed = len(times) < rate or times[0] <= now - 1
        if allowed:
            times.append(now)
        return allowed

    return allow


def used_up(rate: int) -> Allow:
    """So many a second on average, but ten seconds' worth may go at once."""
    return fixed_window(rate, seconds=10)


def down(began: float, ended: float) -> Allow:
    """Nothing is allowed for a while."""
    return lambda now: not began <= now < ended


class LimitedService:
    """Answers after a while, and refuses at once what its limit does not allow."""

    def __init__(self, allow: Allow, latency: float, retry_after: str | None) -> None:
        self._allow = allow
        self._latency = latency
        self._headers = {"retry-after": retry_after} if retry_after else {}
        self.refusals: list[tuple[float, bool]] = []
        """Of each request: when it came and whether it was refused."""

    async def send(self, request: HttpRequest) -> HttpReply:
        refused = not self._allow(now())
        self.refusals.append((now(), refused))
        await asyncio.sleep(0.005 if refused else self._latency)
        return _reply(429, {}, **self._headers) if refused else _echo(request)


FAULTS = {"429": 10, "500": 2, "reset": 1, "hang": 1, "answer": 86}


class FaultyService:
    """Fails by chance when a question is asked for the first time, whatever the load.

    Args:
        rng: Chance.
        shares: How often which fault befalls a question.
    """

    def __init__(self, rng: Random, shares: Mapping[str, int] = FAULTS) -> None:
        self._rng = rng
        self._kinds = list(shares)
        self._shares = list(shares.values())
        self.log: dict[bytes, list[tuple[float, str]]] = {}
        """Of each question: when it came and what was done to it."""

    async def send(self, request: HttpRequest) -> HttpReply:
        log = self.log.setdefault(request.body, [])
        [kind] = ["answer"] if log else self._rng.choices(self._kinds, self._shares)
        log.append((now(), kind))
        await asyncio.sleep(0.1)
        match kind:
            case "429":
                return _reply(429, {"error": "slow down"}, **{"retry-after": "1"})
            case "500":
                return _reply(500, {"error": "oops"})
            case "reset":
                raise ProviderError("no answer: connection reset", kind="connection")
            case "hang":
                await asyncio.sleep((request.total_seconds or 60) - 0.1)
                raise ProviderTimeout("no whole answer in time")
        return _echo(request)


def _echo(request: HttpRequest) -> HttpReply:
    return _reply(200, {"answer": json.loads(request.body)["question"]})


def _reply(status: int, body: object, **headers: str) -> HttpReply:
    return HttpReply(status=status, headers=headers, body=json.dumps(body).encode())


async def ask_all(
    service: LimitedService | FaultyService, cases: int, workers: int
) -> tuple[int, float]:
    """Right answers, and how long they took."""
    provider = echo_provider(service, Traffic(), timeout_seconds=5)
    policy = AttemptPolicy(timeout_seconds=None, max_retries=2)
    questions = iter(range(cases))
    right = 0

    async def work() -> None:
        nonlocal right
        for number in questions:
            answer = await ask(provider, question(f"case-{number}"), policy, lambda *_: None)
            right += answer.response is not None and answer.response.text == f"case-{number}"

    await asyncio.gather(*(work() for _ in range(workers)))
    return right, now()


@pytest.mark.parametrize("retry_after", ["1", None], ids=["retry-after", "no-header"])
@pytest.mark.parametrize("limit", [bucket, fixed_window, sliding_window])
@pytest.mark.parametrize(("workers", "latency"), [(50, 0.05), (8, 0.1), (200, 0.4)])
def test_a_limit_of_twenty_a_second_is_found_and_kept(
    limit: Callable[[int], Allow], retry_after: str | None, workers: int, latency: float
) -> None:
    """After five seconds no more than 2% of requests are refused, and little time is lost."""
    service = LimitedService(limit(20), latency, retry_after)
    right, seconds = run_virtually(ask_all(service, 2000, workers))
    late = [refused for at, refused in service.refusals if at > 5]
    assert right == 2000
    assert sum(late) / len(late) <= 0.02
    assert seconds <= 115  # 100 would be perfect


@pytest.mark.parametrize("rate", [2, 100])
def test_slow_and_fast_limits_are_found_as_well(rate: int) -> None:
    service = LimitedService(sliding_window(rate), 0.1, "1")
    right, seconds = run_virtually(ask_all(service, rate * 60, 200))
    late = [refused for at, refused in service.refusals if at > 10]
    assert right == rate * 60
    assert sum(late) / len(late) <= 0.05
    assert seconds <= 75


@pytest.mark.parametrize(("workers", "latency"), [(50, 0.1), (10, 0.1), (200, 0.4)])
def test_a_quota_that_is_used_up_for_a_while_costs_no_answer(workers: int, latency: float) -> None:
    """The service does not say when there is more, and a request has only three retries."""
    service = LimitedService(used_up(20), latency, None)
    right, seconds = run_virtually(ask_all(service, 1000, workers))
    assert right == 1000
    assert seconds <= 100  # 40 would be perfect
    assert sum(refused for _, refused in service.refusals) <= 500


@pytest.mark.parametrize("retry_after", ["1", None], ids=["retry-after", "no-header"])
@pytest.mark.parametrize(("began", "ended"), [(1, 4), (1, 31)])
def test_a_service_that_is_down_for_a_while_costs_no_answer(
    began: float, ended: float, retry_after: str | None
) -> None:
    service = LimitedService(down(began, ended), 0.1, retry_after)
    right, seconds = run_virtually(ask_all(service, 1000, 50))
    assert right == 1000
    assert seconds <= ended + 20


@pytest.mark.parametrize("seed", range(5))
def test_a_tenth_of_refusals_by_chance_slows_nobody_down(seed: int) -> None:
    """Only the requests that were refused wait, each exactly as long as it was told to."""
    service = FaultyService(Random(seed))
    right, seconds = run_virtually(ask_all(service, 1000, 50))
    waits = [
        after - before
        for log in service.log.values()
        for (before, kind), (after, _) in pairwise(log)
        if kind == "429"
    ]
    assert right == 1000
    assert seconds <= 11
    assert len(waits) > 70
    assert min(waits) == pytest.approx(1.1)  # the reply took a tenth of a second
    assert max(waits) <= 1.2


@pytest.mark.parametrize(
    ("percent", "workers", "most_seconds"), [(100, 50, 30), (30, 50, 20), (10, 2, 90)]
)
def test_refusals_that_slowing_down_does_not_mend_are_put_up_with(
    percent: int, workers: int, most_seconds: float
) -> None:
    service = FaultyService(Random(1), {"429": percent, "answer": 100 - percent})
    right, seconds = run_virtually(ask_all(service, 500, workers))
    assert right == 500
    assert seconds <= most_seconds
