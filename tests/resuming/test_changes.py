"""A run that goes on after something changed does the work that this takes, and announces it."""

import shutil
from collections import Counter
from typing import Any

import pytest
from changing import CODE, JUDGE, PROMPT, SCORE, Changing, asking

from agentv.errors import ExitCode
from agentv.testing import Project
from story import contains

NOTHING: Counter[str] = Counter()
HERE = contains("Here")


@pytest.fixture
def changing(project: Project) -> Changing:
    made = Changing(project)
    made.begin()
    return made


def test_nothing_changed_so_nothing_is_done(changing: Changing) -> None:
    before = (changing.run / "results.jsonl").read_bytes()
    resumed = changing.resume()
    assert (resumed.plan, resumed.why, resumed.work) == ((3, 0, 0), {}, NOTHING)
    assert (changing.run / "results.jsonl").read_bytes() == before
    assert sorted(path.name for path in changing.run.iterdir()) == ["results.jsonl", "run.json"]


def test_an_edited_case_is_asked_again_and_no_other(changing: Changing) -> None:
    edited = asking("two")
    edited["input_messages"][0]["content"] = "What is the second?"
    changing.write(asking("one"), edited, asking("three"))
    resumed = changing.resume()
    assert (resumed.plan, resumed.why) == ((2, 0, 1), {"case_changed": ["two"]})
    assert resumed.work == Counter(target=1, judge=1, code=1)
    assert (changing.run / "superseded.jsonl").read_bytes().count(b"\n") == 1
    assert resumed.outcome.code == ExitCode.OK


@pytest.mark.parametrize(
    "expected",
    [
        {"outcome": "Is something else."},
        {"expected_messages": [{"role": "assistant", "content": "Here is it."}]},
    ],
    ids=["outcome", "reference"],
)
def test_a_case_of_which_something_else_is_expected_is_judged_anew(
    changing: Changing, expected: dict[str, Any]
) -> None:
    """The verdict would be on what nobody expects any more; the answer is the same."""
    changing.write(asking("one"), {**asking("two"), **expected}, asking("three"))
    resumed = changing.resume()
    assert (resumed.plan, resumed.why) == ((2, 1, 0), {"evaluators_changed": ["two"]})
    assert resumed.work == Counter(judge=1, code=1)


@pytest.mark.parametrize("meanwhile", ["asked", "killed"])
def test_what_is_changed_back_asks_nobody(changing: Changing, meanwhile: str) -> None:
    """An edit by mistake costs nothing, whether its answers are there or the run was stopped."""
    before = changing.rows()
    changing.write(model=" --model other")
    changing.resume()
    assert {row["candidate_answer"] for row in changing.rows()} != {
        row["candidate_answer"] for row in before
    }
    if meanwhile == "killed":
        (changing.run / "results.jsonl").write_text("")
    changing.write()
    resumed = changing.resume()
    assert (resumed.plan, resumed.work) == ((0, 3, 0), NOTHING)
    assert resumed.why == {"changed_back": ["one", "two", "three"]}
    answers = {row["eval_id"]: row["candidate_answer"] for row in changing.rows()}
    assert answers == {row["eval_id"]: row["candidate_answer"] for row in before}
    assert changing.resume().plan == (3, 0, 0)
    changing.write(model=" --model other")
    assert changing.resume().plan == ((0, 3, 0) if meanwhile == "asked" else (0, 0, 3))


def test_what_is_changed_back_is_judged_by_the_evaluators_of_now(changing: Changing) -> None:
    changing.write(model=" --model other")
    changing.resume()
    changing.write(evaluators=(JUDGE, {**CODE, "config": {"a": 1}}, HERE))
    resumed = changing.resume()
    assert (resumed.plan, resumed.work) == ((0, 3, 0), Counter(code=3))


def test_a_case_that_comes_back_has_its_answer(changing: Changing) -> None:
    changing.write(asking("one"), asking("three"))
    changing.resume()
    changing.write()
    resumed = changing.resume()
    assert (resumed.plan, resumed.why) == ((2, 1, 0), {"changed_back": ["two"]})
    assert resumed.work == NOTHING


def test_white_space_around_a_message_asks_nobody(changing: Changing) -> None:
    """The target is not shown it: `content: |` and `content: >-` may be the same question."""
    edited = asking("two")
    edited["input_messages"][0]["content"] = "\n  What is two?\n\n"
    changing.write(asking("one"), edited, asking("three"))
    resumed = changing.resume()
    assert (resumed.plan, resumed.work) == ((3, 0, 0), NOTHING)


def test_cases_come_and_go(changing: Changing) -> None:
    changing.write(asking("one"), asking("three"), asking("four"))
    resumed = changing.resume()
    assert (resumed.plan, resumed.why) == ((2, 0, 1), {"new": ["four"], "gone": ["two"]})
    assert resumed.work == Counter(target=1, judge=1, code=1)
    assert [row["eval_id"] for row in changing.rows()] == ["one", "three", "four"]
    assert (changing.run / "superseded.jsonl").read_bytes().count(b"\n") == 1


def test_other_target_settings_ask_everything(changing: Changing) -> None:
    changing.write(model=" --model other")
    resumed = changing.resume()
    assert (resumed.plan, resumed.why) == ((0, 0, 3), {"target_changed": ["one", "two", "three"]})
    assert resumed.work == Counter(target=3, judge=3, code=3)


def test_settings_that_shape_no_answer_ask_nobody(changing: Changing) -> None:
    changing.write(workers=3, timeout_seconds=99, verbose=True)
    resumed = changing.resume("--workers", "2", "--agent-timeout", "50")
    assert (resumed.plan, resumed.work) == ((3, 0, 0), NOTHING)


def test_an_added_evaluator_is_asked_and_no_other(changing: Changing) -> None:
    changing.write(evaluators=(JUDGE, CODE, HERE, {**CODE, "name": "again", "config": {"a": 1}}))
    resumed = changing.resume()
    assert (resumed.plan, resumed.work) == ((0, 3, 0), Counter(code=3))
    assert resumed.why == {"evaluators_changed": ["one", "two", "three"]}
    names = [result["name"] for result in changing.rows()[0]["evaluator_results"]]
    assert names == ["llm_judge", "code", "contains", "again"]


@pytest.mark.parametrize(
    ("evaluators", "why"),
    [
        ((CODE, HERE), "evaluators_changed"),
        ((JUDGE, CODE, contains("Here is")), "evaluators_changed"),
        (({**JUDGE, "name": "fairness"}, CODE, HERE), "limits_changed"),
        (({**JUDGE, "weight": 3}, CODE, HERE), "limits_changed"),
        ((CODE, HERE, JUDGE), "limits_changed"),
    ],
    ids=["removed", "instant one changed", "renamed", "weighed", "in another order"],
)
def test_evaluators_that_say_the_same_are_not_asked(
    changing: Changing, evaluators: tuple[Any, ...], why: str
) -> None:
    changing.write(evaluators=evaluators)
    resumed = changing.resume()
    assert (resumed.plan, resumed.work) == ((0, 3, 0), NOTHING)
    assert list(resumed.why) == [why]
    [row, *_] = changing.rows()
    shown = [(result["name"], result["weight"]) for result in row["evaluator_results"]]
    assert shown == [(one.get("name", one["type"]), one.get("weight", 1.0)) for one in evaluators]


def test_another_threshold_asks_nobody(changing: Changing) -> None:
    changing.write(threshold=1.0)
    resumed = changing.resume()
    assert (resumed.plan, resumed.work) == ((0, 3, 0), NOTHING)
    assert list(resumed.why) == ["limits_changed"]


def test_an_edited_judge_prompt_asks_the_judge_alone(changing: Changing) -> None:
    changing.files(judge_md=PROMPT + " Be strict.")
    resumed = changing.resume()
    assert (resumed.plan, resumed.work) == ((0, 3, 0), Counter(judge=3))
    request = changing.rows()[0]["evaluator_results"][0]["evaluator_provider_request"]
    assert request["userPrompt"].endswith("Be strict.")


def test_an_edited_script_is_run_anew_alone(changing: Changing) -> None:
    """Also one that is not the first word of its command."""
    changing.files(score_sh=SCORE.replace("1}", "0.75}"))
    resumed = changing.resume()
    assert (resumed.plan, resumed.work) == ((0, 3, 0), Counter(code=3))
    assert [row["evaluator_results"][1]["score"] for row in changing.rows()] == [0.75] * 3


def test_a_repository_that_was_moved_is_the_same(changing: Changing) -> None:
    moved = changing.project.folder.with_name("elsewhere")
    changing.project.folder.rename(moved)
    resumed = Changing(Project(moved)).resume()
    assert (resumed.plan, resumed.work) == ((3, 0, 0), NOTHING)


def test_a_folder_that_was_renamed_is_the_same(changing: Changing) -> None:
    folder = changing.project.folder
    (folder / "evals").rename(folder / "specs")
    resumed = changing.resume(paths=("specs",))
    assert (resumed.plan, resumed.work) == ((3, 0, 0), NOTHING)
    assert {row["suite"] for row in changing.rows()} == {"specs/a.eval.yaml"}
    assert resumed.outcome.code == ExitCode.OK
    assert changing.resume(paths=("specs",)).plan == (3, 0, 0)


def test_a_crash_after_the_rows_knew_of_a_move_asks_nobody(changing: Changing) -> None:
    """`run.json` is written last; until then it knows the suite by its old path."""
    folder = changing.project.folder
    manifest = (changing.run / "run.json").read_bytes()
    (folder / "evals").rename(folder / "specs")
    changing.resume(paths=("specs",))
    (changing.run / "run.json").write_bytes(manifest)
    resumed = changing.resume(paths=("specs",))
    assert (resumed.plan, resumed.work) == ((3, 0, 0), NOTHING)


def test_a_copy_of_a_suite_is_a_new_suite(changing: Changing) -> None:
    """It has the same name and content: no row may count for both."""
    folder = changing.project.folder
    shutil.copytree(folder / "evals", folder / "copies")
    resumed = changing.resume(paths=("evals", "copies"))
    assert (resumed.plan, resumed.work["target"]) == ((3, 0, 3), 3)
    assert resumed.outcome.json["counts"]["duplicates"] == 0
    assert resumed.outcome.code == ExitCode.OK


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--eval-id", "one"), "was started with no --eval-id: go on with just that"),
        (("--target", "judge"), "was started with no --target: go on with just that"),
    ],
)
def test_a_run_does_not_go_on_with_a_part_of_it(
    changing: Changing, arguments: tuple[str, ...], said: str
) -> None:
    """What was left out would be set aside."""
    before = (changing.run / "results.jsonl").read_bytes()
    resumed = changing.resume(*arguments)
    assert (resumed.outcome.code, resumed.work) == (ExitCode.USAGE, NOTHING)
    assert said in resumed.outcome.err
    assert (changing.run / "results.jsonl").read_bytes() == before


def test_a_run_does_not_go_on_without_one_of_its_suites(changing: Changing) -> None:
    changing.write(asking("other"), at="more/b.eval.yaml")
    resumed = changing.resume(paths=("more",))
    assert resumed.outcome.code == ExitCode.USAGE
    assert "is also of the suite evals/a.eval.yaml, and it is not among those" in (
        resumed.outcome.err
    )
    assert changing.rows()[0]["eval_id"] == "one"


def test_rows_of_older_versions_stand(changing: Changing) -> None:
    """They have no digests of evaluators: judging everything anew would be paid for."""

    def age(row: dict[str, Any]) -> None:
        for result in row["evaluator_results"]:
            del result["digest"]

    changing.rewrite_rows(age)
    resumed = changing.resume()
    assert (resumed.plan, resumed.work) == ((3, 0, 0), NOTHING)
    changing.write(threshold=0.9)
    resumed = changing.resume()
    assert (resumed.plan, resumed.work) == ((0, 3, 0), NOTHING)


def test_errors_are_tried_again_when_that_is_asked_for(changing: Changing) -> None:
    changing.write(model="; test {EVAL_ID} != two")
    failed = changing.resume()
    assert (failed.plan, failed.outcome.json["counts"]["errors"]) == ((0, 0, 3), 1)
    assert changing.resume().plan == (3, 0, 0)
    resumed = changing.resume("--retry-errors")
    assert (resumed.plan, resumed.why) == ((2, 0, 1), {"error": ["two"]})
    assert resumed.work == Counter(target=1)


def test_an_evaluator_that_could_not_run_is_tried_again_when_that_is_asked_for(
    changing: Changing,
) -> None:
    changing.files(score_sh="echo code >> ../asked; exit 3")
    assert changing.resume().outcome.json["evaluator_errors"] == 3
    changing.write(threshold=0.9)
    resumed = changing.resume()
    assert (resumed.plan, resumed.work) == ((0, 3, 0), NOTHING)
    resumed = changing.resume("--retry-errors")
    assert (resumed.plan, resumed.work) == ((0, 3, 0), Counter(code=3))
    assert list(resumed.why) == ["error"]
