"""Which errors are worth another attempt, and how often."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from trial_build import never

from agentv.errors import ProviderError, ProviderTimeout, RunAborted
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.runner.attempts import Answer, AttemptPolicy, RetryingProvider, ask
from agentv.testing import ScriptedProvider

QUESTION = ProviderRequest(eval_id="sum", question="2 + 2?")
HASTY = AttemptPolicy(timeout_seconds=0.005, max_retries=2)
PATIENT = AttemptPolicy(timeout_seconds=10, max_retries=2)


class Acts:
    """A provider that does something before it would answer, and counts."""

    def __init__(self, act: Callable[[], Awaitable[object]]) -> None:
        self._act = act
        self.started = self.ended = 0

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        self.started += 1
        try:
            await self._act()
            return ProviderResponse(text="4")
        finally:
            self.ended += 1


async def client_times_out() -> None:
    raise TimeoutError("the HTTP client gave up")


async def agent_times_out() -> None:
    raise ProviderTimeout("the agent's process took too long", detail="its last words")


async def is_cancelled_inside() -> None:
    raise asyncio.CancelledError


def asked(provider: object, policy: AttemptPolicy = PATIENT) -> tuple[Answer, list[int]]:
    """What came of asking, and which attempts were told as failed."""
    told: list[int] = []

    async def one() -> Answer:
        return await ask(provider, QUESTION, policy, lambda number, _: told.append(number))  # type: ignore[arg-type]

    return asyncio.run(one()), told


@pytest.mark.parametrize(
    ("act", "policy", "message"),
    [
        pytest.param(never, HASTY, "no answer within 0.005 s", id="runner"),
        pytest.param(client_times_out, PATIENT, "the HTTP client gave up", id="http client"),
        pytest.param(agent_times_out, PATIENT, "the agent's process", id="agent process"),
    ],
)
def test_every_kind_of_time_out_counts_against_the_same_budget(
    act: Callable[[], Awaitable[object]], policy: AttemptPolicy, message: str
) -> None:
    """Scenario: Maximum retries exceeded. A budget of two means three attempts."""
    provider = Acts(act)
    answer, told = asked(provider, policy)

    assert (answer.attempts, provider.started) == (3, 3)
    assert told == [1, 2]
    assert answer.response is None
    assert isinstance(answer.error, ProviderTimeout)
    assert answer.error.kind == "timeout"
    assert message in str(answer.error)


def test_an_attempt_that_hangs_is_ended_before_the_next_begins() -> None:
    provider = Acts(never)
    asked(provider, HASTY)

    assert provider.ended == provider.started == 3


def test_a_retry_that_answers_is_the_answer() -> None:
    """Scenario: Timeout with retry. Each request carries the number of its attempt."""
    provider = ScriptedProvider([ProviderTimeout("slow"), ProviderTimeout("slow"), "4"])
    answer, told = asked(provider)

    assert answer.response == ProviderResponse(text="4")
    assert answer.attempts == 3
    assert [request.attempt for request in provider.requests] == [1, 2, 3]
    assert told == [1, 2]


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        pytest.param(ProviderError("exit 1", kind="exit"), "exit", "exit 1", id="provider"),
        pytest.param(ValueError("bad"), "crash", "ValueError: bad", id="bug"),
        pytest.param(ConnectionError("gone"), "crash", "ConnectionError: gone", id="connection"),
    ],
)
def test_other_errors_are_tried_once(error: Exception, kind: str, message: str) -> None:
    provider = ScriptedProvider([error, "4"])
    answer, told = asked(provider)

    assert answer.attempts == len(provider.requests) == 1
    assert told == []
    assert answer.error is not None
    assert (answer.error.kind, str(answer.error)) == (kind, message)


def test_without_a_budget_there_is_one_attempt() -> None:
    provider = ScriptedProvider([ProviderTimeout("slow"), "4"])
    answer, _ = asked(provider, AttemptPolicy(timeout_seconds=None, max_retries=0))

    assert (answer.attempts, answer.response) == (1, None)


def test_a_negative_budget_is_refused() -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        AttemptPolicy(timeout_seconds=1, max_retries=-1)


def test_what_ends_the_run_passes_through() -> None:
    with pytest.raises(RunAborted, match="the disk is full"):
        asked(ScriptedProvider([RunAborted("the disk is full")]))


def test_cancelling_passes_through_and_ends_the_attempt() -> None:
    async def story() -> Acts:
        begun = asyncio.Event()

        async def begin() -> None:
            begun.set()
            await never()

        provider = Acts(begin)
        task = asyncio.create_task(ask(provider, QUESTION, PATIENT, lambda *_: None))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return provider

    provider = asyncio.run(story())
    assert provider.started == provider.ended == 1


def test_a_cancellation_that_nobody_asked_for_is_the_providers_error() -> None:
    answer, _ = asked(Acts(is_cancelled_inside))

    assert answer.error is not None
    assert (answer.error.kind, answer.attempts) == ("crash", 1)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        pytest.param("4", "the provider returned str, not a ProviderResponse", id="text"),
        pytest.param(None, "the provider returned NoneType", id="nothing"),
        pytest.param(ProviderResponse(text=4), "Expected `str`, got `int`", id="number"),  # type: ignore[arg-type]
        pytest.param(
            ProviderResponse(text="4", trace=[{"at": object()}]), "object", id="trace of objects"
        ),
    ],
)
def test_what_cannot_be_written_into_a_row_is_the_providers_error(
    reply: object, message: str
) -> None:
    class Odd:
        async def respond(self, request: ProviderRequest) -> object:
            return reply

    answer, _ = asked(Odd())

    assert answer.error is not None
    assert answer.error.kind == "crash"
    assert message in str(answer.error)


def test_a_judge_is_asked_with_the_same_patience() -> None:
    judge = ScriptedProvider([ProviderTimeout("slow"), '{"score": 1}'])
    reply = asyncio.run(RetryingProvider(judge, PATIENT).respond(QUESTION))

    assert reply.text == '{"score": 1}'
    assert [request.attempt for request in judge.requests] == [1, 2]


def test_a_judge_that_stays_silent_raises_its_last_error() -> None:
    judge = ScriptedProvider([ProviderTimeout(f"slow {number}") for number in (1, 2, 3)])

    with pytest.raises(ProviderTimeout, match="slow 3"):
        asyncio.run(RetryingProvider(judge, PATIENT).respond(QUESTION))
