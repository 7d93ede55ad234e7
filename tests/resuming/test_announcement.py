"""What is printed before a run goes on: which trials are meant, and why."""

import json

import pytest
from changing import CODE, JUDGE, PROMPT, Changing, asking

from agentv.testing import Project
from story import contains

HERE = contains("Here")


@pytest.fixture
def changing(project: Project) -> Changing:
    made = Changing(project)
    made.begin()
    return made


def announced(changing: Changing, *more: str) -> str:
    """The plan, without what is told of each trial."""
    said = changing.project.run("eval", "evals", "--resume", "run", *more).err.splitlines()
    return "\n".join(line for line in said[1:] if not line.startswith("  ["))


def test_evaluators_that_changed_are_named(changing: Changing) -> None:
    """Came, changed and went; what stands is not named."""
    changing.files(judge_md=PROMPT + " Be strict.")
    changing.write(evaluators=({**JUDGE, "name": "judge"}, contains("H", name="h"), HERE))
    assert (
        announced(changing)
        == """\
  0 kept, 3 only to be judged, 0 to be asked
    3 whose evaluators or expected outcome changed (judge, h, llm_judge, …): one, two, three
  3 rows set aside in superseded.jsonl"""
    )


def test_one_of_two_evaluators_that_are_alike_is_named_when_it_goes(changing: Changing) -> None:
    changing.write(evaluators=(JUDGE, CODE, HERE, {**HERE, "name": "again"}))
    announced(changing)
    changing.write(evaluators=(JUDGE, CODE, HERE))
    assert "outcome changed (again): one, two, three\n" in announced(changing)


def test_an_edited_outcome_is_called_what_it_is(changing: Changing) -> None:
    changing.write(asking("one"), asking("two") | {"outcome": "Is other."}, asking("three"))
    said = announced(changing)
    assert (
        "    1 whose evaluators or expected outcome changed (llm_judge, code, contains): two\n"
        in said
    )


def test_a_target_whose_settings_changed_is_named(changing: Changing) -> None:
    changing.write(model=" --model other")
    assert (
        announced(changing)
        == """\
  0 kept, 0 only to be judged, 3 to be asked
    3 on a target whose settings changed (default): one, two, three
  3 rows set aside in superseded.jsonl"""
    )


def test_a_weight_or_a_place_is_called_what_it_is(changing: Changing) -> None:
    changing.write(evaluators=(CODE, JUDGE, HERE))
    said = announced(changing)
    assert (
        "    3 with another threshold, or another weight, name or place of an evaluator: " in said
    )


def test_a_case_that_went_is_named(changing: Changing) -> None:
    changing.write(asking("one"), asking("three"))
    assert (
        announced(changing)
        == """\
  2 kept, 0 only to be judged, 0 to be asked
    1 not among the trials any more: two
  1 row set aside in superseded.jsonl"""
    )


def test_errors_that_are_kept_are_told_with_what_tries_them_again(changing: Changing) -> None:
    changing.write(model="; test {EVAL_ID} != two")
    announced(changing)
    assert (
        announced(changing)
        == """\
  3 kept, 0 only to be judged, 0 to be asked
    1 of the kept has an error; --retry-errors tries it again"""
    )
    assert "of the kept" not in announced(changing, "--retry-errors")


def test_a_line_that_was_cut_off_is_told(changing: Changing) -> None:
    rows = changing.run / "results.jsonl"
    whole = rows.read_bytes()
    rows.write_bytes(whole[:-9])
    assert (
        announced(changing)
        == """\
  2 kept, 0 only to be judged, 1 to be asked
    1 never begun: three
  the last line of results.jsonl was cut off in the middle; it counts for nothing"""
    )


def test_of_two_rows_of_one_trial_the_earlier_one_is_set_aside(changing: Changing) -> None:
    """It is not lost: somebody paid for it."""
    rows = changing.run / "results.jsonl"
    [_, two, _] = rows.read_text().splitlines()
    later = json.dumps({**json.loads(two), "candidate_answer": "Here is the later one."})
    rows.write_text(rows.read_text() + later + "\n")
    assert (
        announced(changing)
        == """\
  3 kept, 0 only to be judged, 0 to be asked
    1 recorded more than once, of which the last counts: two
  1 row set aside in superseded.jsonl"""
    )
    assert (changing.run / "superseded.jsonl").read_text() == two + "\n"
    assert changing.rows()[-1]["candidate_answer"] == "Here is the later one."
