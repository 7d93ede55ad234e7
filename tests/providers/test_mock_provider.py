"""The `mock` provider: scripted, and the same on every run."""

import asyncio
import time
from typing import Any

import msgspec
import pytest
from provider_build import NoFiles, provider_build

from agentv.errors import ProviderError, ProviderTimeout
from agentv.model.request import ProviderRequest
from agentv.protocols import BatchProvider
from agentv.providers.mock import MockOptions, MockProvider


def options(**more: Any) -> MockOptions:
    return msgspec.convert({"name": "mock", "provider": "mock", **more}, MockOptions)


def mock(seed: int = 0, **more: Any) -> MockProvider:
    return MockProvider(options(**more), provider_build(seed=seed))


def request(eval_id: str = "a", attempt: int = 1, question: str = "why?") -> ProviderRequest:
    return ProviderRequest(eval_id=eval_id, question=question, attempt=attempt)


def outcome(provider: MockProvider, what: ProviderRequest) -> str:
    """The answer, or what went wrong."""
    try:
        return asyncio.run(provider.respond(what)).text
    except ProviderError as error:
        return f"{error.kind}: {error}"


def test_the_canned_response_is_the_answer() -> None:
    """Covers the specification's "Mock provider for dry-run"."""
    assert outcome(mock(response="fine"), request()) == "fine"
    assert outcome(mock(response=""), request()) == ""


def test_echo_answers_with_the_question() -> None:
    assert outcome(mock(echo=True), request(question="why?\n")) == "why?\n"


def test_replies_by_case_id() -> None:
    provider = mock(replies={"a": "one", "b": {"response": "two"}, "*": "other"})
    assert [outcome(provider, request(name)) for name in "abc"] == ["one", "two", "other"]


def test_a_case_without_a_reply_is_an_error() -> None:
    assert outcome(mock(replies={"a": "one"}), request("b")) == (
        "no_reply: the mock has no reply for case 'b' and none for '*'"
    )


def test_replies_in_order_are_never_repeated() -> None:
    provider = mock(replies=["one", {"error": "boom"}, {"timeout": True}])
    assert [outcome(provider, request()) for _ in range(4)] == [
        "one",
        "mock: boom",
        "timeout: a scripted time-out",
        "no_reply: the mock has 3 replies and this is call 4",
    ]


def test_the_first_attempts_of_each_case_can_time_out() -> None:
    """A fault takes no reply from the list."""
    provider = mock(timeouts=2, replies=["one", "two"])
    tries = [(case, attempt) for case in "ab" for attempt in (1, 2, 3)]
    seen = [outcome(provider, request(case, attempt)) for case, attempt in tries]
    late = "timeout: a scripted time-out"
    assert seen == [late, late, "one", late, late, "two"]


def test_an_error_alone_fails_every_call() -> None:
    provider = mock(error="down")
    assert {outcome(provider, request(str(number))) for number in range(20)} == {"mock: down"}


@pytest.mark.parametrize(
    ("more", "faulty"),
    [
        ({"error_rate": 0.3}, "mock: a scripted error"),
        ({"error_rate": 0.3, "error": "down"}, "mock: down"),
        ({"timeout_rate": 0.3}, "timeout: a scripted time-out"),
    ],
)
def test_faults_by_chance_depend_on_the_case_and_not_on_the_order(
    more: dict[str, Any], faulty: str
) -> None:
    names = [f"case-{number}" for number in range(300)]
    first = {name: outcome(mock(7, response="ok", **more), request(name)) for name in names}
    provider = mock(7, response="ok", **more)
    again = {name: outcome(provider, request(name)) for name in reversed(names)}
    other_seed = {name: outcome(mock(8, response="ok", **more), request(name)) for name in names}

    assert again == first
    assert other_seed != first
    assert set(first.values()) == {"ok", faulty}
    assert 50 < sum(value == faulty for value in first.values()) < 130


def test_a_retry_has_its_own_chance() -> None:
    provider = mock(response="ok", timeout_rate=0.5)
    seen = {outcome(provider, request(attempt=attempt)) for attempt in range(1, 40)}
    assert len(seen) == 2


def seconds_of(provider: MockProvider, what: ProviderRequest) -> float:
    began = time.perf_counter()
    outcome(provider, what)
    return time.perf_counter() - began


def test_delays() -> None:
    assert seconds_of(mock(response="x", delay_ms=30), request()) >= 0.03
    ranged = mock(response="x", delay_min_ms=20, delay_max_ms=40)
    assert seconds_of(ranged, request()) >= 0.02
    own = mock(replies=[{"response": "x", "delay_ms": 0}], delay_ms=60_000)
    assert seconds_of(own, request()) < 5


def test_scripted_time_outs_can_hang_until_somebody_ends_them() -> None:
    async def story() -> None:
        async with asyncio.timeout(0.02):
            await mock(response="x", timeouts=1, hang=True).respond(request())

    with pytest.raises(TimeoutError):
        asyncio.run(story())


def test_a_batch_gives_one_outcome_for_each_request_in_order() -> None:
    provider = mock(replies={"a": "one", "b": {"error": "boom"}, "c": {"timeout": True}})
    assert isinstance(provider, BatchProvider)
    one, boom, late = asyncio.run(provider.respond_batch([request(name) for name in "abc"]))
    assert not isinstance(one, ProviderError)
    assert one.text == "one"
    assert isinstance(boom, ProviderError)
    assert str(boom) == "boom"
    assert isinstance(late, ProviderTimeout)


def test_a_batch_can_fail_as_a_whole() -> None:
    provider = mock(response="x", batch_error="no batches today")
    with pytest.raises(ProviderError, match="no batches today"):
        asyncio.run(provider.respond_batch([request()]))
    assert outcome(provider, request()) == "x"


@pytest.mark.parametrize(
    "more",
    [
        {"response": ""},
        {"echo": True},
        {"replies": ["a", {"response": "b", "delay_ms": 5}]},
        {"replies": {"a": {"timeout": True}}, "hang": True},
        {"error": "down"},
        {"timeout_rate": 1},
        {"response": "x", "delay_min_ms": 1, "delay_max_ms": 1, "error": "e", "error_rate": 0.5},
    ],
)
def test_valid_options(more: dict[str, Any]) -> None:
    assert list(options(**more).problems(NoFiles())) == []


@pytest.mark.parametrize(
    ("more", "path", "message"),
    [
        ({}, (), "a mock needs `response` or `replies`"),
        ({"error": "x", "error_rate": 0.5}, (), "a mock needs `response` or `replies`"),
        ({"timeouts": 2}, (), "a mock needs `response` or `replies`"),
        ({"response": "x", "echo": True}, ("echo",), "`echo` and `response` exclude each other"),
        (
            {"response": "x", "replies": ["y"]},
            ("replies",),
            "`replies` and `response` exclude each other",
        ),
        ({"replies": []}, ("replies",), "there is no reply in it"),
        (
            {"replies": ["x", {}]},
            ("replies", 1),
            "a reply is one of `response`, `error` and `timeout: true`",
        ),
        (
            {"replies": {"a": {"response": "x", "error": "y"}}},
            ("replies", "a"),
            "a reply is one of `response`, `error` and `timeout: true`",
        ),
        (
            {"response": "x", "delay_min_ms": 5, "delay_max_ms": 1},
            ("delay_min_ms",),
            "5 is more than `delay_max_ms` (1)",
        ),
        (
            {"response": "x", "delay_min_ms": 5},
            ("delay_min_ms",),
            "`delay_min_ms` needs `delay_max_ms` beside it",
        ),
        (
            {"response": "x", "delay_max_ms": 5},
            ("delay_max_ms",),
            "`delay_max_ms` needs `delay_min_ms` beside it",
        ),
        (
            {"response": "x", "delay_ms": 1, "delay_min_ms": 1, "delay_max_ms": 2},
            ("delay_ms",),
            "a fixed delay and a range exclude each other",
        ),
        ({"response": "x", "hang": True}, ("hang",), "nothing here times out, so nothing hangs"),
    ],
)
def test_mistakes(more: dict[str, Any], path: tuple[str | int, ...], message: str) -> None:
    (problem,) = options(**more).problems(NoFiles())
    assert (problem.path, problem.message) == (path, message)
    assert problem.hint


@pytest.mark.parametrize(
    "more",
    [
        {"error_rate": 1.5},
        {"delay_ms": -1},
        {"timeouts": -1},
        {"replies": [1]},
        {"replies": {"a": {"text": "x"}}},
    ],
)
def test_types_are_checked(more: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        options(**more)
