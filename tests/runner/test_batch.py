"""All requests in one call, where the provider can; one at a time where it cannot."""

import asyncio
from collections.abc import Sequence

import pytest

from agentv.errors import ProviderError, ProviderTimeout, RunAborted
from agentv.model.event import Event, Notice
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.protocols import Provider
from agentv.runner.attempts import Answer, AttemptPolicy, ask
from agentv.runner.batch import dispatch_batch
from agentv.testing import Reply, ScriptedProvider

REQUESTS = [ProviderRequest(eval_id=id_, suite="s", question=f"{id_}?") for id_ in ("a", "b", "c")]
POLICY = AttemptPolicy(timeout_seconds=10, max_retries=1)


class Batching(ScriptedProvider):
    """Answers batches from one script and single requests from another."""

    def __init__(self, batch: Sequence[object] | Exception, singly: Sequence[Reply] = ()) -> None:
        super().__init__(singly)
        self._batch = batch
        self.batches: list[list[str]] = []

    async def respond_batch(self, requests: Sequence[ProviderRequest]) -> Sequence[object]:
        self.batches.append([request.eval_id for request in requests])
        if isinstance(self._batch, Exception):
            raise self._batch
        return self._batch


def answers(provider: Provider) -> tuple[list[str], list[Event]]:
    """The text or the error of each request, asked in reverse order, and what was told."""
    events: list[Event] = []

    async def story() -> list[Answer]:
        handing_out = await dispatch_batch("default", provider, REQUESTS, events.append)
        found = [
            await ask(handing_out, request, POLICY, lambda *_: None)
            for request in reversed(REQUESTS)
        ]
        return found[::-1]

    found = asyncio.run(story())
    return [a.response.text if a.response else str(a.error) for a in found], events


def text(value: str) -> ProviderResponse:
    return ProviderResponse(text=value)


def test_one_call_answers_all_cases() -> None:
    """Scenario: Enabled for batching-capable provider. Each case gets its own answer."""
    provider = Batching([text("A"), text("B"), text("C")])

    assert answers(provider) == (["A", "B", "C"], [])
    assert provider.batches == [["a", "b", "c"]]
    assert provider.requests == []


def test_a_case_that_failed_in_the_batch_is_that_cases_error() -> None:
    """Scenario: Error isolation in parallel mode."""
    provider = Batching([text("A"), ProviderError("too long"), text("C")])

    assert answers(provider)[0] == ["A", "too long", "C"]
    assert provider.requests == []


def test_a_case_that_timed_out_in_the_batch_is_retried_alone() -> None:
    """Scenario: Timeout with retry."""
    provider = Batching([text("A"), ProviderTimeout("slow"), text("C")], singly=["B at last"])

    assert answers(provider)[0] == ["A", "B at last", "C"]
    assert [(r.eval_id, r.attempt) for r in provider.requests] == [("b", 2)]


@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        pytest.param(ProviderError("no capacity"), "no capacity", id="throws"),
        pytest.param(RuntimeError("a bug"), "a bug", id="crashes"),
        pytest.param([text("A"), text("C")], "2 answers came back for 3 cases", id="too few"),
        pytest.param([text("A")] * 4, "4 answers came back for 3 cases", id="too many"),
    ],
)
def test_a_batch_that_breaks_is_sent_one_at_a_time(
    batch: Sequence[object] | Exception, reason: str
) -> None:
    """Scenario: Enabled for batching-capable provider (the fallback).

    An answer too few or too many could be anyone's: no case may be given another's.
    """
    provider = Batching(batch, singly=["C", "B", "A"])
    found, [notice] = answers(provider)

    assert found == ["A", "B", "C"]
    assert len(provider.batches) == 1
    assert isinstance(notice, Notice)
    assert notice.level == "warning"
    assert reason in notice.message


def test_a_provider_without_batches_is_asked_one_at_a_time() -> None:
    """Scenario: Fallback when provider cannot batch."""
    provider = ScriptedProvider(["C", "B", "A"])
    found, [notice] = answers(provider)

    assert found == ["A", "B", "C"]
    assert isinstance(notice, Notice)
    assert notice.level == "verbose"
    assert "'default'" in notice.message


def test_what_ends_the_run_passes_through() -> None:
    with pytest.raises(RunAborted, match="the licence has run out"):
        answers(Batching(RunAborted("the licence has run out")))


def test_what_is_no_response_is_that_cases_error() -> None:
    found, _ = answers(Batching([text("A"), "B", text("C")]))

    assert found == ["A", "TypeError: the provider returned str, not a ProviderResponse", "C"]
