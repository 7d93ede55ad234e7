"""One batch is made and paid for, whatever befalls the request for it or the run."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from batch_forms import Batch
from batch_runs import APIS, Runs, questions, words
from batch_vendor import BatchVendor, Mishap

from agentv.errors import ProviderError
from agentv.providers.apis.batch_api import BatchLimits
from agentv.providers.apis.batch_openai import OpenAiBatches

ALL = [f"batched: case {number:02}" for number in range(30)]
ASKED = {"batch_id": None, "is_sure": True}
"""What a run leaves that was killed before it could note its batch down."""


def add_others(vendor: BatchVendor, number: int = 5) -> None:
    """Batches of other people, as large as ours and made at the same time."""
    [own] = vendor.batches.values()
    for _ in range(number):
        request = msgspec.json.decode(msgspec.json.encode(own.request).replace(b"agentv", b"other"))
        if "input_file_id" in request:
            request["input_file_id"] = "another file"
        items = [(f"other-{key}", path, body) for key, path, body in own.items]
        other = own.id.replace("b0", f"other{len(vendor.batches)}")
        vendor.batches[other] = Batch(other, own.path, request, items)


def left_behind(vendor: BatchVendor, tmp_path: Path, api: str) -> Runs:
    """A run whose batch was made and not noted down."""
    runs = Runs(vendor, tmp_path, api)
    runs.cut_short(questions())
    runs.edit_ledger(**ASKED)
    runs.said.clear()
    return runs


@pytest.mark.parametrize("api", APIS)
def test_a_batch_that_was_not_noted_down_is_found(api: str, tmp_path: Path) -> None:
    """Killed between the service's yes and the ledger's."""
    with BatchVendor() as vendor:
        runs = left_behind(vendor, tmp_path, api)
        add_others(vendor)
        before = len(vendor.batches)
        outcomes = runs.once(questions())
        assert len(vendor.batches) == before
    assert [words(outcome) for outcome in outcomes] == ALL
    assert any("was made by an interrupted run: it is taken up" in line for line in runs.said)
    assert runs.ledger == []


def test_a_batch_that_only_looks_like_ours_is_left_alone(tmp_path: Path) -> None:
    """Anthropic's list does not say whose a batch is: its results do."""
    with BatchVendor() as vendor:
        runs = left_behind(vendor, tmp_path, "anthropic")
        add_others(vendor, 1)
        del vendor.batches["b0"]
        runs.edit_ledger(asked=(datetime.now(UTC) - timedelta(minutes=5)).isoformat())
        outcomes = runs.once(questions())
    assert [words(outcome) for outcome in outcomes] == ALL
    assert len(vendor.batches) == 2
    assert any("batch other1 is not the one that was looked for" in line for line in runs.said)


def test_batches_of_another_size_or_time_are_not_even_looked_into(tmp_path: Path) -> None:
    with BatchVendor() as vendor:
        runs = left_behind(vendor, tmp_path, "anthropic")
        add_others(vendor, 2)
        del vendor.batches["b0"]
        vendor.batches["other1"].items.pop()
        vendor.batches["other2"].created -= 3600
        runs.edit_ledger(asked=(datetime.now(UTC) - timedelta(minutes=1)).isoformat())
        runs.once(questions())
        assert vendor.batches["other1"].polls == vendor.batches["other2"].polls == 0


@pytest.mark.parametrize("api", ["openai", "anthropic", "gemini"])
def test_where_no_batch_was_made_a_new_one_is(api: str, tmp_path: Path) -> None:
    with BatchVendor() as vendor:
        runs = left_behind(vendor, tmp_path, api)
        vendor.batches.clear()
        runs.edit_ledger(asked=(datetime.now(UTC) + timedelta(seconds=0.2)).isoformat())
        outcomes = runs.once(questions(), batch_poll_seconds=0.05)
        assert len(vendor.batches) == 1
        assert vendor.seen["list"] >= 2  # a list may take a while to show a new batch
    assert [words(outcome) for outcome in outcomes] == ALL
    assert any(line.endswith("there is none: a new one is made") for line in runs.said)


@pytest.mark.parametrize("api", ["azure", "anthropic", "gemini"])
def test_a_service_without_a_list_is_said_to_have_none(api: str, tmp_path: Path) -> None:
    with BatchVendor(lists=False) as vendor:
        runs = left_behind(vendor, tmp_path, api)
        outcomes = runs.once(questions())
        assert len(vendor.batches) == 2
    assert [words(outcome) for outcome in outcomes] == ALL
    [warning] = runs.warnings
    assert "the service does not list its batches" in warning
    assert "it is paid for in vain" in warning


@pytest.mark.parametrize("api", ["azure", "anthropic", "gemini"])
def test_a_service_that_cannot_be_reached_is_not_one_without_a_list(
    api: str, tmp_path: Path
) -> None:
    with BatchVendor() as vendor:
        runs = left_behind(vendor, tmp_path, api)
        vendor.mishaps["list"] = ["reset"] * 9
        outcomes = runs.once(questions())
        assert len(vendor.batches) == 1
    assert [words(outcome) for outcome in outcomes] == ALL
    assert runs.warnings == []


@pytest.mark.parametrize("api", ["azure", "anthropic", "gemini"])
def test_where_nobody_answers_there_is_no_batch(api: str, tmp_path: Path) -> None:
    """A mistyped address must not be waited for."""
    with BatchVendor() as vendor:
        runs = Runs(vendor, tmp_path, api)
    with pytest.raises(ProviderError, match="no answer: "):
        runs.once(questions())
    assert runs.ledger == []


@pytest.mark.parametrize("api", ["azure", "anthropic", "gemini"])
@pytest.mark.parametrize(
    "mishap", ["reset", "lost", "429", "500", "broken", "shapeless", "truncated"]
)
def test_a_batch_whose_making_went_wrong_is_made_once(
    api: str, mishap: Mishap, tmp_path: Path
) -> None:
    """Whether it was made cannot be told from a lost reply."""
    with BatchVendor(mishaps={"create": [mishap, mishap]}) as vendor:
        outcomes = Runs(vendor, tmp_path, api).once(questions())
        assert len(vendor.batches) == 1
    assert [words(outcome) for outcome in outcomes] == ALL


@pytest.mark.parametrize("mishap", ["reset", "lost", "429", "500", "broken"])
def test_an_upload_that_went_wrong_is_repeated(mishap: Mishap, tmp_path: Path) -> None:
    with BatchVendor(mishaps={"upload": [mishap, mishap]}) as vendor:
        outcomes = Runs(vendor, tmp_path, "openai").once(questions())
        assert len(vendor.batches) == 1
    assert [words(outcome) for outcome in outcomes] == ALL


def test_a_file_that_is_still_being_read_is_waited_for(tmp_path: Path) -> None:
    """Azure makes no batch of a file before it is processed."""
    with BatchVendor(reads_files=1) as vendor:
        Runs(vendor, tmp_path, "azure").once(questions(2))
        assert vendor.seen == {"upload": 1, "create": 1, "status": 3, "results": 1}


class SmallBatches(OpenAiBatches):
    """Takes no more than a few requests at once."""

    limits = BatchLimits(requests=8, size=2500)


class TestSeveralBatches:
    """More requests than one batch may hold."""

    def test_requests_go_into_as_few_as_hold_them(self, tmp_path: Path) -> None:
        with BatchVendor() as vendor:
            outcomes = Runs(vendor, tmp_path, "openai", SmallBatches).once(questions())
            sizes = [len(batch.items) for batch in vendor.batches.values()]
        assert [words(outcome) for outcome in outcomes] == ALL
        assert sum(sizes) == 30
        assert max(sizes) <= 8
        assert all(len(content) < 2500 + 500 for content in vendor.uploads.values())

    def test_all_of_them_are_taken_up_again(self, tmp_path: Path) -> None:
        with BatchVendor() as vendor:
            runs = Runs(vendor, tmp_path, "openai", SmallBatches)
            runs.cut_short(questions())
            made = len(vendor.batches)
            runs.edit_ledger(**ASKED)
            outcomes = runs.once(questions())
            assert len(vendor.batches) == made > 3
        assert [words(outcome) for outcome in outcomes] == ALL
        assert runs.ledger == []

    def test_a_refused_one_leaves_only_its_own_requests_to_be_sent_singly(
        self, tmp_path: Path
    ) -> None:
        with BatchVendor(mishaps={"create": [None, "403"]}) as vendor:
            runs = Runs(vendor, tmp_path, "openai", SmallBatches)
            outcomes = [words(outcome) for outcome in runs.once(questions())]
        left = [number for number, outcome in enumerate(outcomes) if outcome is None]
        assert left == list(range(left[0], left[-1] + 1))
        assert 0 < left[0] < left[-1] < 29
        [warning] = runs.warnings
        assert f"no batch of {len(left)} requests" in warning
        assert "answered 403" in warning

    def test_what_is_too_large_for_any_is_sent_singly(self, tmp_path: Path) -> None:
        huge = msgspec.structs.replace(questions()[3], question="x" * 3000)
        requests = [*questions()[:3], huge]
        with BatchVendor() as vendor:
            runs = Runs(vendor, tmp_path, "openai", SmallBatches)
            outcomes = runs.once(requests)
        assert [words(outcome) for outcome in outcomes] == [*ALL[:3], None]
        assert runs.said[0].endswith("requests too large for any batch: 1, sent singly")
