"""`agentv vscode`: workers, made, listed, freed and warmed up."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import vscode_stand_in
from agentv.errors import ExitCode
from agentv.providers.vscode.lock import try_lock
from agentv.testing import Outcome, Project

CLAIM = """
import sys
from pathlib import Path
from agentv.providers.vscode.lock import try_lock
try_lock(Path(sys.argv[1]))
"""


def vscode(project: Project, command: str, *more: str) -> Outcome:
    return project.run("vscode", command, *more, "--root", "w")


def lock_of(project: Project, number: int) -> Path:
    return project.folder / "w" / f"subagent-{number}" / "subagent.lock"


def test_workers_are_made_once(project: Project) -> None:
    first = vscode(project, "provision", "--subagents", "2")
    assert first.code == ExitCode.OK
    assert first.out == f"  made      {project.folder}/w/subagent-1\n" + (
        f"  made      {project.folder}/w/subagent-2\n"
    )
    again = vscode(project, "provision", "--subagents", "3")
    assert [line.split()[0] for line in again.out.splitlines()] == ["there", "there", "made"]
    worker = project.folder / "w" / "subagent-3"
    assert (worker / "subagent-3.code-workspace").exists()
    assert (worker / ".github" / "agents" / "wakeup.md").exists()


def test_force_writes_their_files_anew_but_not_under_a_living_owner(project: Project) -> None:
    vscode(project, "provision", "--subagents", "2")
    workspaces = sorted(project.folder.glob("w/*/*.code-workspace"))
    for workspace in workspaces:
        workspace.write_text("{}")
    lock = try_lock(lock_of(project, 1))
    outcome = vscode(project, "provision", "--force")
    assert [line.split()[0:2] for line in outcome.out.splitlines()] == [
        ["in", "use"],
        ["made", "anew"],
    ]
    assert [workspace.read_text() == "{}" for workspace in workspaces] == [True, False]
    assert lock is not None
    lock.release()


def test_a_dry_run_makes_nothing(project: Project) -> None:
    outcome = vscode(project, "provision", "--dry-run")
    assert "made" in outcome.out
    assert outcome.err == "Dry run: nothing was written.\n"
    assert not (project.folder / "w").exists()


def test_the_list_says_who_uses_them(project: Project) -> None:
    vscode(project, "provision", "--subagents", "4")
    lock = try_lock(lock_of(project, 1))
    subprocess.run([sys.executable, "-c", CLAIM, str(lock_of(project, 2))], check=True)
    lock_of(project, 3).touch()
    outcome = vscode(project, "list")
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert lines[0] == f"locked subagent-1 process {os.getpid()}, just now"
    assert lines[1].startswith("stale subagent-2 process ")
    assert lines[2] == "locked subagent-3 another program, just now"
    assert lines[3] == "available subagent-4"
    found = vscode(project, "list", "--json").json
    assert found["root"] == str(project.folder / "w")
    assert [worker["status"] for worker in found["workers"]] == [
        *("locked", "stale", "locked", "available")
    ]
    assert lock is not None
    lock.release()


def test_an_empty_list_says_how_to_fill_it(project: Project) -> None:
    outcome = vscode(project, "list")
    assert outcome.code == ExitCode.OK
    assert outcome.out == (
        f"No workers in {project.folder}/w; `agentv vscode provision` makes them.\n"
    )


def test_a_living_owners_lock_needs_force(project: Project) -> None:
    vscode(project, "provision", "--subagents", "2")
    lock = try_lock(lock_of(project, 1))
    subprocess.run([sys.executable, "-c", CLAIM, str(lock_of(project, 2))], check=True)
    outcome = vscode(project, "unlock", "--all")
    assert outcome.code == ExitCode.USAGE
    kept, freed = outcome.out.splitlines()
    assert kept == (
        f"  kept      subagent-1  (held by process {os.getpid()}, just now; "
        "--force unlocks it all the same)"
    )
    assert freed.startswith("  unlocked  subagent-2  (held by process ")
    assert (lock_of(project, 1).exists(), lock_of(project, 2).exists()) == (True, False)

    rehearsed = vscode(project, "unlock", "subagent-1", "--force", "--dry-run")
    assert rehearsed.code == ExitCode.OK
    assert lock_of(project, 1).exists()
    assert vscode(project, "unlock", "subagent-1", "--force").code == ExitCode.OK
    assert not lock_of(project, 1).exists()
    assert vscode(project, "unlock", "--all").out == "No worker is locked.\n"
    assert lock is not None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Say which workers (`subagent-1`), or --all."),
        (("subagent-1", "--all"), "Say which workers (`subagent-1`), or --all."),
        (("subagent-7",), "There is no worker 'subagent-7' in"),
        (("../else",), "There is no worker '../else' in"),
    ],
    ids=["nothing", "both", "unknown", "a path"],
)
def test_unlock_wants_to_know_what(
    project: Project, arguments: tuple[str, ...], words: str
) -> None:
    vscode(project, "provision")
    outcome = vscode(project, "unlock", *arguments)
    assert outcome.code == ExitCode.USAGE
    assert words in outcome.err


def test_warming_up_opens_each_window_and_wakes_its_agent(project: Project) -> None:
    stand_in = vscode_stand_in.install(project.folder)
    vscode(project, "provision", "--subagents", "2")
    program = str(project.folder / "code")
    would = vscode(project, "warmup", "--dry-run")
    assert would.out.count("would open") == 2
    outcome = vscode(project, "warmup", "--executable", program)
    assert outcome.code == ExitCode.OK
    assert [line.split() for line in outcome.out.splitlines()] == [
        ["ready", "subagent-1"],
        ["ready", "subagent-2"],
    ]
    assert [call[3] for call in stand_in.calls() if call[0] == "-r"] == ["wakeup", "wakeup"]
    assert not list(project.folder.glob("w/*/subagent.lock"))


def test_a_window_that_does_not_wake_says_what_to_look_at(project: Project) -> None:
    vscode_stand_in.install(project.folder, never_wakes=True)
    vscode(project, "provision")
    outcome = vscode(
        project, "warmup", "--executable", f"{project.folder}/code", "--timeout", "0.1"
    )
    assert outcome.code == ExitCode.ERRORS
    assert "failed   subagent-1  VS Code's agent did not wake up within 0.1 s." in outcome.out
    assert "sign in" in outcome.out


def test_warming_up_needs_workers_and_a_program(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "No workers in" in vscode(project, "warmup").err
    vscode(project, "provision")
    monkeypatch.setenv("PATH", str(project.folder))
    outcome = vscode(project, "warmup")
    assert outcome.code == ExitCode.USAGE
    assert "`warmup` needs the command line of VS Code" in outcome.err
