"""Whole runs over batches: killed in the middle, refused, with failures of single cases.

That each API finds its batch again is shown without the runner, in `test_batch_apis.py` and
`test_batch_once.py`; a few of them stand for all here, since every kill takes a process.
"""

import random
import signal
import sys
from pathlib import Path
from threading import Event

import pytest
from batch_kills import tell
from batch_project import BatchProject
from batch_runs import APIS
from batch_vendor import BatchVendor

UNANSWERED = {"case 003": 400, "case 007": 500, "case 011": None}


@pytest.mark.parametrize("api", ["openai", "gemini"])
def test_a_run_killed_while_it_waits_pays_for_one_batch(api: str, tmp_path: Path) -> None:
    end = Event()
    with BatchVendor(hold=end, fates=UNANSWERED, single_fates={"case 003": 400}) as vendor:
        project = BatchProject(tmp_path / "project", vendor, api)
        project.cut_off(vendor.polled, "first")
        end.set()
        code, said = project.finish("second")
        assert len(vendor.batches) == 1
        assert sorted(vendor.singles) == sorted(UNANSWERED)
    found = project.verdicts("second")
    assert found.pop("c3") == "error"
    assert set(found.values()) == {"pass"}
    assert "of an interrupted run" in said
    assert code == 3
    assert project.ledger == []


@pytest.mark.parametrize("api", ["azure", "anthropic"])
def test_a_run_killed_before_it_could_note_its_batch_pays_for_one(api: str, tmp_path: Path) -> None:
    """The service has made it, and its reply is on the way."""
    with BatchVendor(delays={"create": 0.5}) as vendor:
        project = BatchProject(tmp_path / "project", vendor, api)
        project.cut_off(vendor.created, "first")
        code, said = project.finish("second")
        assert len(vendor.batches) == 1
        assert vendor.singles == []
    assert set(project.verdicts("second").values()) == {"pass"}
    assert code == 0
    assert "a batch of an interrupted run may be there: looking for it" in said


@pytest.mark.parametrize("options", [(), ("--cache",)], ids=["plain", "cache"])
def test_a_run_killed_while_answers_are_handed_out_takes_the_rest_up(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """With a response cache the next run wants only what that does not have."""
    with BatchVendor(fates=UNANSWERED, delays={"single": 0.3}) as vendor:
        project = BatchProject(tmp_path / "project", vendor, "openai", options=options)
        project.cut_off(vendor.asked_singly, "first")
        code, _ = project.finish("second")
        assert len(vendor.batches) == 1
        assert set(vendor.singles) == UNANSWERED.keys()
    assert set(project.verdicts("second").values()) == {"pass"}
    assert code == 0


def test_runs_killed_at_any_moment_come_to_one_batch_and_a_row_a_case(tmp_path: Path) -> None:
    """The long form of this is `batch_kills.py`."""
    seed = random.randrange(sys.maxsize)
    rng = random.Random(seed)
    api = rng.choice(APIS)
    story = tell(api, tmp_path / "project", rng, most_kills=2)
    assert story.wrong == [], f"seed {seed}, {api}, killed {story.stages}"


def test_an_interrupted_run_says_that_its_batch_goes_on(tmp_path: Path) -> None:
    with BatchVendor(hold=Event()) as vendor:
        project = BatchProject(tmp_path / "project", vendor, "anthropic")
        code, said = project.cut_off(vendor.polled, "first", by=signal.SIGINT)
    assert code == 130
    assert (
        "batch b0 is kept by the service, and will go on if not ended: "
        "the same command, started again within two days, takes it up"
    ) in said


def test_a_run_interrupted_while_it_asks_for_its_batch_says_that_there_may_be_one(
    tmp_path: Path,
) -> None:
    with BatchVendor(delays={"create": 30}) as vendor:
        project = BatchProject(tmp_path / "project", vendor, "gemini")
        _, said = project.cut_off(vendor.created, "first", by=signal.SIGINT)
    assert "a batch was perhaps made, and is kept by the service" in said


def test_where_batches_cannot_be_noted_down_cases_are_sent_singly(tmp_path: Path) -> None:
    """A batch that a crash would lose is not made."""
    with BatchVendor() as vendor:
        project = BatchProject(tmp_path / "project", vendor, "gemini")
        folder = project.folder / ".agentv" / "batches"
        folder.parent.mkdir()
        folder.write_text("a file in the way")
        _, said = project.finish("first")
        assert vendor.batches == {}
    assert set(project.verdicts("first").values()) == {"pass"}
    assert f"could not be made (it cannot be noted down in {folder}: File exists)" in said


def test_a_log_says_how_far_a_batch_is(tmp_path: Path) -> None:
    """Without `--verbose`: it may take a day."""
    with BatchVendor(fates=UNANSWERED) as vendor:
        project = BatchProject(tmp_path / "project", vendor, "azure")
        _, said = project.finish("first")
    assert [line for line in said.splitlines() if "batch" in line] == [
        "  · azure/gpt-x: batch b0 made of 30 requests",
        "  ⏸ azure/gpt-x: batch b0 (in_progress) — 13 of 30 done, next look in 1 s",
        "  ⏸ azure/gpt-x: batch b0 (completed) — 27 of 30 done, 3 failed",
        "  · azure/gpt-x: batch b0 answered 27 of 30 requests; the others are sent singly "
        "(1 http_400, 1 http_500, 1 batch_expired)",
    ]


def test_cases_of_a_batch_that_cannot_be_made_are_sent_singly(tmp_path: Path) -> None:
    """Enabled for batching-capable provider: a batch that throws is no reason to have no rows."""
    with BatchVendor(create_status=404) as vendor:
        project = BatchProject(tmp_path / "project", vendor, "openai")
        code, said = project.finish("first")
        assert len(vendor.singles) == 30
    assert set(project.verdicts("first").values()) == {"pass"}
    assert code == 0
    assert "could not be made" in said
    assert "batches are not for you" in said
