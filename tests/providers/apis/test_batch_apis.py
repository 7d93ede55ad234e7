"""A batch through each API, against a real server: one outcome a request, nothing paid twice."""

import asyncio
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import msgspec
import pytest
from batch_vendor import KEY, BatchVendor
from scripted_http import ScriptedService

from agentv.errors import ProviderError, RunAborted
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.providers.apis.batch import BatchingApi
from agentv.providers.apis.batch_plan import Outcome
from agentv.registry import Registry
from agentv.transport.http import Http

FATES = {"case 03": 400, "case 07": 500, "case 11": None, "case 29": 429}
APIS = ["openai", "responses", "azure", "anthropic", "gemini"]


def settings(api: str, url: str) -> dict[str, Any]:
    """The target's own keys for each API."""
    return {
        "openai": {"provider": "openai", "model": "gpt-5", "base_url": f"{url}/v1"},
        "responses": {
            "provider": "openai",
            "model": "gpt-5",
            "base_url": f"{url}/v1",
            "api": "responses",
        },
        "azure": {"provider": "azure", "deployment_name": "gpt-x", "endpoint": url},
        "anthropic": {"provider": "anthropic", "model": "claude-sonnet-4-5", "base_url": url},
        "gemini": {"provider": "gemini", "base_url": url},
    }[api]


def questions(number: int = 30) -> list[ProviderRequest]:
    return [
        ProviderRequest(eval_id=f"c{n}", suite="s", question=f"What of case {n:02}?")
        for n in range(number)
    ]


class Runs:
    """One run after another in the same folder, each with an own provider."""

    def __init__(self, vendor: BatchVendor, folder: Path, api: str = "anthropic") -> None:
        self.vendor = vendor
        self.said: list[str] = []
        self._folder = folder
        self._api = api

    def once(self, requests: Sequence[ProviderRequest], **keys: Any) -> list[Outcome]:
        """A run that ends well."""
        return asyncio.run(self.run(requests, settles=True, **keys))

    async def run(
        self, requests: Sequence[ProviderRequest], *, settles: bool, **keys: Any
    ) -> list[Outcome]:
        data = {
            "name": "t",
            "api_key": KEY,
            "batch_poll_seconds": 0.002,
            "retry": {"initial_delay_ms": 1, "max_delay_ms": 2},
            **settings(self._api, self.vendor.url),
            **keys,
        }
        registry = Registry()
        entry = registry.find("providers", data["provider"])
        assert entry is not None
        options = msgspec.convert(data, registry.provider_options(entry))
        async with Http() as http:
            around = ScriptedService([], notified=self.said).build()
            build = dataclasses.replace(around, http=http, folder=self._folder)
            provider = registry.build_provider(options, build)
            assert isinstance(provider, BatchingApi)
            try:
                outcomes = list(await provider.respond_batch(requests))
                if settles:
                    provider.settle()
                return outcomes
            finally:
                await provider.aclose()

    @property
    def ledger(self) -> list[str]:
        folder = self._folder / ".agentv" / "batches"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def words(outcome: Outcome) -> str | None:
    if isinstance(outcome, ProviderResponse):
        return outcome.text
    return f"{outcome.kind}: {outcome}" if outcome else None


@pytest.mark.parametrize("api", APIS)
def test_each_request_of_a_batch_gets_its_own_outcome(api: str, tmp_path: Path) -> None:
    """A refusal is final; what expired or met a failure is left to be sent singly."""
    with BatchVendor(fates=FATES) as vendor:
        outcomes = Runs(vendor, tmp_path, api).once(questions())
    said = {f"case {number:02}": words(outcome) for number, outcome in enumerate(outcomes)}
    refused = said.pop("case 03")
    assert refused is not None
    assert refused.startswith("http_400: refused in a batch with 400")
    assert "this one is bad" in refused
    assert {case: said.pop(case) for case in ("case 07", "case 11", "case 29")} == {
        "case 07": None,
        "case 11": None,
        "case 29": None,
    }
    assert said == {case: f"batched: {case}" for case in said}
    assert len(said) == 26
    assert len(vendor.batches) == 1
    assert vendor.singles == []


@pytest.mark.parametrize("api", APIS)
def test_answers_of_a_batch_come_with_their_usage(api: str, tmp_path: Path) -> None:
    with BatchVendor() as vendor:
        [outcome] = Runs(vendor, tmp_path, api).once(questions(1))
    assert isinstance(outcome, ProviderResponse)
    assert outcome.usage is not None
    assert (outcome.usage.input_tokens, outcome.usage.output_tokens) == (11, 7)


@pytest.mark.parametrize("api", APIS)
def test_an_interrupted_run_that_is_started_again_takes_its_batch_up(
    api: str, tmp_path: Path
) -> None:
    end = Event()
    with BatchVendor(hold=end) as vendor:
        runs = Runs(vendor, tmp_path, api)

        async def interrupted() -> None:
            task = asyncio.create_task(runs.run(questions(), settles=False))
            await asyncio.to_thread(vendor.polled.wait)
            task.cancel()
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(interrupted())
        assert runs.said[-1].endswith(
            "is kept, although this run was interrupted. "
            "Start the same run again within two days to pick its answers up."
        )
        end.set()
        outcomes = runs.once(questions())
        assert len(vendor.batches) == 1
    assert [words(outcome) for outcome in outcomes] == [
        f"batched: case {number:02}" for number in range(30)
    ]
    assert any("of an interrupted run" in line for line in runs.said)
    assert runs.ledger == []


def test_a_run_that_was_cut_short_after_its_batch_was_answered_has_it_still(
    tmp_path: Path,
) -> None:
    with BatchVendor() as vendor:
        runs = Runs(vendor, tmp_path)
        asyncio.run(runs.run(questions(), settles=False))
        runs.once(questions())
        assert len(vendor.batches) == 1


def test_a_run_that_ended_well_leaves_its_answers_to_no_other(tmp_path: Path) -> None:
    with BatchVendor() as vendor:
        runs = Runs(vendor, tmp_path)
        runs.once(questions())
        runs.once(questions())
        assert len(vendor.batches) == 2


def test_two_runs_at_once_each_have_their_own_batch(tmp_path: Path) -> None:
    with BatchVendor() as vendor:
        runs = Runs(vendor, tmp_path)

        async def both() -> None:
            await asyncio.gather(*(runs.run(questions(), settles=True) for _ in "ab"))

        asyncio.run(both())
        assert len(vendor.batches) == 2
    assert runs.ledger == []


def test_other_requests_or_another_target_are_another_batch(tmp_path: Path) -> None:
    with BatchVendor() as vendor:
        runs = Runs(vendor, tmp_path)
        for requests, keys in (
            (questions(), {}),
            (questions(31), {}),
            (questions(), {"temperature": 0.5}),
            (questions(), {"name": "other"}),
        ):
            asyncio.run(runs.run(requests, settles=False, **keys))
        assert len(vendor.batches) == 4


def test_a_batch_that_was_deleted_meanwhile_is_made_anew(tmp_path: Path) -> None:
    with BatchVendor() as vendor:
        runs = Runs(vendor, tmp_path)
        asyncio.run(runs.run(questions(), settles=False))
        vendor.batches.clear()
        assert words(runs.once(questions())[5]) == "batched: case 05"
    assert any("is of no use any more" in line for line in runs.said)


@pytest.mark.parametrize("api", APIS)
def test_where_no_batch_can_be_made_the_error_says_why(api: str, tmp_path: Path) -> None:
    """The runner then sends the requests singly."""
    with BatchVendor(create_status=403) as vendor:
        runs = Runs(vendor, tmp_path, api)
        with pytest.raises(ProviderError, match="answered 403: batches are not for you"):
            runs.once(questions())
    assert runs.ledger == []


def test_a_batch_that_fails_in_validation_is_no_batch(tmp_path: Path) -> None:
    with BatchVendor(fails=True) as vendor:
        runs = Runs(vendor, tmp_path, "openai")
        with pytest.raises(ProviderError, match="batch b0 failed: line 1 is bad"):
            runs.once(questions())
    assert runs.ledger == []


def test_failures_while_waiting_do_not_end_the_wait(tmp_path: Path) -> None:
    with BatchVendor(poll_statuses=[500, 503, 429, 500, 502, 504]) as vendor:
        outcomes = Runs(vendor, tmp_path).once(questions())
    assert words(outcomes[0]) == "batched: case 00"


def test_a_refusal_while_waiting_ends_the_run_and_keeps_the_batch(tmp_path: Path) -> None:
    """Sent singly, everything would be paid for a second time."""
    with BatchVendor(poll_statuses=[401]) as vendor:
        runs = Runs(vendor, tmp_path)
        with pytest.raises(RunAborted, match=r"Batch b0 is kept, although .* answered 401"):
            runs.once(questions())
        runs.once(questions())
        assert len(vendor.batches) == 1


def test_a_batch_that_takes_too_long_ends_the_run_and_is_kept(tmp_path: Path) -> None:
    with BatchVendor(hold=Event()) as vendor:
        runs = Runs(vendor, tmp_path)
        with pytest.raises(RunAborted, match=r"it did not end within 0\.05 s"):
            runs.once(questions(), batch_timeout_seconds=0.05)
    assert runs.ledger != []


def test_news_of_a_batch_are_told_once(tmp_path: Path) -> None:
    with BatchVendor(polls=4, fates={"case 01": 500}) as vendor:
        runs = Runs(vendor, tmp_path)
        runs.once(questions())
    assert runs.said == [
        "t: batch b0 made of 30 requests",
        "t: batch b0: in_progress, 0 done, 0 failed",
        "t: batch b0: ended, 29 done, 1 failed",
        "t: batch answered; 1 of 30 requests are left to be sent singly",
    ]


def test_without_requests_there_is_no_batch(tmp_path: Path) -> None:
    with BatchVendor() as vendor:
        assert Runs(vendor, tmp_path).once([]) == []
    assert vendor.batches == {}


def test_azure_is_sent_what_it_documents(tmp_path: Path) -> None:
    """Paths have no version, and each line names its deployment."""
    with BatchVendor() as vendor:
        Runs(vendor, tmp_path, "azure").once(questions(1))
    [batch] = vendor.batches.values()
    assert batch.request["endpoint"] == "/chat/completions"
    [(custom_id, _, body)] = batch.items
    assert custom_id == "case-000000"
    assert body["model"] == "gpt-x"


def test_openai_is_sent_what_it_documents(tmp_path: Path) -> None:
    with BatchVendor() as vendor:
        Runs(vendor, tmp_path, "openai").once(questions(1))
    [batch] = vendor.batches.values()
    label = batch.request["metadata"].pop("agentv")
    assert len(label) == 32
    assert batch.request == {
        "input_file_id": "file-0",
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
        "metadata": {},
    }
    assert msgspec.json.decode(vendor.uploads["file-0"]) == {
        "custom_id": "case-000000",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": batch.items[0][2],
    }


def test_what_is_left_of_an_interrupted_run_takes_its_answers_from_the_batch(
    tmp_path: Path,
) -> None:
    """A response cache may know some answers already."""
    with BatchVendor() as vendor:
        runs = Runs(vendor, tmp_path)
        asyncio.run(runs.run(questions(), settles=False))
        outcomes = runs.once(questions()[20:])
        assert len(vendor.batches) == 1
    assert [words(outcome) for outcome in outcomes] == [
        f"batched: case {number}" for number in range(20, 30)
    ]
