"""Several suites on several targets: every case once on each, within one budget of workers."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentv.errors import ExitCode
from agentv.testing import Project
from story import PYTHON, case, command, contains, mock, suite, targets

CROWD = """\
import os, sys, time
log, size = sys.argv[1], int(sys.argv[2])
def note(word):
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, word.encode() + b"\\n")
    os.close(file)
def begun():
    return open(log).read().split().count("begin")
note("begin")
deadline = time.monotonic() + 5
while begun() < size and time.monotonic() < deadline:
    time.sleep(0.002)
note("end")
print("here")
"""
"""Answers once so many have begun, and leaves a log of who was there when."""

HERE = contains("here")
BLOCKS = """\
evalcases:
  - id: b
    input_messages: [{role: user, content: Who is there?}]
    evaluators: [{type: contains, value: here}]
"""


def most_at_once(log: Path) -> int:
    now = most = 0
    for word in log.read_text().split():
        now += 1 if word == "begin" else -1
        most = max(most, now)
    return most


def crowd(size: int, **more: Any) -> dict[str, Any]:
    return command(f"{PYTHON} crowd.py log {size}", **more)


def asked(project: Project) -> Counter[tuple[str, str, str]]:
    return Counter((row["suite"], row["eval_id"], row["target"]) for row in project.rows())


@pytest.mark.parametrize(
    ("size", "options", "target"),
    [
        pytest.param(3, ("--workers", "3"), {}, id="flag"),
        pytest.param(2, (), {"workers": 2}, id="target"),
        pytest.param(3, ("--workers", "3"), {"workers": 2}, id="flag wins over target"),
        pytest.param(1, (), {}, id="one by default"),
    ],
)
def test_one_budget_of_workers_over_all_files(
    project: Project, size: int, options: tuple[str, ...], target: dict[str, Any]
) -> None:
    """Scenario: Configurable concurrency. The command itself notes how many were there at once."""
    project.write(
        {
            "a.eval.yaml": suite(case("a1", HERE), case("a2", HERE)),
            "b.eval.yaml": suite(case("b1", HERE), case("b2", HERE)),
            "targets.yaml": targets(crowd(size, **target)),
            "crowd.py": CROWD,
        }
    )
    outcome = project.run("eval", "a.eval.yaml", "b.eval.yaml", *options)

    assert outcome.code == ExitCode.OK
    assert f"with {size} worker" in outcome.err
    assert most_at_once(project.folder / "log") == size


def test_every_suite_runs_on_every_target(project: Project) -> None:
    project.write(
        {
            "a.eval.yaml": suite(case("same", HERE), case("other", HERE)),
            "b.eval.yaml": suite(case("same", HERE)),
            "targets.yaml": targets(mock("here", name="one"), mock("gone", name="two")),
        }
    )
    outcome = project.run("eval", ".", "--target", "one", "--target", "two", "--json")

    assert asked(project) == Counter(
        (file, id_, name)
        for file, ids in {"a.eval.yaml": ("same", "other"), "b.eval.yaml": ("same",)}.items()
        for id_ in ids
        for name in ("one", "two")
    )
    by_target = {part["name"]: part["counts"] for part in outcome.json["targets"]}
    assert (by_target["one"]["passed"], by_target["two"]["failed"]) == (3, 3)
    by_suite = {part["path"]: part["counts"]["planned"] for part in outcome.json["suites"]}
    assert by_suite == {"a.eval.yaml": 4, "b.eval.yaml": 2}


def test_a_case_keeps_the_target_it_names(project: Project) -> None:
    own = case("own", HERE, execution={"target": "mine"})
    project.write(
        {
            "a.eval.yaml": suite(own, case("plain", HERE), target="theirs"),
            "targets.yaml": targets(
                mock("here", name="mine"), mock("here", name="theirs"), mock("here", name="third")
            ),
        }
    )

    project.run("eval", "a.eval.yaml")
    assert asked(project) == Counter(
        [("a.eval.yaml", "own", "mine"), ("a.eval.yaml", "plain", "theirs")]
    )
    project.run("eval", "a.eval.yaml", "--target", "third", "--target", "mine", "--out", "two")
    rows = project.rows("two")
    assert Counter((row["eval_id"], row["target"]) for row in rows) == Counter(
        [("own", "mine"), ("plain", "third"), ("plain", "mine")]
    )


def test_a_folder_is_searched_and_other_files_are_passed_over(project: Project) -> None:
    project.write(
        {
            "evals/deep/a.eval.yaml": suite(case("a", HERE)),
            "evals/b.yaml": BLOCKS,
            "evals/json.yaml": json.dumps({"evalcases": [case("j", HERE)]}, indent=2),
            "evals/compose.yaml": "services: {}\n",
            "evals/node_modules/c.eval.yaml": suite(case("c", HERE)),
            "targets.yaml": targets(mock("here")),
        }
    )

    assert project.run("eval", "evals").code == ExitCode.OK
    assert {row["eval_id"] for row in project.rows()} == {"a", "b", "j"}


@pytest.mark.parametrize("text", ['{"evalcases": [', '{"evalcase": []}', "evalcases: ["])
def test_a_slip_in_a_folder_is_an_error_and_not_a_file_passed_over(
    project: Project, text: str
) -> None:
    project.write({"a.eval.yaml": suite(case("a", HERE)), "targets.yaml": targets(mock("here"))})
    project.write({"b.yaml": text})

    assert project.run("eval", ".").code == ExitCode.USAGE


def test_a_filter_picks_cases_in_every_file(project: Project) -> None:
    project.write(
        {
            "a.eval.yaml": suite(case("refund-late", HERE), case("login", HERE)),
            "b.eval.yaml": suite(case("refund-twice", HERE), case("logout", HERE)),
            "targets.yaml": targets(mock("here")),
        }
    )
    outcome = project.run("eval", ".", "--eval-id", "refund-*", "--eval-id", "logout")

    assert outcome.code == ExitCode.OK
    assert {row["eval_id"] for row in project.rows()} == {"refund-late", "refund-twice", "logout"}
