"""Runs over batches that were cut short and are gone on with: who is asked, and what is paid."""

import random
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from batch_project import BatchProject, case_name
from batch_resumes import Flavour, control, story, vendor_of
from batch_runs import APIS
from batch_vendor import BatchVendor

from processes import LIMIT_SECONDS, ending

PRICES: dict[str, Any] = {"price_per_million_input": 1000.0, "price_per_million_output": 1000.0}
ALL = [case_name(number) for number in range(30)]


@pytest.fixture
def vendor() -> Iterator[BatchVendor]:
    with BatchVendor() as made:
        yield made


RUN = ("eval", "a.eval.yaml", "--out", "run")


def cut_short(project: BatchProject, vendor: BatchVendor, *command: str) -> None:
    """A run that ends while its batch is under way, as the service refuses to tell of it."""
    vendor.poll_statuses = [401]
    code, said = project.here(*(command or RUN))
    assert code == 3
    assert "is kept by the service" in said


def batches(vendor: BatchVendor) -> list[list[str]]:
    """The cases in each batch that was paid."""
    return [batch.cases for batch in vendor.batches.values()]


def test_a_run_killed_at_random_comes_to_what_an_undisturbed_one_does(tmp_path: Path) -> None:
    """The long form of this is `batch_kills.py --resume`."""
    seed = random.randrange(sys.maxsize)
    rng = random.Random(seed)
    flavour = Flavour(api=rng.choice(APIS), judged=rng.random() < 0.5, wrong=7, cases=30)
    with vendor_of(flavour) as vendor:
        known = control(flavour, vendor, tmp_path / "control")
        told = story(known, vendor, tmp_path / "story", rng, kills=2, cuts=rng.random() < 0.5)
    assert told.broken == [], f"seed {seed}, {flavour.api}, killed {told.stages}"


def test_a_case_edited_after_the_kill_is_a_batch_of_one(
    vendor: BatchVendor, tmp_path: Path
) -> None:
    project = BatchProject(tmp_path / "project", vendor, "azure")
    cut_short(project, vendor)
    project.evalcases[4]["input_messages"][0]["content"] = "And what of case 004 now?"
    project.write()
    code, said = project.here("resume", "run")
    assert batches(vendor) == [ALL, ["case 004"]]
    assert vendor.singles == []
    assert set(project.verdicts("run").values()) == {"pass"}
    assert code == 0
    assert "is taken up: 29 of 30 answers" in said
    assert "batch b1 made of 1 requests" in said
    assert project.ledger == []


def test_another_model_is_asked_in_a_batch_of_its_own(vendor: BatchVendor, tmp_path: Path) -> None:
    project = BatchProject(tmp_path / "project", vendor, "openai")
    cut_short(project, vendor)
    project.targets[0]["model"] = "gpt-6"
    project.write()
    code, said = project.here("resume", "run")
    assert code == 0
    assert batches(vendor) == [ALL, ALL]
    models = [batch.items[0][2]["model"] for batch in vendor.batches.values()]
    assert models == ["gpt-5", "gpt-6"]
    assert "taken up" not in said
    assert project.ledger == []


def test_a_suite_that_was_moved_finds_its_batch(vendor: BatchVendor, tmp_path: Path) -> None:
    project = BatchProject(tmp_path / "project", vendor, "gemini")
    cut_short(project, vendor)
    folder = project.folder / "moved"
    folder.mkdir()
    (project.folder / "a.eval.yaml").rename(folder / "a.eval.yaml")
    code, said = project.here("eval", "moved/a.eval.yaml", "--out", "run", "--resume")
    assert code == 0, said
    assert batches(vendor) == [ALL]
    assert set(project.verdicts("run").values()) == {"pass"}


def test_answers_are_on_disk_before_the_first_judge_speaks(tmp_path: Path) -> None:
    """The vendor need not even know of the batch any more, and the next run gets none of them."""
    with BatchVendor(delays={"single": 0.1}) as vendor:
        project = BatchProject(tmp_path / "project", vendor, "anthropic", judged=True)
        project.cut_off(vendor.asked_to_judge, "run")
        assert project.ledger_files != []
        vendor.batches.clear()
        code, said = project.here("resume", "run", "--workers", "32")
        assert code == 0
        assert ", 0 to be asked" in said
        assert set(project.verdicts("run").values()) == {"pass"}
        assert vendor.batches == {}
        assert vendor.singles == []
        assert project.ledger == []


def test_errors_are_retried_with_what_the_batch_did_not_say(tmp_path: Path) -> None:
    """An empty answer in the batch would be as empty however often it is read."""

    def emptied(lines: list[str]) -> list[str]:
        return [re.sub("batched: case 00[29]", "", line) for line in lines]

    with BatchVendor(fates={"case 020": 500}, doctored=emptied, delays={"single": 1.0}) as vendor:
        project = BatchProject(tmp_path / "project", vendor, "openai")
        project.cut_off(vendor.asked_singly, "run")
        found = {row["eval_id"]: row["verdict"] for row in project.rows("run")}
        assert [id_ for id_, verdict in found.items() if verdict == "error"] == ["c2", "c9"]
        vendor.doctored = list
        code, said = project.here("resume", "run", "--retry-errors")
        assert batches(vendor) == [ALL, ["case 002", "case 009"]]
    assert "2 ended in an error: c2, c9" in said
    assert set(project.verdicts("run").values()) == {"pass"}
    assert code == 0
    assert project.ledger == []


def test_cases_without_an_answer_in_the_batch_are_retried_in_one(tmp_path: Path) -> None:
    """The run came to its end: what is retried is a batch like any other."""
    bad = {"case 003": 400, "case 007": 400}
    with BatchVendor(fates=bad, single_fates=bad) as vendor:
        project = BatchProject(tmp_path / "project", vendor, "azure")
        assert project.here(*RUN)[0] == 3
        vendor.fates = vendor.single_fates = {}
        code, _ = project.here("resume", "run", "--retry-errors")
        assert code == 0
        assert batches(vendor) == [ALL, ["case 003", "case 007"]]


def test_a_rerun_of_what_failed_asks_anew(tmp_path: Path) -> None:
    """Even where the run that it is of was cut short, so that its batch can be found."""
    with BatchVendor(fates={"case 020": 500}, delays={"single": 1.0}) as vendor:
        project = BatchProject(tmp_path / "project", vendor, "gemini", wrong=10)
        project.cut_off(vendor.asked_singly, "run")
        code, said = project.here("rerun", "run", "--failed", "--out", "again")
        assert code == 1, said
        assert batches(vendor) == [ALL, ["case 000", "case 010"]]
        code, _ = project.here("resume", "run")
        assert code == 1
        assert len(vendor.batches) == 2
    assert project.ledger == []


def test_a_few_cases_run_meanwhile_leave_the_rest_of_the_batch(
    vendor: BatchVendor, tmp_path: Path
) -> None:
    project = BatchProject(tmp_path / "project", vendor, "openai")
    cut_short(project, vendor)
    _, said = project.here("eval", "a.eval.yaml", "--out", "few", "--eval-id", "c1")
    assert "is taken up: 1 of 30 answers" in said
    code, said = project.here("resume", "run")
    assert code == 0
    assert "is taken up: 29 of 30 answers" in said
    assert batches(vendor) == [ALL, ["case 001"]]
    assert project.ledger == []


def test_shards_have_batches_of_their_own(vendor: BatchVendor, tmp_path: Path) -> None:
    project = BatchProject(tmp_path / "project", vendor, "anthropic")
    for number in "12":
        shard = ("--shard", f"{number}/2", "--out", f"s{number}")
        cut_short(project, vendor, "eval", "a.eval.yaml", *shard)
    for number in "21":
        code, said = project.here("resume", f"s{number}")
        assert code == 0, said
    assert sorted(map(len, batches(vendor))) == [15, 15]
    code, said = project.here("merge", "s1", "s2", "--out", "whole")
    assert code == 0, said
    assert set(project.verdicts("whole").values()) == {"pass"}
    assert project.ledger == []


def test_what_a_budget_left_of_a_batch_is_taken_from_it(tmp_path: Path) -> None:
    with BatchVendor() as vendor:
        project = BatchProject(tmp_path / "project", vendor, "openai", **PRICES, workers=1)
        code, said = project.here(*RUN, "--budget-usd", "0.05")
        assert code == 3, said
        there = len(project.rows("run"))
        assert 0 < there < 30
        code, said = project.here("resume", "run", "--budget-usd", "0.10")
        assert code == 3, said
        assert there < len(project.rows("run")) < 30
        code, said = project.here("resume", "run", "--budget-usd", "50")
        assert code == 0, said
        assert batches(vendor) == [ALL]
        assert vendor.seen["results"] == 1
    assert project.ledger == []


def test_a_budget_that_is_used_up_pays_for_no_batch(vendor: BatchVendor, tmp_path: Path) -> None:
    project = BatchProject(tmp_path / "project", vendor, "openai", **PRICES)
    project.here(*RUN)
    project.evalcases[4]["input_messages"][0]["content"] = "And what of case 004 now?"
    project.write()
    code, said = project.here("resume", "run", "--budget-usd", "0.01")
    assert code == 3
    assert "no further trial is started" in said
    assert batches(vendor) == [ALL]


def test_a_run_interrupted_while_polling_waits_on_when_it_goes_on(tmp_path: Path) -> None:
    end = Event()
    with BatchVendor(hold=end) as vendor:
        project = BatchProject(tmp_path / "project", vendor, "azure")
        code, _ = project.cut_off(vendor.polled, "run", by=signal.SIGINT)
        assert code == 130
        cut_short(project, vendor, "resume", "run")
        end.set()
        code, said = project.here("resume", "run")
        assert code == 0
        assert "batch b0 of an interrupted run" in said
        assert batches(vendor) == [ALL]


@pytest.mark.parametrize("word", ["expired", "cancelled"])
def test_a_batch_that_expired_meanwhile_has_the_answers_that_it_has(
    word: str, vendor: BatchVendor, tmp_path: Path
) -> None:
    project = BatchProject(tmp_path / "project", vendor, "openai")
    cut_short(project, vendor)
    vendor.word = word
    vendor.fates = dict.fromkeys(ALL[20:])
    code, said = project.here("resume", "run")
    assert code == 0
    assert "answered 20 of 30 requests; the others are sent singly (10 batch_expired)" in said
    assert batches(vendor) == [ALL]
    assert sorted(vendor.singles) == ALL[20:]


@pytest.mark.parametrize("api", ["openai", "anthropic", "gemini"])
def test_a_batch_that_was_deleted_meanwhile_is_made_anew(
    api: str, vendor: BatchVendor, tmp_path: Path
) -> None:
    project = BatchProject(tmp_path / "project", vendor, api)
    cut_short(project, vendor)
    vendor.batches.clear()
    code, said = project.here("resume", "run")
    assert code == 0
    assert "it is of no use any more" in said
    assert batches(vendor) == [ALL]
    assert vendor.singles == []


def test_a_ledger_that_cannot_be_read_is_said(vendor: BatchVendor, tmp_path: Path) -> None:
    project = BatchProject(tmp_path / "project", vendor, "openai")
    cut_short(project, vendor)
    [file] = project.ledger_files
    file.write_bytes(file.read_bytes()[:-40])
    code, said = project.here("resume", "run")
    assert code == 0
    assert f"{file} cannot be read" in said
    assert batches(vendor) == [ALL, ALL]
    assert project.ledger_files == [file]


def test_a_batch_is_not_paid_again_because_the_ledger_cannot_be_written(
    vendor: BatchVendor, tmp_path: Path
) -> None:
    project = BatchProject(tmp_path / "project", vendor, "openai")
    cut_short(project, vendor)
    [file] = project.ledger_files
    lock = file.with_suffix(".lock")
    lock.unlink()
    lock.mkdir()
    code, said = project.here("resume", "run")
    assert code == 3
    assert "cannot be taken up (Is a directory): they are paid for" in said
    assert batches(vendor) == [ALL]
    assert vendor.singles == []
    lock.rmdir()
    assert project.here("resume", "run")[0] == 0
    assert batches(vendor) == [ALL]


def test_two_runs_of_the_same_cases_go_on_with_their_own_batches(tmp_path: Path) -> None:
    """Both used one ledger at once, and both were cut short."""
    end = Event()
    with BatchVendor(hold=end) as vendor:
        project = BatchProject(tmp_path / "project", vendor, "gemini")
        with ending(project.start("run")) as process:
            assert vendor.polled.wait(LIMIT_SECONDS)
            project.targets[0]["batch_timeout_seconds"] = 0.2
            project.write()
            code, said = project.finish("other")
            assert code == 3
            assert "a run with batches of the same cases goes on; this one pays for its own" in said
            process.kill()
        end.set()
        polls = [batch.polls for batch in vendor.batches.values()]
        assert project.here("resume", "other")[0] == 0
        assert next(iter(vendor.batches.values())).polls == polls[0]
        assert project.here("resume", "run")[0] == 0
        assert len(vendor.batches) == 2
    assert project.ledger == []


def test_verdicts_of_a_judge_that_batches_are_asked_for_singly(
    vendor: BatchVendor, tmp_path: Path
) -> None:
    """Rescoring asks no candidate, and no batch of verdicts can be made."""
    project = BatchProject(tmp_path / "project", vendor, "openai", judged=True, cases=8)
    project.here(*RUN)
    for case in project.evalcases:
        case["evaluators"][1]["prompt"] = (
            "Be strict. {{candidate_answer}} [[ ## candidate_answer ## ]]"
        )
    project.write()
    code, said = project.here("rescore", "run", "--out", "anew")
    assert code == 0, said
    assert len(vendor.batches) == 1
    assert sorted(vendor.judged) == sorted(ALL[:8] * 2)
    assert vendor.singles == []
