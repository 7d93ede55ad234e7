"""`agentv runs` lists what there is, and removes only what it is told to, and only its own."""

import json
import os
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agentv.errors import ExitCode
from agentv.storage.run_lock import RunLock
from agentv.testing import Project
from story import case, contains, mock, suite, targets
from terminal import on_terminal

WELL = contains("well")


@pytest.fixture
def runs(project: Project) -> Project:
    """Four runs with names of their own, the oldest first: `r1` of September to `r4` of now."""
    cases = (case("good", WELL), case("bad", contains("ill")), case("broken", WELL))
    project.write(
        {
            "a.eval.yaml": suite(*cases, dataset="triage"),
            "targets.yaml": targets(mock(replies={"broken": {"error": "no"}, "*": "well"})),
        }
    )
    project.run("eval", "a.eval.yaml", "--out", ".agentv/results/r1")
    for age, name in ((40, "r2"), (3, "r3"), (0, "r4"), (70, "r1")):
        if name != "r1":
            shutil.copytree(folder(project, "r1"), folder(project, name))
        edit(project, name, started=days_ago(age), run_id=name)
    return project


def days_ago(days: float) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="milliseconds")


def edit(project: Project, name: str, **changes: Any) -> None:
    path = folder(project, name) / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def folder(project: Project, name: str) -> Path:
    return project.folder / ".agentv/results" / name


def left(project: Project) -> list[str]:
    return sorted(path.name for path in (project.folder / ".agentv/results").iterdir())


def test_the_newest_come_first_with_what_came_of_them(runs: Project) -> None:
    edit(runs, "r4", started="2099-11-21T07:08:01.000Z")
    header, *lines = runs.run("runs").out.splitlines()
    assert header.split("  ")[1] == "run"
    assert [line.split()[0] for line in lines] == ["r4", "r3", "r2", "r1"]
    assert re.sub(" {2,}", " | ", lines[0].strip()) == (
        "r4 | 2099-11-21 07:08 | triage | default | 0.333 (1 of 3) | - | complete"
    )


def test_it_says_what_is_not_whole(runs: Project) -> None:
    journal = folder(runs, "r3") / "results.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:2]))
    edit(runs, "r2", dry_run=True)
    edit(runs, "r1", shard={"number": 2, "of": 5})
    with RunLock(folder(runs, "r4") / "lock"):
        lines = runs.run("runs").out.splitlines()[1:]
    states = [re.split(" {2,}", line)[-1] for line in lines]
    assert states == [
        "running 3 of 3",
        "incomplete 2 of 3",
        "complete, dry run",
        "complete, shard 2/5",
    ]


def test_a_run_that_cannot_be_read_hides_no_other(runs: Project) -> None:
    (folder(runs, "r2") / "results.jsonl").write_text("oops\n{}\n")
    outcome = runs.run("runs")
    assert outcome.code == ExitCode.OK
    assert "results/r2/results.jsonl:1: this line is not a result row" in outcome.err
    assert [line.split()[-1] for line in outcome.out.splitlines() if "r2" in line] == ["unreadable"]
    found = {run["run_id"]: run for run in runs.run("runs", "--json").json["runs"]}
    assert found["r2"]["state"] == "unreadable"
    assert found["r2"].keys() == found["r1"].keys()
    assert "results/r2/results.jsonl:1" in found["r2"]["problem"]


def test_the_list_as_json(runs: Project) -> None:
    told = runs.run("runs", "--json", "--limit", "1").json
    assert told["total"] == 4
    [run] = told["runs"]
    assert (run["run_id"], run["state"], run["exit_code"]) == ("r4", "complete", 1)
    assert run["suites"] == [{"path": "a.eval.yaml", "dataset": "triage"}]
    assert run["targets"] == ["default"]
    assert run["counts"]["pass_rate"] == pytest.approx(1 / 3)
    assert run["counts"] == runs.run("show", "r4", "--json").json["counts"]


def test_a_long_list_is_cut_and_says_so(runs: Project) -> None:
    assert runs.run("runs", "--limit", "3").out.endswith("\n  … and 1 more: --limit 4 shows all\n")


def test_before_the_first_run(project: Project) -> None:
    outcome = project.run("runs")
    assert outcome.out == "There are no runs in .agentv/results; `agentv eval` makes one.\n"
    assert project.run("runs", "--json").json == {"total": 0, "runs": []}
    assert project.run("runs", "prune", "--keep", "1").out == "Nothing was removed.\n"


def test_rm_takes_the_runs_that_are_named(runs: Project) -> None:
    runs.run("eval", "a.eval.yaml", "--out", "elsewhere")
    outcome = runs.run("runs", "rm", "r1", "latest~1", "elsewhere", "./elsewhere/", "--yes")
    assert outcome.code == ExitCode.OK
    assert outcome.out == (
        "  removed    .agentv/results/r1\n  removed    .agentv/results/r3\n  removed    elsewhere\n"
    )
    assert left(runs) == ["r2", "r4"]
    assert not (runs.folder / "elsewhere").exists()


def test_nothing_is_removed_if_one_name_is_wrong(runs: Project) -> None:
    outcome = runs.run("runs", "rm", "r1", "r9", "--yes")
    assert outcome.code == ExitCode.USAGE
    assert "There is no run 'r9'" in outcome.err
    assert left(runs) == ["r1", "r2", "r3", "r4"]


@pytest.mark.parametrize("command", [["rm", "r1"], ["prune", "--keep", "3"]])
def test_where_nobody_can_be_asked_it_must_be_said(runs: Project, command: list[str]) -> None:
    outcome = runs.run("runs", *command)
    assert (outcome.code, outcome.err) == (
        ExitCode.USAGE,
        "Error: Nobody can be asked whether to remove 1 run; say so with --yes.\n",
    )
    assert left(runs) == ["r1", "r2", "r3", "r4"]


@pytest.mark.parametrize(
    ("answer", "remaining"), [("n\r", ["r1", "r2", "r3", "r4"]), ("y\r", ["r3", "r4"])]
)
def test_on_a_terminal_it_asks(runs: Project, answer: str, remaining: list[str]) -> None:
    with on_terminal(runs.folder, "runs", "prune", "--older-than", "30d") as terminal:
        terminal.wait_for("Remove 2 runs? [y/N]")
        assert "  .agentv/results/r2  " in terminal.text
        terminal.type(answer)
        assert terminal.end() == ExitCode.OK
    assert left(runs) == remaining


@pytest.mark.parametrize(
    ("options", "remaining"),
    [
        pytest.param(["--keep", "3"], ["r2", "r3", "r4"], id="keep"),
        pytest.param(["--keep", "0"], [], id="keep none"),
        pytest.param(["--older-than", "60d"], ["r2", "r3", "r4"], id="days"),
        pytest.param(["--older-than", "1w"], ["r3", "r4"], id="weeks"),
        pytest.param(["--older-than", "48h"], ["r4"], id="hours"),
        pytest.param(["--keep", "3", "--older-than", "2d"], ["r2", "r3", "r4"], id="keep wins"),
        pytest.param(["--keep", "1", "--older-than", "30d"], ["r3", "r4"], id="age wins"),
    ],
)
def test_prune_takes_what_is_old(runs: Project, options: list[str], remaining: list[str]) -> None:
    assert runs.run("runs", "prune", *options, "--yes").code == ExitCode.OK
    assert left(runs) == remaining


def test_a_run_is_as_old_as_when_it_was_last_taken_up(runs: Project) -> None:
    edit(runs, "r1", resumed=[days_ago(50), days_ago(1)])
    edit(runs, "r2", started="some day")
    runs.run("runs", "prune", "--older-than", "30d", "--yes")
    assert left(runs) == ["r1", "r2", "r3", "r4"]


def test_prune_must_be_told_what(runs: Project) -> None:
    outcome = runs.run("runs", "prune", "--yes")
    assert outcome.code == ExitCode.USAGE
    assert "Say which runs may go: --keep N, --older-than 30d, or both." in outcome.err
    outcome = runs.run("runs", "prune", "--older-than", "1m")
    assert "'1m' is no age; say it in hours, days or weeks: 12h, 30d, 2w." in outcome.err


def test_a_rehearsal_removes_nothing(runs: Project) -> None:
    outcome = runs.run("runs", "prune", "--keep", "3", "--dry-run")
    assert re.fullmatch(
        r"  would go   \.agentv/results/r1  [0-9-]+ [0-9:]+  triage  \([0-9.]+ kB\)\n", outcome.out
    )
    assert outcome.err == "Dry run: nothing was removed.\n"
    told = runs.run("runs", "rm", "r1", "r2", "--dry-run", "--json").json
    assert told["dry_run"]
    assert [gone["folder"] for gone in told["removed"]] == [
        ".agentv/results/r1",
        ".agentv/results/r2",
    ]
    assert left(runs) == ["r1", "r2", "r3", "r4"]


def test_a_run_that_is_being_written_stays(runs: Project) -> None:
    with RunLock(folder(runs, "r1") / "lock"):
        pruned = runs.run("runs", "prune", "--keep", "2", "--yes")
        named = runs.run("runs", "rm", "r1", "--yes", "--json")
    assert pruned.code == ExitCode.OK
    assert pruned.out.startswith(
        "  removed    .agentv/results/r2\n"
        f"  kept       .agentv/results/r1: it is being written by process {os.getpid()} on "
    )
    assert named.code == named.json["exit_code"] == ExitCode.USAGE
    assert named.json["removed"] == []
    assert "it is being written by process" in named.json["kept"][0]["reason"]
    assert left(runs) == ["r1", "r3", "r4"]


def test_what_is_not_ours_keeps_its_folder(runs: Project) -> None:
    own = folder(runs, "r1")
    (own / "notes.txt").write_text("mine")
    (own / "results.jsonl.bak").write_text("mine")
    (own / "steps.jsonl").write_text("")
    (own / "superseded.jsonl").write_text("")
    (own / ".results.jsonl.4711.tmp").write_text("")
    outcome = runs.run("runs", "rm", "r1", "--yes")
    assert outcome.out == (
        "  removed    .agentv/results/r1\n"
        "             its folder stays: it holds notes.txt, results.jsonl.bak\n"
    )
    assert sorted(path.name for path in own.iterdir()) == ["notes.txt", "results.jsonl.bak"]
    assert "r1" not in runs.run("runs").out


def test_a_link_is_not_followed(runs: Project) -> None:
    (runs.folder / "elsewhere").mkdir()
    for path in folder(runs, "r1").iterdir():
        path.rename(runs.folder / "elsewhere" / path.name)
    folder(runs, "r1").rmdir()
    folder(runs, "r1").symlink_to(runs.folder / "elsewhere")
    outcome = runs.run("runs", "rm", "r1", "--yes")
    assert outcome.code == ExitCode.USAGE
    said = "  kept       .agentv/results/r1: it is a link; name the run by where it lies\n"
    assert said in outcome.out
    assert said in runs.run("runs", "rm", "r1", "--dry-run").out
    assert runs.run("runs", "prune", "--keep", "3", "--yes").code == ExitCode.OK
    assert (runs.folder / "elsewhere/results.jsonl").exists()


def test_a_run_that_cannot_be_read_can_be_removed(runs: Project) -> None:
    (folder(runs, "r1") / "run.json").write_text("{")
    assert runs.run("runs", "rm", "r1", "--yes").code == ExitCode.OK
    assert left(runs) == ["r2", "r3", "r4"]


def test_options_of_the_list_are_not_lost_before_a_command(runs: Project) -> None:
    outcome = runs.run("runs", "--json", "rm", "r1", "--yes")
    assert outcome.code == ExitCode.USAGE
    assert "Options go behind 'rm'." in outcome.err
    assert left(runs) == ["r1", "r2", "r3", "r4"]


def test_the_list_has_a_name_of_its_own(runs: Project) -> None:
    assert runs.run("runs", "list", "--limit", "3") == runs.run("runs", "--limit", "3")
    assert runs.run("runs", "list", "--json") == runs.run("runs", "--json")


def test_a_slip_in_the_command_is_understood(runs: Project) -> None:
    assert "No such command 'prun'. Did you mean 'prune'?" in runs.run("runs", "prun").err
    outcome = runs.run("runs", "delete")
    assert outcome.code == ExitCode.USAGE
    assert "No such command 'delete'. There are list, prune and rm." in outcome.err


def test_what_came_of_another_run_says_of_which(runs: Project) -> None:
    runs.run("rerun", "r4", "--errors", "--out", ".agentv/results/again")
    runs.run("rescore", "r4", "--out", ".agentv/results/anew")
    lines = runs.run("runs", "--limit", "2").out.splitlines()
    assert lines[1].endswith("complete, rescored from r4")
    assert lines[2].endswith("complete, rerun of r4")
    anew, again = runs.run("runs", "--limit", "2", "--json").json["runs"]
    assert (again["rerun_of"]["run_id"], again["rescored_from"]) == ("r4", None)
    assert (anew["rescored_from"]["run_id"], anew["rerun_of"]) == ("r4", None)


def test_what_is_left_without_a_manifest_is_seen_and_can_be_removed(runs: Project) -> None:
    """A merge that was killed leaves files that nothing else would ever take away."""
    for name, file in (("r0", ".results.jsonl.4711.tmp"), ("r9", "results.jsonl")):
        folder(runs, name).mkdir()
        (folder(runs, name) / file).write_text("")
    outcome = runs.run("runs")
    assert [line.split() for line in outcome.out.splitlines()[-2:]] == [
        ["r0", "-", "-", "-", "-", "-", "unreadable"],
        ["r9", "-", "-", "-", "-", "-", "unreadable"],
    ]
    assert outcome.err.splitlines()[0] == (
        "warning: .agentv/results/r0 has no run.json: nothing can be told of it. "
        "`agentv runs rm` removes it."
    )
    assert runs.run("runs", "--json").json["total"] == 6
    assert "r0/run.json does not exist, so" in runs.run("show", "r0").err
    assert runs.run("show", "latest", "--json").json["run_id"] == "r4"
    runs.run("runs", "prune", "--keep", "3", "--yes")
    assert left(runs) == ["r0", "r2", "r3", "r4", "r9"]
    assert runs.run("runs", "rm", "r0", "r9", "--yes").code == ExitCode.OK
    assert left(runs) == ["r2", "r3", "r4"]


def test_a_name_stays_on_its_line(runs: Project) -> None:
    folder(runs, "r4").rename(folder(runs, "r\n4\x1b[31m"))
    assert "  r\\n4\\x1b[31m  " in runs.run("runs").out
