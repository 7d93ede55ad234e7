"""A summary that lacks rows says how the run is gone on with."""

from pathlib import Path

import pytest

from agentv import evaluate
from agentv.errors import ExitCode
from agentv.storage.run_lock import RunLock
from agentv.testing import Project
from story import case, contains, mock, suite, targets


@pytest.fixture
def cut_short(project: Project) -> Project:
    """A run of two cases, of which one has no row."""
    project.write(
        {
            "a.eval.yaml": suite(case("one", contains("four")), case("two", contains("four"))),
            "targets.yaml": targets(mock("four")),
        }
    )
    for out in ("nightly run", ".agentv/results/home"):
        assert project.run("eval", "a.eval.yaml", "--out", out).code == ExitCode.OK
        _take_a_row(project.folder / out)
    return project


def _take_a_row(run: Path) -> None:
    rows = run / "results.jsonl"
    rows.write_text("".join(rows.read_text().splitlines(keepends=True)[:-1]))


@pytest.mark.parametrize(
    ("run", "typed"), [("nightly run", "'nightly run'"), (".agentv/results/home", "home")]
)
def test_a_run_that_lacks_rows_names_the_command(cut_short: Project, run: str, typed: str) -> None:
    shown = cut_short.run("show", run)
    assert shown.out.endswith(
        f"  run         {run}\n"
        f"  go on       agentv resume {typed}\n"
        "  The run is incomplete: rows for 1 of 2 trials are missing (exit 3)\n"
    )
    resumed = cut_short.run("resume", run)
    assert resumed.code == ExitCode.OK
    assert "go on" not in resumed.out


def test_a_run_that_is_being_written_names_its_writer(cut_short: Project) -> None:
    with RunLock(cut_short.folder / "nightly run" / "lock"):
        shown = cut_short.run("show", "nightly run").out
    assert "\n  writer      process " in shown
    assert "go on" not in shown


def test_a_run_of_a_program_is_gone_on_with_by_that(project: Project) -> None:
    one = {"id": "one", "input_messages": [{"role": "user", "content": "?"}]}
    check = [{"type": "contains", "value": "four"}]
    evaluate([one], target=lambda _: "four", evaluators=check, out="run", cwd=project.folder)
    _take_a_row(project.folder / "run")
    shown = project.run("show", "run")
    assert (shown.code, "go on" in shown.out) == (ExitCode.ERRORS, False)


def test_answers_that_do_not_fit_are_no_reason_to_go_on(cut_short: Project) -> None:
    """Of a rescored run: nobody would be asked for others."""
    outcome = cut_short.run("rescore", "home")
    assert (outcome.code, "go on" in outcome.out) == (ExitCode.ERRORS, False)
    assert (
        "1 trial has no answer in that run that fits; `agentv rerun --eval-id` asks" in outcome.out
    )
