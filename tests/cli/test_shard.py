"""`--shard K/N` runs a part of a plan; together the parts are the whole, each trial once."""

import json
from collections import Counter

import pytest

from agentv.errors import ExitCode
from agentv.testing import Outcome, Project
from story import case, contains, mock, suite, targets

WELL = contains("well")
CASES = [case(f"case-{number}", WELL) for number in range(11)]


@pytest.fixture
def plan(project: Project) -> Project:
    """Two suites, one of them on two targets: 11 + 2 x 2 trials."""
    other = suite(case("case-1", WELL), case("own", WELL, execution={"target": "second"}))
    return project.write(
        {
            "a.eval.yaml": suite(*CASES),
            "b.eval.yaml": other,
            "targets.yaml": targets(mock("well"), mock("well", name="second")),
        }
    )


def run(project: Project, shard: str, *more: str) -> Outcome:
    return project.run("eval", "a.eval.yaml", "b.eval.yaml", "--shard", shard, *more)


def test_together_the_shards_are_the_plan(plan: Project) -> None:
    plan.run("eval", "a.eval.yaml", "b.eval.yaml", "--out", "whole")
    sizes = []
    seen: Counter[tuple[str, str, str]] = Counter()
    for number in (1, 2, 3, 4):
        outcome = run(plan, f"{number}/4", "--out", f"s{number}", "--json")
        assert outcome.code == ExitCode.OK
        assert outcome.json["shard"] == {"number": number, "of": 4}
        rows = plan.rows(f"s{number}")
        assert outcome.json["counts"]["planned"] == len(rows)
        sizes.append(len(rows))
        seen.update((row["suite"], row["eval_id"], row["target"]) for row in rows)
    whole = [(row["suite"], row["eval_id"], row["target"]) for row in plan.rows("whole")]
    assert seen == Counter(whole)
    assert sorted(sizes) == [3, 3, 3, 4]


def test_the_summary_says_of_what_it_is_a_part(plan: Project) -> None:
    outcome = run(plan, "2/4")
    assert "  shard       2 of 4 (all have 13 trials)\n" in outcome.out
    assert outcome.out == plan.run("show").out.replace(
        "\n  run  ", f"\n{_time_line(outcome)}\n  run  "
    )


def test_cases_of_a_jsonl_file_are_in_the_same_shards(plan: Project) -> None:
    """A shard is known by names, not by how or where the cases are written."""
    lines = [json.dumps(case) + "\n" for case in reversed(CASES)]
    plan.write(
        {
            "moved/c.eval.yaml": suite(dataset="a").replace("[]", "cases.jsonl"),
            "moved/cases.jsonl": "".join(lines),
        }
    )
    plan.run("eval", "a.eval.yaml", "--shard", "2/3", "--out", "listed")
    plan.run("eval", "moved/c.eval.yaml", "--shard", "2/3", "--out", "lines")
    listed, in_lines = ({row["eval_id"] for row in plan.rows(n)} for n in ("listed", "lines"))
    assert listed == in_lines
    assert 3 <= len(listed) <= 4


def test_a_filter_comes_first_and_what_it_leaves_is_split(plan: Project) -> None:
    plan.run("eval", "a.eval.yaml", "--eval-id", "case-1*", "--shard", "1/2", "--out", "s1")
    plan.run("eval", "a.eval.yaml", "--eval-id", "case-1*", "--shard", "2/2", "--out", "s2")
    ids = [row["eval_id"] for name in ("s1", "s2") for row in plan.rows(name)]
    assert sorted(ids) == ["case-1", "case-10"]


def test_a_shard_goes_on_as_the_same_shard(plan: Project) -> None:
    run(plan, "2/4", "--out", "s2")
    journal = plan.folder / "s2/results.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:1]))
    refused = run(plan, "1/4", "--out", "s2", "--resume")
    assert refused.code == ExitCode.USAGE
    assert "The run s2 is shard 2/4, and this is shard 1/4: go on with just that" in refused.err
    whole = plan.run("eval", "a.eval.yaml", "b.eval.yaml", "--out", "s2", "--resume")
    assert "The run s2 is shard 2/4, and this is none: " in whole.err
    resumed = plan.run("resume", "s2", "--json")
    assert resumed.code == ExitCode.OK
    assert resumed.json["counts"]["planned"] == resumed.json["counts"]["recorded"] == 3
    assert resumed.json["shard"] == {"number": 2, "of": 4}


def test_the_last_run_of_a_shard_is_found_among_those_of_others(plan: Project) -> None:
    first = run(plan, "1/4", "--json").json["run_id"]
    run(plan, "2/4")
    assert run(plan, "1/4", "--resume", "--json").json["run_id"] == first
    assert run(plan, "3/4", "--resume", "--json").json["run_id"] != first


def test_a_shard_without_trials_is_no_green_run(plan: Project) -> None:
    outcome = plan.run("eval", "b.eval.yaml", "--shard", "1/3")
    assert outcome.code == ExitCode.NOTHING
    assert (
        "Nothing ran: there are fewer trials than shards, so shard 1 of 3 is empty." in outcome.err
    )


@pytest.mark.parametrize("shard", ["5/4", "x", "0/4", "1/0", "1/4/2", ""])
def test_a_shard_that_is_none(plan: Project, shard: str) -> None:
    outcome = run(plan, shard)
    assert outcome.code == ExitCode.USAGE
    assert f"Invalid value for '--shard': '{shard}' is no shard" in outcome.err


def _time_line(outcome: Outcome) -> str:
    return next(line for line in outcome.out.splitlines() if line.startswith("  time "))


def test_a_shard_is_rerun_and_rescored_as_that_shard(plan: Project) -> None:
    """Cases of other shards take no part, whatever their ids are."""
    run(plan, "2/4", "--out", "s2")
    own = sorted((row["suite"], row["eval_id"], row["target"]) for row in plan.rows("s2"))
    plan.run("rerun", "s2", "--eval-id", "*", "--out", "again")
    plan.run("rescore", "s2", "--out", "judged")
    for name in ("again", "judged"):
        rows = plan.rows(name)
        assert sorted((row["suite"], row["eval_id"], row["target"]) for row in rows) == own
