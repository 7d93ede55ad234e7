"""A past run is shown as it was: every number is computed anew from its rows."""

import json
import math
import subprocess
from statistics import mean, median, stdev
from typing import Any

import pytest

from agentv.errors import ExitCode
from agentv.testing import Outcome, Project
from story import case, contains, mock, suite, targets

A, B, C = contains("a"), contains("b"), contains("c")


@pytest.fixture
def shown(project: Project) -> Outcome:
    """A run of two suites with every kind of ending, as JSON."""
    replies = {
        "crash": {"error": "out of memory"},
        "slow": {"timeout": True},
        "wild": "9",
        "*": "ab",
    }
    judge = {"type": "llm_judge", "target": "judge"}
    project.write(
        {
            "x.eval.yaml": suite(
                case("all", A, B), case("most", A, B, C), case("none", C), case("crash", A)
            ),
            "y.eval.yaml": suite(case("slow", A), case("judged", judge), case("half", A, C)),
            "targets.yaml": targets(mock(replies=replies), mock('{"score": 7}', name="judge")),
        }
    )
    return project.run("eval", ".", "--json", "--workers", "3")


def test_the_summary_is_what_the_rows_say(project: Project, shown: Outcome) -> None:
    rows, found = project.rows(), shown.json
    scores = [row["score"] for row in rows if row["verdict"] in ("pass", "fail")]
    verdicts = [row["verdict"] for row in rows]
    counts = found["counts"]

    assert counts["planned"] == counts["recorded"] == len(rows) == 7
    assert counts["passed"] == verdicts.count("pass") == 2
    assert counts["failed"] == verdicts.count("fail") == 3
    assert counts["errors"] == verdicts.count("error") == 2
    assert counts["scored"] == len(scores)
    assert math.isclose(counts["pass_rate"], verdicts.count("pass") / len(rows))
    assert math.isclose(counts["pass_rate_of_scored"], verdicts.count("pass") / len(scores))
    assert math.isclose(found["scores"]["mean"], mean(scores))
    assert math.isclose(found["scores"]["median"], median(scores))
    assert math.isclose(found["scores"]["stdev"], stdev(scores))
    assert (found["scores"]["min"], found["scores"]["max"]) == (min(scores), max(scores))
    assert found["attempts"] == sum(row["attempts"] for row in rows) == 9
    assert found["retries"] == 2
    assert found["clamped_scores"] == 1
    assert {error["eval_id"] for error in found["errors"]} == {"crash", "slow"}
    assert found["lowest"][0]["eval_id"] == "none"


def test_the_parts_add_up_to_the_whole(shown: Outcome) -> None:
    for name in ("planned", "passed", "failed", "errors", "scored"):
        assert (
            sum(part["counts"][name] for part in shown.json["suites"])
            == (shown.json["counts"][name])
        )


def test_show_says_what_eval_said(project: Project, shown: Outcome) -> None:
    later = project.run("show", "--json")

    assert (later.code, later.json) == (shown.code, shown.json)


def test_show_prints_what_eval_printed(project: Project) -> None:
    project.write(
        {"a.eval.yaml": suite(case("x", A), case("y", C)), "targets.yaml": targets(mock("ab"))}
    )
    first = project.run("eval", "a.eval.yaml")
    later = project.run("show")

    assert later.code == first.code == ExitCode.GATE_FAILED
    assert [line for line in first.out.splitlines() if not line.startswith("  time ")] == (
        later.out.splitlines()
    )


def test_a_run_is_found_by_its_place_its_id_and_its_age(project: Project, shown: Outcome) -> None:
    id_ = shown.json["run_id"]
    project.run("eval", "x.eval.yaml", "--eval-id", "all")

    for reference in (id_, shown.json["folder"], "latest~1"):
        assert project.run("show", reference, "--json").json["run_id"] == id_
    assert project.run("show").code == ExitCode.OK


def test_a_run_that_does_not_exist(project: Project, shown: Outcome) -> None:
    outcome = project.run("show", "nothing")

    assert outcome.code == ExitCode.USAGE
    assert shown.json["run_id"] in outcome.err


@pytest.mark.parametrize(
    ("edit", "code", "says"),
    [
        pytest.param(lambda lines: lines[:-1], ExitCode.ERRORS, "incomplete", id="row lost"),
        pytest.param(lambda lines: [], ExitCode.ERRORS, "incomplete", id="all lost"),
        pytest.param(
            lambda lines: [*lines, lines[0]], ExitCode.ERRORS, "more than once", id="row twice"
        ),
        pytest.param(
            lambda lines: [*lines[:-1], lines[-1][:40]], ExitCode.ERRORS, "incomplete", id="torn"
        ),
        pytest.param(
            lambda lines: ["oops\n", *lines[1:]], ExitCode.USAGE, "is not a result row", id="edited"
        ),
    ],
)
def test_rows_that_do_not_fit_the_plan_are_never_green(
    project: Project, edit: Any, code: int, says: str
) -> None:
    project.write(
        {
            "a.eval.yaml": suite(case("x", A), case("y", A), case("z", A)),
            "targets.yaml": targets(mock("a")),
        }
    )
    assert project.run("eval", "a.eval.yaml", "--out", "run").code == ExitCode.OK
    journal = project.folder / "run/results.jsonl"
    journal.write_text("".join(edit(journal.read_text().splitlines(keepends=True))))
    outcome = project.run("show", "run")

    assert outcome.code == code
    assert says in outcome.out + outcome.err


def test_export_writes_the_rows(project: Project, shown: Outcome) -> None:
    outcome = project.run("export", "latest", "rows.jsonl")

    assert outcome.code == ExitCode.OK
    assert len((project.folder / "rows.jsonl").read_text().splitlines()) == 7


def test_export_as_json(project: Project, shown: Outcome) -> None:
    outcome = project.run("export", "latest", "rows.jsonl", "sub/rows.yaml", "--json")

    assert outcome.json == {
        "exit_code": ExitCode.OK,
        "run_id": shown.json["run_id"],
        "folder": shown.json["folder"],
        "files": ["rows.jsonl", "sub/rows.yaml"],
    }
    assert (project.folder / "sub/rows.yaml").exists()


def test_no_file_is_written_if_one_has_no_format(project: Project, shown: Outcome) -> None:
    outcome = project.run("export", "latest", "rows.jsonl", "rows.pdf")

    assert outcome.code == ExitCode.USAGE
    assert "rows.pdf cannot be exported to" in outcome.err
    assert not (project.folder / "rows.jsonl").exists()


def test_the_commit_of_a_repository_that_has_none(project: Project) -> None:
    """`git rev-parse HEAD` says `HEAD` there, which is no commit."""
    subprocess.run(["git", "init", "--quiet"], cwd=project.folder, check=True)
    project.write(
        {
            "a.eval.yaml": suite(case("one", contains("well"))),
            "targets.yaml": targets(mock("well")),
        }
    )
    project.run("eval", "a.eval.yaml", "--out", "run")

    assert json.loads((project.folder / "run/run.json").read_text())["git_commit"] is None
