"""`agentv merge`: shards become one run, and what does not belong together is refused."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentv.errors import ExitCode
from agentv.model.request import ProviderResponse
from agentv.model.step import Answered
from agentv.storage.run_lock import RunLock
from agentv.testing import Project
from story import case, contains, mock, suite, targets

WELL = contains("well")
REPLIES = {"case-2": "bad", "case-5": {"error": "out of memory"}, "*": "well"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of eleven cases, run whole and in three shards."""
    project = Project(tmp_path_factory.mktemp("shards"))
    project.write(
        {
            "a.eval.yaml": suite(*(case(f"case-{number}", WELL) for number in range(11))),
            "targets.yaml": targets(mock(replies=REPLIES)),
        }
    )
    project.run("eval", "a.eval.yaml", "--out", "whole")
    for number in (1, 2, 3):
        project.run("eval", "a.eval.yaml", "--shard", f"{number}/3", "--out", f"s{number}")
    return project.folder


@pytest.fixture
def shards(project: Project, made: Path) -> Project:
    """A copy of that for each test."""
    shutil.copytree(made, project.folder, dirs_exist_ok=True)
    return project


def edit_manifest(project: Project, run: str, edit: Callable[[Any], object]) -> None:
    path = project.folder / run / "run.json"
    manifest = json.loads(path.read_text())
    edit(manifest)
    path.write_text(json.dumps(manifest))


def without_place(summary: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in summary.items() if k not in ("run_id", "folder", "merged")}


def test_a_merged_run_is_the_run_that_was_not_split(shards: Project) -> None:
    outcome = shards.run("merge", "s1", "s3", "s2", "--out", "all", "--json")
    whole = shards.run("show", "whole", "--json")
    assert outcome.code == whole.code == ExitCode.GATE_FAILED
    assert without_place(outcome.json) == without_place(whole.json)
    ids = sorted(row["eval_id"] for row in shards.rows("all"))
    assert ids == sorted(row["eval_id"] for row in shards.rows("whole"))
    sources = [(s["folder"], s["shard"]["number"]) for s in outcome.json["merged"]]
    assert sources == [("s1", 1), ("s3", 3), ("s2", 2)]


def test_it_is_a_new_run_and_the_shards_stay(shards: Project) -> None:
    before = {path: path.read_bytes() for path in shards.folder.glob("s?/*")}
    outcome = shards.run("merge", "s1", "s2", "s3")
    assert "  merged      from 3 runs\n" in outcome.out
    assert shards.run("show").out == outcome.out
    assert {path: path.read_bytes() for path in shards.folder.glob("s?/*")} == before


def test_without_a_shard_it_is_incomplete_and_says_which(shards: Project) -> None:
    outcome = shards.run("merge", "s1", "s3")
    assert outcome.code == ExitCode.ERRORS
    assert "  shards      1 and 3 of 3; 2 is missing\n" in outcome.out
    assert "The run is incomplete: rows for 4 of 11 trials are missing (exit 3)" in outcome.out


def test_what_is_missing_can_be_merged_later(shards: Project) -> None:
    shards.run("merge", "s1", "s3", "--out", "most")
    outcome = shards.run("merge", "most", "s2", "--json")
    assert outcome.json["counts"]["missing"] == 0
    assert [source["folder"] for source in outcome.json["merged"]] == ["s1", "s3", "s2"]


def test_what_is_missing_can_be_run_here(shards: Project) -> None:
    shards.run("merge", "s1", "s3", "--out", "most")
    resumed = shards.run("resume", "most")
    assert "7 kept, 0 only to be judged, 4 to be asked" in resumed.err
    assert resumed.code == ExitCode.GATE_FAILED
    assert "missing" not in resumed.out
    assert "  merged      from 2 runs\n" in resumed.out


def test_an_answer_without_its_verdict_is_carried_over(shards: Project) -> None:
    """What a shard paid for before it was cut short is not paid for again."""
    journal = shards.folder / "s2/results.jsonl"
    *rows, last = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(rows))
    row = json.loads(last)
    answered = Answered(
        suite=row["suite"],
        eval_id=row["eval_id"],
        target=row["target"],
        trial=1,
        digest=row["digest"],
        attempts=1,
        duration_ms=1.0,
        response=ProviderResponse(text="all is well"),
    )
    (shards.folder / "s2/steps.jsonl").write_bytes(msgspec.json.encode(answered) + b"\n")
    assert shards.run("merge", "s1", "s2", "s3", "--out", "all").code == ExitCode.ERRORS
    assert "10 kept, 1 only to be judged, 0 to be asked" in shards.run("resume", "all").err
    found = {row["eval_id"]: row["candidate_answer"] for row in shards.rows("all")}
    assert found[row["eval_id"]] == "all is well"


def test_a_torn_line_is_left_behind(shards: Project) -> None:
    journal = shards.folder / "s2/results.jsonl"
    journal.write_bytes(journal.read_bytes()[:-20])
    outcome = shards.run("merge", "s1", "s2", "s3", "--json")
    assert outcome.code == ExitCode.ERRORS
    assert outcome.json["counts"]["missing"] == 1


def test_partial_runs_of_the_same_suites(shards: Project) -> None:
    shards.run("eval", "a.eval.yaml", "--eval-id", "case-1*", "--out", "p1")
    shards.run("eval", "a.eval.yaml", "--eval-id", "case-[345]", "--out", "p2")
    outcome = shards.run("merge", "p1", "p2", "--out", "part", "--json")
    assert outcome.json["counts"]["planned"] == outcome.json["counts"]["recorded"] == 5
    assert shards.run("resume", "part", "--json").json["counts"]["recorded"] == 5


def test_selections_that_overlap_are_counted_anew_when_the_run_goes_on(shards: Project) -> None:
    """Until then a trial that both planned is planned twice: incomplete, but never green."""
    shards.run("eval", "a.eval.yaml", "--eval-id", "case-[34]", "--out", "p1")
    shards.run("eval", "a.eval.yaml", "--eval-id", "case-[46]", "--out", "p2")
    journal = shards.folder / "p2/results.jsonl"
    journal.write_text(journal.read_text().splitlines(keepends=True)[1])
    assert shards.run("merge", "p1", "p2", "--out", "part", "--json").code == ExitCode.ERRORS
    resumed = shards.run("resume", "part", "--json")
    assert resumed.code == ExitCode.OK
    assert resumed.json["counts"]["planned"] == 3


def test_exports_are_written(shards: Project) -> None:
    shards.run("merge", "s1", "s2", "s3", "--export", "rows.jsonl")
    assert len((shards.folder / "rows.jsonl").read_text().splitlines()) == 11


def test_a_suite_that_lies_elsewhere_by_now_is_the_same_suite(shards: Project) -> None:
    def rename(manifest: Any) -> None:
        manifest["suites"][0]["path"] = "/build/7/a.eval.yaml"

    edit_manifest(shards, "s2", rename)
    journal = shards.folder / "s2/results.jsonl"
    journal.write_text(journal.read_text().replace('"a.eval.yaml"', '"/build/7/a.eval.yaml"'))
    outcome = shards.run("merge", "s1", "s2", "s3", "--json")
    assert outcome.code == ExitCode.GATE_FAILED
    assert {row["suite"] for row in shards.rows()} == {"a.eval.yaml"}


def test_a_trial_with_two_rows_is_named_and_nothing_is_left(shards: Project) -> None:
    shards.run("eval", "a.eval.yaml", "--eval-id", "case-1", "--out", "again")
    shards.run("eval", "a.eval.yaml", "--eval-id", "case-[12]", "--out", "both")
    outcome = shards.run("merge", "again", "both", "--out", "all")
    assert outcome.code == ExitCode.USAGE
    assert outcome.err == (
        "Error: A trial must have one row, so these runs cannot be joined as they are:\n"
        "  case-1 on default has a row in again/results.jsonl:1, and another in "
        "both/results.jsonl:1\n"
    )
    assert not (shards.folder / "all").exists()


def test_rows_that_are_the_same_letter_for_letter_count_once(shards: Project) -> None:
    """A run that was copied and went on in both places, say."""
    shards.run("eval", "a.eval.yaml", "--eval-id", "case-[12]", "--out", "one")
    copy = shards.folder / "two"
    copy.mkdir()
    for name in ("run.json", "results.jsonl"):
        (copy / name).write_bytes((shards.folder / "one" / name).read_bytes())
    outcome = shards.run("merge", "one", "two", "--json")
    assert outcome.json["counts"]["recorded"] == 2
    assert "2 rows are in several of the runs, letter for letter: counted once" in outcome.err


REFUSED = [
    pytest.param(
        lambda m: m["suites"][0].update(digest="f" * 64),
        "The suite 'a.eval.yaml' is another one in s2 than in s1: it was edited between the runs.",
        id="suite edited",
    ),
    pytest.param(
        lambda m: m["suites"][0].update(path="b.eval.yaml", digest="f" * 64),
        "s1 has the suite 'a.eval.yaml', and s2 has not.",
        id="other suite",
    ),
    pytest.param(
        lambda m: m["suites"][0].update(threshold=0.9),
        "The suite 'a.eval.yaml' has a `threshold` of 0.8 in s1 and of 0.9 in s2.",
        id="threshold",
    ),
    pytest.param(
        lambda m: m["suites"][0].update(min_pass_rate=0.5),
        "The suite 'a.eval.yaml' has a `min_pass_rate` of 1 in s1 and of 0.5 in s2.",
        id="gate",
    ),
    pytest.param(
        lambda m: m["targets"][0].update(digest="0", settings={"model": "b", "replies": REPLIES}),
        "The target 'default' has other settings in s2 than in s1 (`model`",
        id="target",
    ),
    pytest.param(
        lambda m: m["arguments"].update(targets=["gpt"]),
        "s1 was run without --target, and s2 with --target gpt.",
        id="--target",
    ),
    pytest.param(
        lambda m: m["arguments"].update(eval_ids=["case-*"]),
        "s1 was run without --eval-id, and s2 with --eval-id case-*.",
        id="--eval-id",
    ),
    pytest.param(
        lambda m: m.update(dry_run=True), "s2 is a dry run, and s1 is none.", id="dry run"
    ),
    pytest.param(
        lambda m: m["shard"].update(of=4), "s1 is of 3 shards, and s2 of 4.", id="of how many"
    ),
    pytest.param(
        lambda m: m["shard"].update(number=1),
        "s1 and s2 are both shard 1/3: leave one out.",
        id="same shard",
    ),
    pytest.param(
        lambda m: m.update(shard=None),
        "s1 is of a plan that was split into shards, and s2 is not.",
        id="no shard",
    ),
]


@pytest.mark.parametrize(("edit", "says"), REFUSED)
def test_what_does_not_belong_together_is_refused(
    shards: Project, edit: Callable[[Any], object], says: str
) -> None:
    edit_manifest(shards, "s2", edit)
    outcome = shards.run("merge", "s1", "s2", "--out", "all")
    assert outcome.code == ExitCode.USAGE
    assert outcome.err.startswith("Error: These runs do not belong together:\n")
    assert f"  {says}" in outcome.err
    assert not (shards.folder / "all").exists()


def test_other_versions_and_commits_are_a_warning(shards: Project) -> None:
    edit_manifest(shards, "s2", lambda m: m.update(version="0.0.9", git_commit="f" * 40))
    outcome = shards.run("merge", "s1", "s2", "s3")
    assert outcome.code == ExitCode.GATE_FAILED
    assert "warning: the runs were made by several versions of AgentV: 0.0.9, " in outcome.err
    assert (
        "warning: the runs were made on several commits of the repository: ffffffffffff, none"
        in outcome.err
    )


def test_a_run_that_is_named_twice(shards: Project) -> None:
    outcome = shards.run("merge", "s1", "./s1")
    assert (outcome.code, outcome.err) == (ExitCode.USAGE, "Error: s1 is named twice.\n")


def test_a_run_that_is_being_written(shards: Project) -> None:
    with RunLock(shards.folder / "s1/lock"):
        outcome = shards.run("merge", "s1", "s2")
    assert outcome.code == ExitCode.USAGE
    assert outcome.err.startswith("Error: s1 is being written by process ")


def test_a_folder_that_holds_a_run_is_not_taken(shards: Project, tmp_path: Path) -> None:
    outcome = shards.run("merge", "s1", "s2", "--out", "whole")
    assert outcome.code == ExitCode.USAGE
    assert "whole already holds a run (run.json), which is never overwritten" in outcome.err


def test_a_folder_that_takes_no_files_is_left_as_it_was(shards: Project) -> None:
    """A folder in the place of a draft stands for a disk that refuses it."""
    out = shards.folder / "all"
    (out / f".steps.jsonl.{os.getpid()}.tmp").mkdir(parents=True)
    outcome = shards.run("merge", "s1", "s2", "s3", "--out", "all")
    assert outcome.code == ExitCode.USAGE
    assert "all/steps.jsonl cannot be written: Is a directory." in outcome.err
    assert [path.name for path in out.iterdir()] == [f".steps.jsonl.{os.getpid()}.tmp"]


def test_budgets_add_up(shards: Project) -> None:
    for run in ("s1", "s2", "s3"):
        edit_manifest(shards, run, lambda m: m.update(budget_usd=2.0))
    outcome = shards.run("merge", "s1", "s2", "s3", "--json")
    assert outcome.json["budget"]["limit_usd"] == 6.0


@pytest.mark.parametrize(("command", "done"), [("rescore", "rescored"), ("rerun", "rerun")])
def test_a_run_that_came_of_another_is_no_part_of_a_plan(
    shards: Project, command: str, done: str
) -> None:
    shards.run(command, "s1", "--out", "s1-anew")
    outcome = shards.run("merge", "s1-anew", "s2", "s3", "--out", "all")
    assert outcome.code == ExitCode.USAGE
    assert f"s1-anew was {done}: merge what it comes from, and {command} that." in outcome.err
    assert not (shards.folder / "all").exists()
    merged = shards.run("merge", "s1", "s2", "s3", "--out", "all")
    assert shards.run(command, "all", "--out", "all-anew").code == merged.code
    assert len(shards.rows("all-anew")) == 11


def test_a_file_that_cannot_be_written_loses_no_summary(shards: Project) -> None:
    outcome = shards.run("merge", "s1", "s2", "s3", "--export", "a.eval.yaml/rows.jsonl")
    assert outcome.code == ExitCode.USAGE
    assert "a.eval.yaml/rows.jsonl cannot be written" in outcome.err
    assert "  trials      11 planned" in outcome.out


def test_a_folder_that_another_merge_fills_is_left_alone(shards: Project) -> None:
    other = shards.folder / "all"
    other.mkdir()
    (other / "steps.jsonl").write_text("")
    with RunLock(other / "lock"):
        outcome = shards.run("merge", "s1", "s2", "s3", "--out", "all")
        assert outcome.code == ExitCode.USAGE
        assert "all is being written by process" in outcome.err
        assert sorted(path.name for path in other.iterdir()) == ["lock", "steps.jsonl"]


def test_what_a_killed_merge_left_goes_with_the_next_and_nothing_else(shards: Project) -> None:
    other = shards.folder / "all"
    other.mkdir()
    for name in (".results.jsonl.4711.tmp", ".mine.tmp"):
        (other / name).write_text("half a row")
    shards.run("merge", "s1", "s2", "s3", "--out", "all")
    names = sorted(path.name for path in other.iterdir())
    assert names == [".mine.tmp", "results.jsonl", "run.json"]
