"""`agentv rerun`: chosen trials of an earlier run are asked anew, in a run of their own."""

import json

import pytest

from agentv.errors import ExitCode
from agentv.testing import Project
from story import case, contains, mock, suite, targets

REPLIES = {"good": "yes", "bad": "no", "worse": "never", "broken": {"error": "out of memory"}}
MENDED = {"good": "yes", "bad": "yes", "worse": "never", "broken": "yes"}
YES = {"evaluators": [contains("yes")], "min_pass_rate": 0.5}
RESUME = "--resume"


@pytest.fixture
def ran(project: Project) -> Project:
    """A run of four cases on two targets; the second one answers everything with yes."""
    project.write(
        {
            "a.eval.yaml": suite(*map(case, REPLIES), execution=YES),
            "targets.yaml": targets(
                mock(replies=REPLIES, name="one"), mock("yes", name="two"), mock("?")
            ),
        }
    )
    project.run("eval", "a.eval.yaml", "--target", "one", "--target", "two", "--out", "old")
    project.write(
        {
            "targets.yaml": targets(
                mock(replies=MENDED, name="one"), mock("yes", name="two"), mock("?")
            )
        }
    )
    return project


def asked(project: Project, run: str = "new") -> list[tuple[str, str]]:
    return sorted((row["eval_id"], row["target"]) for row in project.rows(run))


@pytest.mark.parametrize(
    ("flags", "expected", "said"),
    [
        pytest.param(["--failed"], ["bad one", "worse one"], "2 failed trials", id="failed"),
        pytest.param(["--errors"], ["broken one"], "1 trial that ended in an error", id="errors"),
        pytest.param(
            ["--failed", "--errors"],
            ["bad one", "broken one", "worse one"],
            "3 trials that failed or ended in an error",
            id="both",
        ),
        pytest.param(
            ["--eval-id", "go*"], ["good one", "good two"], "2 trials that match 'go*'", id="ids"
        ),
        pytest.param(
            ["--errors", "--eval-id", "good"],
            ["broken one", "good one", "good two"],
            "3 trials that ended in an error or match 'good'",
            id="errors-and-ids",
        ),
        pytest.param(
            [],
            [f"{id_} {target}" for id_ in sorted(REPLIES) for target in ("one", "two")],
            "8 trials",
            id="all",
        ),
    ],
)
def test_the_chosen_trials_are_asked(
    ran: Project, flags: list[str], expected: list[str], said: str
) -> None:
    outcome = ran.run("rerun", "old", *flags, "--out", "new")

    assert [" ".join(key) for key in asked(ran)] == expected
    assert f"  rerun of    old: {said}\n" in outcome.out


def test_the_gate_holds_the_chosen_trials_alone(ran: Project) -> None:
    outcome = ran.run("rerun", "old", "--failed", "--out", "new")

    assert outcome.code == ExitCode.OK
    assert "  trials      2 planned, 1 passed, 1 failed, 0 errors\n" in outcome.out
    assert "Pass rate 0.50 (1 of 2) meets the gate of 0.50" in outcome.out
    assert ran.run("show", "new").code == ExitCode.OK


def test_the_new_run_says_what_it_came_of(ran: Project) -> None:
    told = ran.run("rerun", "old", "--failed", "--out", "new", "--json").json

    link = {"run_id": "old", "folder": "old", "failed": True, "errors": False, "eval_ids": []}
    assert told["rerun_of"] == link
    manifest = json.loads((ran.folder / "new" / "run.json").read_text())
    assert manifest["rerun_of"] == link
    assert [plan["trials"] for plan in manifest["suites"]] == [2]


def test_a_rerun_that_was_cut_short_goes_on_with_its_trials(ran: Project) -> None:
    ran.run("rerun", "old", "--failed", "--out", "new")
    rows = ran.folder / "new" / "results.jsonl"
    first, _ = rows.read_bytes().splitlines(keepends=True)
    rows.write_bytes(first)

    outcome = ran.run("resume", "new")

    assert outcome.code == ExitCode.OK
    assert asked(ran) == [("bad", "one"), ("worse", "one")]
    assert "  1 kept, 0 only to be judged, 1 to be asked\n" in outcome.err
    assert json.loads((ran.folder / "new" / "run.json").read_text())["rerun_of"]["failed"] is True


def test_a_rerun_of_a_rerun_is_of_its_trials(ran: Project) -> None:
    ran.run("rerun", "old", "--failed", "--errors", "--out", "new")

    ran.run("rerun", "new", "--out", "again")
    ran.run("rerun", "again", "--failed", "--out", "last")

    assert asked(ran, "again") == [("bad", "one"), ("broken", "one"), ("worse", "one")]
    assert asked(ran, "last") == [("worse", "one")]


def test_a_rescored_rerun_is_of_its_trials(ran: Project) -> None:
    ran.run("rerun", "old", "--failed", "--out", "new")
    ran.write(
        {"a.eval.yaml": suite(*map(case, REPLIES), execution={"evaluators": [contains("e")]})}
    )

    outcome = ran.run("rescore", "new", "--out", "rescored")

    assert outcome.code == ExitCode.OK
    assert asked(ran, "rescored") == [("bad", "one"), ("worse", "one")]
    assert "1 flipped: 1 fail → pass; 1 as before" in outcome.out


def test_only_the_suite_that_is_meant_is_asked(project: Project) -> None:
    """Two suites may have cases of the same id."""
    execution = {"evaluators": [contains("yes")]}
    project.write(
        {
            "a.eval.yaml": suite(case("same"), target="one", execution=execution),
            "b.eval.yaml": suite(case("same"), target="two", execution=execution),
            "targets.yaml": targets(mock("no", name="one"), mock("yes", name="two")),
        }
    )
    project.run("eval", ".", "--out", "old")

    outcome = project.run("rerun", "old", "--failed", "--out", "new")

    assert [row["suite"] for row in project.rows("new")] == ["a.eval.yaml"]
    assert outcome.code == ExitCode.GATE_FAILED


def test_a_suite_that_was_moved_is_found_again(ran: Project) -> None:
    (ran.folder / "sub").mkdir()
    (ran.folder / "a.eval.yaml").rename(ran.folder / "sub" / "a.eval.yaml")
    manifest = ran.folder / "old" / "run.json"
    manifest.write_text(manifest.read_text().replace('"a.eval.yaml"\n', '"sub"\n'))

    ran.run("rerun", "old", "--failed", "--out", "new")

    assert asked(ran) == [("bad", "one"), ("worse", "one")]


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (["--errors"], "no trial of the run new ended in an error"),
        (["--eval-id", "none*"], "no trial of the run new has an id that matches 'none*'"),
    ],
    ids=["errors", "ids"],
)
def test_nothing_is_meant(ran: Project, flags: list[str], why: str) -> None:
    ran.run("rerun", "old", "--failed", "--out", "new")

    outcome = ran.run("rerun", "new", *flags, "--out", "again")

    assert outcome.code == ExitCode.NOTHING
    assert outcome.err == f"Error: Nothing ran: {why}.\n"
    assert not (ran.folder / "again").exists()


def test_resuming_the_last_run_of_a_suite_means_what_eval_started(ran: Project) -> None:
    """A rerun is named where it is meant."""
    ran.write({"targets.yaml": targets(mock("no"), mock("yes", name="two"))})
    ran.run("eval", "a.eval.yaml")
    ran.run("rerun", "latest", "--eval-id", "good")

    outcome = ran.run("eval", "a.eval.yaml", "--resume")

    assert "  4 kept, 0 only to be judged, 0 to be asked\n" in outcome.err


def test_a_rerun_whose_suite_was_moved_goes_on_more_than_once(ran: Project) -> None:
    ran.run("rerun", "old", "--failed", "--out", "new")
    (ran.folder / "a.eval.yaml").rename(ran.folder / "b.eval.yaml")
    for _ in range(2):
        ran.run("eval", "b.eval.yaml", "--target", "one", "--target", "two", "--out", "new", RESUME)
        assert asked(ran) == [("bad", "one"), ("worse", "one")]
        assert {row["suite"] for row in ran.rows("new")} == {"b.eval.yaml"}


def test_trials_that_are_gone_are_named(ran: Project) -> None:
    """A rerun is no verdict on what it could not ask."""
    ran.write({"a.eval.yaml": suite(*map(case, ("good", "worse", "broken")), execution=YES)})

    outcome = ran.run("rerun", "old", "--failed", "--quiet", "--out", "new")

    assert outcome.err == (
        "warning: 1 trial of the run old that failed is no longer in its suites, or not on that "
        "target: bad (one)\n"
    )
    assert asked(ran) == [("worse", "one")]
    ran.write({"a.eval.yaml": suite(case("good"), execution=YES)})
    nothing = ran.run("rerun", "old", "--failed", "--out", "none")
    assert nothing.code == ExitCode.NOTHING
    assert nothing.err == (
        "Error: Nothing ran: 2 trials of the run old that failed are no longer in its suites, or "
        "not on that target: bad (one), worse (one).\n"
    )


def test_a_suite_without_a_chosen_trial_is_not_in_the_summary(ran: Project) -> None:
    ran.write({"b.eval.yaml": suite(case("good"), execution=YES, dataset="other", target="two")})
    ran.run("eval", ".", "--out", "both")

    outcome = ran.run("rerun", "both", "--eval-id", "broken", "--out", "new")

    assert "\na on default\n" in outcome.out
    assert "  suite       a.eval.yaml: 0 of 1 passed, 0 errors" in outcome.out
    assert "\n              nothing was planned in 1 other suite\n" in outcome.out
    assert "b.eval.yaml" not in outcome.out


@pytest.mark.parametrize("flags", [[], ["--failed"], ["--eval-id", "*"]], ids=" ".join)
def test_a_rerun_of_a_shard_is_of_its_trials_whatever_the_plan_is_now(
    project: Project, flags: list[str]
) -> None:
    """More cases move the borders between shards."""
    cases = [case(f"case-{number}", contains("yes")) for number in range(20)]
    project.write({"a.eval.yaml": suite(*cases[:6]), "targets.yaml": targets(mock("no"))})
    project.run("eval", "a.eval.yaml", "--shard", "2/3", "--out", "old")
    project.write({"a.eval.yaml": suite(*cases)})

    outcome = project.run("rerun", "old", *flags, "--out", "new", "--quiet")

    assert outcome.err == ""
    assert asked(project) == asked(project, "old")
    assert "shard" not in outcome.out
    project.run("resume", "new")
    assert asked(project) == asked(project, "old")
