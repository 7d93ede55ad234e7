"""A batch through each API, against a real server: one outcome a request, nothing paid twice."""

import asyncio
import re
from pathlib import Path
from threading import Event

import msgspec
import pytest
from batch_runs import APIS, FATES, Runs, questions, words
from batch_vendor import BatchVendor

from agentv.errors import ProviderError, RunAborted
from agentv.model.request import ProviderResponse


@pytest.mark.parametrize("api", APIS)
def test_each_request_of_a_batch_gets_its_own_outcome(api: str, tmp_path: Path) -> None:
    """What the batch has no answer to is left to be sent singly, whatever the reason."""
    with BatchVendor(fates=FATES) as vendor:
        runs = Runs(vendor, tmp_path, api)
        outcomes = runs.once(questions())
    said = {f"case {number:02}": words(outcome) for number, outcome in enumerate(outcomes)}
    assert [case for case in said if said[case] is None] == sorted(FATES)
    answered = said.keys() - FATES.keys()
    assert {said[case] for case in answered} == {f"batched: {case}" for case in answered}
    assert len(vendor.batches) == 1
    assert vendor.singles == []
    assert "answered 26 of 30 requests; the others are sent singly (" in runs.said[-1]


@pytest.mark.parametrize(
    ("api", "reasons"),
    [
        ("openai", "1 http_400, 1 http_500, 1 http_429, 1 batch_expired"),
        ("anthropic", "1 invalid_request_error, 1 api_error, 1 expired, 1 rate_limit_error"),
        ("gemini", "2 INTERNAL, 1 INVALID_ARGUMENT, 1 RESOURCE_EXHAUSTED"),
    ],
)
def test_why_requests_have_no_answer_is_said(api: str, reasons: str, tmp_path: Path) -> None:
    with BatchVendor(fates=FATES) as vendor:
        runs = Runs(vendor, tmp_path, api)
        runs.once(questions())
    said = runs.said[-1].partition("singly (")[2].rstrip(")")
    assert sorted(said.split(", ")) == sorted(reasons.split(", "))


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
            await asyncio.to_thread(vendor.polled.wait, 60)
            task.cancel()
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(interrupted())
        assert runs.said[-1].endswith(
            " is kept by the service, and will go on if not ended: "
            "the same command, started again within two days, takes it up"
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
        runs.cut_short(questions())
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
    [warning] = runs.warnings
    assert warning.endswith(
        "a run with batches of the same cases goes on; this one pays for its own"
    )


def test_other_requests_or_another_target_are_another_batch(tmp_path: Path) -> None:
    with BatchVendor() as vendor:
        runs = Runs(vendor, tmp_path)
        for requests, keys in (
            (questions(), {}),
            (questions(31), {}),
            (questions(), {"temperature": 0.5}),
            (questions(), {"name": "other"}),
        ):
            runs.cut_short(requests, **keys)
        assert len(vendor.batches) == 4


def test_a_batch_that_was_deleted_meanwhile_is_made_anew(tmp_path: Path) -> None:
    with BatchVendor() as vendor:
        runs = Runs(vendor, tmp_path)
        runs.cut_short(questions())
        vendor.batches.clear()
        assert words(runs.once(questions())[5]) == "batched: case 05"
    assert any(line.endswith("it is of no use any more") for line in runs.said)


@pytest.mark.parametrize("api", APIS)
def test_where_no_batch_can_be_made_the_error_says_why(api: str, tmp_path: Path) -> None:
    """The runner then sends the requests singly."""
    with BatchVendor(create_status=403) as vendor:
        runs = Runs(vendor, tmp_path, api)
        with pytest.raises(ProviderError, match="answered 403: batches are not for you"):
            runs.once(questions())
    assert runs.ledger == []


def test_a_batch_that_fails_in_validation_is_no_batch(tmp_path: Path) -> None:
    with BatchVendor(word="failed") as vendor:
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
        with pytest.raises(RunAborted, match=r"answered 401: .*; batch b0 is kept by the service"):
            runs.once(questions())
        runs.once(questions())
        assert len(vendor.batches) == 1


def test_a_batch_that_takes_too_long_ends_the_run_and_is_kept(tmp_path: Path) -> None:
    with BatchVendor(hold=Event()) as vendor:
        runs = Runs(vendor, tmp_path)
        with pytest.raises(
            RunAborted, match=r"no end of the batch within 0\.05 s; batch b0 is kept"
        ):
            runs.once(questions(), batch_timeout_seconds=0.05)
    assert runs.ledger != []


def test_how_far_a_batch_is_can_be_followed(tmp_path: Path) -> None:
    with BatchVendor(polls=3, fates={"case 01": 500}) as vendor:
        runs = Runs(vendor, tmp_path, "azure")
        runs.once(questions(), batch_poll_seconds=0.01)
    assert runs.said == [
        "azure/gpt-x: batch b0 made of 30 requests",
        "azure/gpt-x: batch b0 (in_progress) — 7 of 30 done, next look in 1 s",
        "azure/gpt-x: batch b0 (in_progress) — 14 of 30 done, next look in 1 s",
        "azure/gpt-x: batch b0 (in_progress) — 21 of 30 done, next look in 1 s",
        "azure/gpt-x: batch b0 (completed) — 29 of 30 done, 1 failed",
        "azure/gpt-x: batch b0 answered 29 of 30 requests; the others are sent singly (1 http_500)",
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
    assert re.fullmatch("[0-9a-f]{12}-000000-c0", custom_id)
    assert body["model"] == "gpt-x"


def test_openai_is_sent_what_it_documents(tmp_path: Path) -> None:
    with BatchVendor() as vendor:
        Runs(vendor, tmp_path, "openai").once(questions(1))
    [batch] = vendor.batches.values()
    key = batch.request["metadata"].pop("agentv")
    assert re.fullmatch("[0-9a-f]{12}", key)
    assert batch.request == {
        "input_file_id": "file-0",
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
        "metadata": {},
    }
    assert msgspec.json.decode(vendor.uploads["file-0"]) == {
        "custom_id": f"{key}-000000-c0",
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
        runs.cut_short(questions())
        outcomes = runs.once(questions()[20:])
        assert len(vendor.batches) == 1
    assert [words(outcome) for outcome in outcomes] == [
        f"batched: case {number}" for number in range(20, 30)
    ]
