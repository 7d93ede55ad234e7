"""A batch replays like anything else, without its waits and beside those of real runs."""

from pathlib import Path
from threading import Event

import pytest
from batch_project import BatchProject
from batch_runs import APIS
from batch_vendor import KEY, BatchVendor, Mishap

from agentv.errors import ExitCode
from agentv.testing import Project

UNANSWERED = {"case 003": 400, "case 007": 500}


@pytest.mark.parametrize("api", APIS)
def test_a_batch_is_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: str) -> None:
    """What it had no answer to is replayed as it was sent singly."""
    monkeypatch.setenv("THE_KEY", KEY)
    with BatchVendor(polls=3, fates=UNANSWERED) as vendor:
        batched = BatchProject(tmp_path, vendor, api)
        project = Project(tmp_path)
        recorded = project.run("eval", "a.eval.yaml", "--record", "tape")
        assert recorded.code == ExitCode.OK, recorded.err
        assert len(vendor.batches) == 1
        assert sorted(vendor.singles) == sorted(UNANSWERED)
        files = sorted(tmp_path.glob("tape/*/*/*.*"))
        vendor.singles.clear()
        project.run("eval", "a.eval.yaml", "--record", "tape")
        assert sorted(tmp_path.glob("tape/*/*/*.*")) == files
    monkeypatch.delenv("THE_KEY")
    assert batched.ledger == []
    replayed = project.run("eval", "a.eval.yaml", "--replay", "tape")

    assert replayed.code == ExitCode.OK, replayed.out
    assert "answered 28 of 30 requests" in replayed.err
    assert {row["verdict"] for row in project.rows()} == {"pass"}
    assert batched.ledger == []


def test_a_replay_leaves_the_batches_of_real_runs_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    hold = Event()
    hold.set()
    with BatchVendor(hold=hold) as vendor:
        batched = BatchProject(tmp_path, vendor, "openai", batch_poll_seconds=0.01)
        project = Project(tmp_path)
        project.run("eval", "a.eval.yaml", "--record", "tape")
        hold.clear()
        vendor.polled.clear()
        batched.cut_off(vendor.polled, "cut-short")
        noted = [(path, path.read_bytes()) for path in batched.ledger]
        assert noted
        replayed = project.run("eval", "a.eval.yaml", "--replay", "tape")
    assert replayed.code == ExitCode.OK, replayed.out
    assert [(path, path.read_bytes()) for path in batched.ledger] == noted


def test_a_batch_of_other_requests_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    with BatchVendor() as vendor:
        BatchProject(tmp_path, vendor, "anthropic", cases=2)
        project = Project(tmp_path)
        project.run("eval", "a.eval.yaml", "--record", "tape")
    suite = tmp_path / "a.eval.yaml"
    suite.write_text(suite.read_text().replace("What of case 001", "What about case 001"))
    replayed = project.run("eval", "a.eval.yaml", "--replay", "tape")
    assert replayed.code == ExitCode.ERRORS
    assert "Not in the cassette tape" in replayed.out


@pytest.mark.parametrize("mishap", ["lost", "reset"])
@pytest.mark.parametrize("api", APIS)
def test_a_batch_whose_making_had_no_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: str, mishap: Mishap
) -> None:
    """It is looked for in a replay as it was: where it was made, and where it was not."""
    monkeypatch.setenv("THE_KEY", KEY)
    with BatchVendor(mishaps={"create": [mishap]}) as vendor:
        BatchProject(tmp_path, vendor, api, cases=3)
        project = Project(tmp_path)
        recorded = project.run("eval", "a.eval.yaml", "--record", "tape")
        assert recorded.code == ExitCode.OK, recorded.err
        assert len(vendor.batches) == 1
    replayed = project.run("eval", "a.eval.yaml", "--replay", "tape")
    assert replayed.code == ExitCode.OK, replayed.out
    assert "answered 3 of 3 requests" in replayed.err


@pytest.mark.parametrize(
    ("api", "moment"),
    [("anthropic", "created"), ("gemini", "created"), ("azure", "polled"), ("openai", "polled")],
)
def test_a_run_that_was_killed_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: str, moment: str
) -> None:
    """Killed before it knew that its batch was made, and while it waited for that."""
    monkeypatch.setenv("THE_KEY", KEY)
    hold = Event()
    with BatchVendor(hold=hold, delays={"create": 1} if moment == "created" else {}) as vendor:
        batched = BatchProject(tmp_path, vendor, api, cases=3)
        batched.cut_off(getattr(vendor, moment), "run", "--record", "tape")
        hold.set()
        vendor.delays = {}
        code, said = batched.finish("run", "--record", "tape", "--resume")
        assert code == ExitCode.OK, said
        assert len(vendor.batches) == 1
    project = Project(tmp_path)
    replayed = project.run("eval", "a.eval.yaml", "--replay", "tape", "--out", "replay")
    assert replayed.code == ExitCode.OK, replayed.out
    assert "answered 3 of 3 requests" in replayed.err
    assert batched.verdicts("replay") == batched.verdicts("run")
