"""Runs with `vscode` targets, as their user sees them; a stand-in plays VS Code."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import vscode_stand_in
from agentv.errors import ExitCode
from agentv.testing import Project
from processes import LIMIT_SECONDS
from story import by_id, case, contains, mock, suite, targets
from terminal import started
from vscode_stand_in import StandIn


def vscode(**more: Any) -> dict[str, Any]:
    return {"name": "default", "provider": "vscode", "subagent_root": "workers", **more}


@pytest.fixture
def path(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on `PATH`."""
    folder = project.folder / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def write(project: Project, *cases: Any, **target: Any) -> Project:
    own = mock('{"score": 1.0}', name="judge")
    return project.write(
        {"a.eval.yaml": suite(*cases), "targets.yaml": targets(vscode(**target), own)}
    )


def wait_for(found: Path) -> None:
    deadline = time.monotonic() + LIMIT_SECONDS
    while not list(found.parent.parent.glob(f"{found.parent.name}/{found.name}")):
        assert time.monotonic() < deadline, f"no {found}"
        time.sleep(0.01)


def test_a_suite_is_asked_and_scored(project: Project, path: Path) -> None:
    vscode_stand_in.install(path)
    write(
        project,
        case("right", contains("You asked: two"), question="two"),
        case("wrong", contains("nowhere"), question="three"),
    )
    outcome = project.run("eval", "a.eval.yaml")
    assert outcome.code == ExitCode.GATE_FAILED, outcome.err
    rows = by_id(project.rows())
    assert (rows["right"]["verdict"], rows["wrong"]["verdict"]) == ("pass", "fail")
    assert rows["right"]["raw_request"]["question"] == "two"


def test_files_are_linked_and_not_pasted(project: Project, path: Path) -> None:
    """VS Code's agent opens files itself: the question is in agent mode."""
    vscode_stand_in.install(path)
    write(project, case("one", contains("notes.md"), question="?"))
    content = [
        {"type": "text", "value": "Read it."},
        {"type": "file", "value": "notes.md"},
        {"type": "file", "value": "be.instructions.md"},
    ]
    asked = {
        **case("one", contains("notes.md")),
        "input_messages": [{"role": "user", "content": content}],
    }
    project.write(
        {
            "a.eval.yaml": suite(asked),
            "notes.md": "inside of the notes",
            "be.instructions.md": "Be brief.",
        }
    )
    assert project.run("eval", "a.eval.yaml").code == ExitCode.OK
    [file] = project.folder.glob("workers/subagent-1/messages/*_req.md")
    text = file.read_text()
    assert f"* [notes.md]({(project.folder / 'notes.md').as_uri()})" in text
    assert f"* [be.instructions.md]({(project.folder / 'be.instructions.md').as_uri()})" in text
    assert "inside of the notes" not in text


def test_a_batch_is_one_dispatch(project: Project, path: Path) -> None:
    """Nine answers and one error: what is missing costs the others nothing."""
    stand_in = vscode_stand_in.install(path, missing=[3])
    cases = [case(f"c{n}", contains(f"question {n}"), question=f"question {n}") for n in range(10)]
    write(project, *cases, provider_batching=True, timeout_seconds=2)
    outcome = project.run("eval", "a.eval.yaml")
    assert outcome.code == ExitCode.ERRORS, outcome.err
    rows = by_id(project.rows())
    assert [name for name, row in rows.items() if row["verdict"] == "pass"] == [
        f"c{n}" for n in range(10) if n != 3
    ]
    assert rows["c3"]["error"]["kind"] == "no_answer"
    chats = [call for call in stand_in.calls() if call[3:4] == ["agent"]]
    assert len(chats) == 1


def test_answers_of_a_chat_that_has_ended_outlive_the_run(project: Project, path: Path) -> None:
    """Killed while the first one is scored: nobody is asked again for the others."""
    stand_in = vscode_stand_in.install(path)
    script = "touch scored; until [ -e free ]; do sleep 0.05; done; echo '{\"score\": 1.0}'"
    evaluator = {"type": "code", "script": ["sh", "-c", script]}
    cases = [case(f"c{n}", evaluator, question=f"question {n}") for n in range(4)]
    write(project, *cases, provider_batching=True)
    with started(project.folder, "eval", "a.eval.yaml", "--out", "run") as process:
        wait_for(project.folder / "scored")
        process.kill()
    project.write({"free": ""})
    outcome = project.run("resume", "run")
    assert outcome.code == ExitCode.OK, outcome.err
    assert "0 kept, 4 only to be judged, 0 to be asked" in outcome.err
    assert len(project.rows("run")) == 4
    assert len([call for call in stand_in.calls() if call[3:4] == ["agent"]]) == 1


def test_a_batch_that_cannot_be_made_falls_back(project: Project, path: Path) -> None:
    """The specification's fallback, when VS Code fails as a whole; then each case says why."""
    vscode_stand_in.install(path, crash=True)
    write(project, case("one", contains("x")), provider_batching=True)
    outcome = project.run("eval", "a.eval.yaml")
    assert "the batch for target 'default' could not be made" in outcome.err
    [row] = project.rows()
    assert row["error"]["kind"] == "exit"
    assert row["error"]["detail"] == "the window could not be opened"


def test_a_dry_run_target_is_skipped_and_never_a_pass(project: Project) -> None:
    """What would have been used stands in the row; VS Code is not even needed."""
    write(project, case("one", contains("x")), dry_run=True)
    outcome = project.run("eval", "a.eval.yaml")
    assert outcome.code == ExitCode.NOTHING
    assert "Nothing was asserted: the run skipped 1 of 1 trial" in outcome.out
    [row] = project.rows()
    assert (row["verdict"], row["score"], row["candidate_answer"]) == ("skipped", None, None)
    assert row["dry_run"] is True
    assert row["trace"][0]["worker"] == "subagent-1"
    assert not (project.folder / "workers").exists()


def test_a_dry_run_judge_is_no_verdict(project: Project) -> None:
    project.write(
        {
            "a.eval.yaml": suite(case("one", {"type": "llm_judge"})),
            "targets.yaml": targets(
                mock("hi", judge_target="ide"), vscode(name="ide", dry_run=True)
            ),
        }
    )
    assert project.run("eval", "a.eval.yaml").code == ExitCode.ERRORS
    [row] = project.rows()
    assert row["evaluator_results"][0]["error"] == "judge 'ide' is a dry run"


def test_it_judges(project: Project, path: Path) -> None:
    vscode_stand_in.install(path, answer='{"score": 0.9, "hits": ["ok"], "misses": []}')
    project.write(
        {
            "a.eval.yaml": suite(case("one", {"type": "llm_judge"})),
            "targets.yaml": targets(mock("hi", judge_target="ide"), vscode(name="ide")),
        }
    )
    assert project.run("eval", "a.eval.yaml").code == ExitCode.OK
    assert project.rows()[0]["score"] == 0.9


def test_a_missing_program_is_said_before_any_case(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(project.folder))
    write(project, case("one", contains("x")))
    outcome = project.run("eval", "a.eval.yaml")
    assert outcome.code == ExitCode.USAGE
    assert "Target 'default' needs the command line of VS Code" in outcome.err
    assert not (project.folder / ".agentv").exists()


def test_more_workers_than_windows_is_worth_a_warning(project: Project, path: Path) -> None:
    vscode_stand_in.install(path)
    write(project, case("one", contains("asked")), workers=4)
    outcome = project.run("eval", "a.eval.yaml")
    assert outcome.code == ExitCode.OK
    assert (
        "target 'default': 1 VS Code worker for 4 requests at a time, so some wait; "
        "`agentv vscode provision --subagents 4 --root workers` makes more"
    ) in outcome.err


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ({"wait": False}, "targets[0].wait  an answer that nobody waits for cannot be scored"),
        ({"workspace_template": "no.code-workspace"}, "'no.code-workspace' was not found"),
        ({"mode": "-x"}, "targets[0].mode  '-x' is an option of VS Code, not a chat's mode"),
        ({"subagentroot": "x"}, "subagent_root"),
    ],
    ids=["wait", "template", "mode", "typo"],
)
def test_mistakes_in_a_target_are_located(
    project: Project, target: dict[str, Any], words: str
) -> None:
    write(project, case("one", contains("x")), **target)
    outcome = project.run("validate", ".")
    assert outcome.code == ExitCode.USAGE
    assert words in outcome.err


def test_camel_case_keys_are_the_same_keys(project: Project, path: Path) -> None:
    vscode_stand_in.install(path, name="my-code")
    project.write(
        {
            "a.eval.yaml": suite(case("one", contains("You asked"))),
            "targets.yaml": targets(
                {
                    "name": "default",
                    "provider": "vscode-insiders",
                    "executable": "my-code",
                    "subagentRoot": "workers",
                    "timeoutSeconds": 20,
                    "dryRun": False,
                }
            ),
        }
    )
    assert project.run("eval", "a.eval.yaml").code == ExitCode.OK


def stuck(project: Project, path: Path) -> tuple[StandIn, Path]:
    """A project whose run waits for an answer for ever, and the request that it will write."""
    stand_in = vscode_stand_in.install(path, never_answers=True)
    write(project, case("one", contains("You asked: ?")), timeout_seconds=60)
    return stand_in, project.folder / "workers" / "subagent-1" / "messages" / "*_req.md"


def test_a_killed_runner_blocks_nobody(project: Project, path: Path) -> None:
    """`kill -9`: its lock says that its owner is dead, and the next run takes the worker."""
    stand_in, message = stuck(project, path)
    lock = project.folder / "workers" / "subagent-1" / "subagent.lock"
    with started(project.folder, "eval", "a.eval.yaml") as process:
        wait_for(message)
        process.kill()
        process.wait(LIMIT_SECONDS)
    assert lock.exists()
    listed = project.run("vscode", "list", "--root", "workers", "--json").json["workers"]
    assert [worker["status"] for worker in listed] == ["stale"]

    vscode_stand_in.turn(stand_in)
    outcome = project.run("eval", "a.eval.yaml")
    assert outcome.code == ExitCode.OK, outcome.err
    assert not lock.exists()


def test_ctrl_c_gives_the_worker_back(project: Project, path: Path) -> None:
    _, message = stuck(project, path)
    with started(project.folder, "eval", "a.eval.yaml") as process:
        wait_for(message)
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT_SECONDS) == ExitCode.INTERRUPTED
    assert not (project.folder / "workers" / "subagent-1" / "subagent.lock").exists()


def test_the_npm_tool_sees_our_workers_and_we_see_its(project: Project, path: Path) -> None:
    """Its `list` shows our locks; a worker that it made answers us."""
    tool = os.environ.get("SUBAGENT_TOOL")
    if not tool:
        pytest.skip("SUBAGENT_TOOL does not name the npm tool's program `subagent`")
    root = project.folder / "workers"

    def npm(*words: str) -> Any:
        command = [tool, "code", *words, "--target-root", str(root)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)

    npm("provision", "--subagents", "2")
    stand_in, message = stuck(project, path)
    with started(project.folder, "eval", "a.eval.yaml") as process:
        wait_for(message)
        theirs = json.loads(npm("list", "--json").stdout)["subagents"]
        assert [worker["status"] for worker in theirs] == ["locked", "available"]
        process.kill()
        process.wait(LIMIT_SECONDS)
    npm("unlock", "--subagent", "subagent-1")
    (root / "subagent-1" / "subagent.lock").touch()
    vscode_stand_in.turn(stand_in)
    assert project.run("eval", "a.eval.yaml").code == ExitCode.OK
    assert list(root.glob("subagent-2/messages/*_res.md"))
    ours = project.run("vscode", "list", "--root", "workers").out
    assert "locked    subagent-1    another program" in ours
