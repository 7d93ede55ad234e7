"""An agent's folder: what is in it, who may look at it, and when it is kept."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_vendor import AgentVendor, run_then_answer
from agents import needs_git
from agents.real import RealAgent
from agents.stage import Played, Stage
from agents.stand_in import stand_in
from story import case, contains

pytestmark = needs_git

WORK = """
Path("old.txt").write_text("old\\nand more\\n")
Path("gone.txt").unlink()
Path("new folder").mkdir()
Path("new folder/ünï.txt").write_text("new\\n")
answer("four")
"""
TEMPLATE = {"template/old.txt": "old\n", "template/gone.txt": "gone\n", "template/same.txt": "same"}

LOOK = """
import json, pathlib, sys
given = json.load(sys.stdin)
folder = pathlib.Path(given["workspace"])
pathlib.Path(sys.argv[1]).write_text(json.dumps({
    "given": given,
    "files": sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()),
}))
wrote = (folder / "result.txt").read_text()
print(json.dumps({"score": float("42" in wrote), "hits": [wrote]}))
"""


def looks_at(file: Path) -> dict[str, Any]:
    """An evaluator that reads what the agent wrote, and notes what it was given."""
    return {"type": "code", "script": [sys.executable, "-c", LOOK, str(file)]}


def worked(stage: Stage, keep: str, answer: str = "four") -> Played:
    stage.project.write(TEMPLATE)
    target = stand_in("codex", stage.home, WORK, workspace_template="template", keep_workspace=keep)
    return stage.play(target, case("a/case", contains(answer)))


@pytest.mark.parametrize(
    ("keep", "answer", "kept"),
    [
        ("never", "four", False),
        ("never", "five", False),
        ("on_failure", "four", False),
        ("on_failure", "five", True),
        ("always", "four", True),
        ("always", "five", True),
    ],
)
def test_when_it_is_kept(stage: Stage, keep: str, answer: str, kept: bool) -> None:
    row = worked(stage, keep, answer).row
    places = stage.project.folder / ".agentv" / "workspaces"

    assert row["verdict"] == ("pass" if answer == "four" else "fail")
    assert set(row["artifacts"]) == ({"log", "workspace", "diff"} if kept else {"log"})
    assert places.exists() == kept
    assert {path.name for path in (stage.project.folder / "template").iterdir()} == {
        *("old.txt", "gone.txt", "same.txt")
    }


def test_a_kept_one_is_as_the_agent_left_it(stage: Stage) -> None:
    row = worked(stage, "always").row
    workspace = stage.project.folder / row["artifacts"]["workspace"]
    diff = (stage.project.folder / row["artifacts"]["diff"]).read_text()

    assert not Path(row["artifacts"]["workspace"]).is_absolute()
    assert workspace.parent == stage.project.folder / ".agentv" / "workspaces" / "codex"
    assert "a_case" in workspace.name
    files = {str(path.relative_to(workspace)) for path in workspace.rglob("*") if path.is_file()}
    assert files == {"old.txt", "same.txt", "prompt.md", "new folder/ünï.txt"}
    assert "prompt.md" not in diff
    assert "same.txt" not in diff
    assert "--- a/old.txt\n+++ b/old.txt\n@@ -1 +1,2 @@\n old\n+and more\n" in diff
    assert "--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n" in diff
    assert "+new\n" in diff


def test_the_diff_can_be_applied(stage: Stage) -> None:
    """To the template, and the result is what the agent made of it."""
    row = worked(stage, "always").row
    folder = stage.project.folder
    subprocess.run(
        ("git", "apply", str(folder / row["artifacts"]["diff"])),
        cwd=folder / "template",
        check=True,
    )

    assert (folder / "template" / "old.txt").read_text() == "old\nand more\n"
    assert (folder / "template" / "new folder" / "ünï.txt").read_text() == "new\n"
    assert not (folder / "template" / "gone.txt").exists()


def test_one_without_changes_has_an_empty_diff(stage: Stage) -> None:
    target = stand_in("codex", stage.home, "answer('four')", keep_workspace="always")
    row = stage.play(target, case("case", contains("four"))).row

    assert (stage.project.folder / row["artifacts"]["diff"]).read_text() == ""


def test_an_agent_that_fails_leaves_its_work_for_a_look(stage: Stage) -> None:
    code = "Path('half.txt').write_text('half'); fail('I am tired')"
    target = stand_in("claude", stage.home, code, keep_workspace="on_failure")
    row = stage.play(target, case("case", contains("four"))).row

    assert row["verdict"] == "error"
    assert (stage.project.folder / row["artifacts"]["workspace"] / "half.txt").is_file()
    assert "+half" in (stage.project.folder / row["artifacts"]["diff"]).read_text()


def test_an_agent_whose_time_is_up_leaves_its_work_too(stage: Stage) -> None:
    code = "Path('half.txt').write_text('half'); time.sleep(60)"
    target = stand_in("codex", stage.home, code, keep_workspace="on_failure", timeout_seconds=3)
    row = stage.play(target, case("case", contains("four"))).row

    assert row["error"]["kind"] == "timeout"
    assert (stage.project.folder / row["artifacts"]["workspace"] / "half.txt").is_file()


def test_a_repository_of_the_agents_own_is_left_alone(stage: Stage) -> None:
    """It commits its work; the diff shows it all the same, and its repository is whole."""
    git = "git -c user.name=A -c user.email=a@b.c -c init.defaultBranch=main"
    code = f"""
Path("a.txt").write_text("work")
subprocess.run("{git} init -q && {git} add -A && {git} commit -qm done", shell=True, check=True)
answer("four")
"""
    target = stand_in("codex", stage.home, code, keep_workspace="always")
    row = stage.play(target, case("case", contains("four"))).row
    workspace = stage.project.folder / row["artifacts"]["workspace"]
    log = subprocess.run(
        ("git", "log", "--format=%s"), cwd=workspace, check=True, capture_output=True
    )

    assert "+work" in (stage.project.folder / row["artifacts"]["diff"]).read_text()
    assert log.stdout == b"done\n"


def test_a_workspace_that_cannot_be_walked_any_more(stage: Stage) -> None:
    """The agent takes away rights; its folder is removed all the same."""
    code = """
Path("locked").mkdir()
Path("locked/file").write_text("x")
Path("locked").chmod(0)
answer("four")
"""
    target = stand_in("codex", stage.home, code)

    assert stage.play(target, case("case", contains("four"))).row["verdict"] == "pass"


def test_an_agent_that_removes_its_folder(stage: Stage) -> None:
    code = "import shutil; shutil.rmtree(os.getcwd()); answer('four')"
    target = stand_in("codex", stage.home, code, keep_workspace="always")
    row = stage.play(target, case("case", contains("four"))).row

    assert row["verdict"] == "pass", row
    [warning] = [entry["message"] for entry in row["trace"] if entry["type"] == "warning"]
    assert warning == "there is no diff of what was changed: `git add` failed in the workspace"
    assert "diff" not in row["artifacts"]


def test_retries_begin_in_a_fresh_one(stage: Stage) -> None:
    """What the first attempt left is nothing that the second can see, and both have a log."""
    code = """
assert not Path("mark").exists()
Path("mark").touch()
counter = Path(os.environ["COUNTER"])
counter.write_text(counter.read_text() + "x")
time.sleep(60) if counter.read_text() == "x" else answer("four")
"""
    counter = stage.home / "counter"
    counter.write_text("")
    target = stand_in(
        "codex", stage.home, code, env={"COUNTER": str(counter)}, keep_workspace="on_failure"
    )
    played = stage.play(
        target,
        case("case", contains("four")),
        options=("--max-retries", "1", "--agent-timeout", "3"),
    )

    assert (played.row["verdict"], played.row["attempts"]) == ("pass", 2), played.row
    assert len(stage.logs("codex")) == 2


def test_evaluators_may_look_at_the_work_and_at_its_trace(stage: Stage, agent: RealAgent) -> None:
    seen = stage.home / "seen.json"
    stage.project.write({"template/sources/a.txt": "6 * 7"})
    with AgentVendor(run_then_answer("echo 42 > result.txt", text="Done.")) as vendor:
        target = agent.target(vendor.url, stage.home, workspace_template="template")
        played = stage.play(target, case("sum", looks_at(seen)))
    row, noted = played.row, json.loads(seen.read_text())

    assert (row["verdict"], row["hits"]) == ("pass", ["42"]), row
    assert {"result.txt", "sources/a.txt", "prompt.md"} <= set(noted["files"])
    assert noted["given"]["candidate_answer"] == "Done."
    assert noted["given"]["trace"] == row["trace"]
    [call] = [entry for entry in noted["given"]["trace"] if entry["type"] == "tool_call"]
    assert "echo 42 > result.txt" in call["arguments"]["command"]


def test_a_real_agents_work_is_kept(stage: Stage, agent: RealAgent) -> None:
    with AgentVendor(run_then_answer("echo 42 > result.txt", text="Done.")) as vendor:
        target = agent.target(vendor.url, stage.home, keep_workspace="always")
        row = stage.play(target, case("sum", contains("Done."))).row

    folder = stage.project.folder
    assert (folder / row["artifacts"]["workspace"] / "result.txt").read_text() == "42\n"
    assert (folder / row["artifacts"]["diff"]).read_text().endswith("@@ -0,0 +1 @@\n+42\n")
