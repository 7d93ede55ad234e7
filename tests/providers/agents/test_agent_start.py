"""How an agent's program is started: its arguments, input, folder and environment."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents.stage import Stage
from agents.stand_in import STAND_INS, stand_in
from story import case, contains

REPORT = """
answer("four " + json.dumps({
    "argv": sys.argv[1:],
    "stdin": sys.stdin.read(),
    "cwd": os.getcwd(),
    "env": dict(os.environ),
    "files": {str(p.relative_to(".")): p.read_text() for p in Path().rglob("*") if p.is_file()},
}))
"""
"""Answers with all that it was given."""


def report(stage: Stage, provider: str, *, question: str = "?", **settings: Any) -> dict[str, Any]:
    target = stand_in(provider, stage.home, REPORT, **settings)
    played = stage.play(target, case("case", contains("four"), question=question))
    assert played.row["verdict"] == "pass", played.row
    given: dict[str, Any] = json.loads(played.row["candidate_answer"].removeprefix("four "))
    return given


def test_codex_is_started_as_specified(stage: Stage) -> None:
    given = report(stage, "codex", model="gpt-5", args=["-c", "a=1", "--ephemeral"])

    assert given["argv"] == [
        *("--ask-for-approval", "never", "exec"),
        *("--json", "--color", "never", "--skip-git-repo-check"),
        *("--model", "gpt-5", "-c", "a=1", "--ephemeral", "-"),
    ]


def test_codex_without_settings(stage: Stage) -> None:
    line = "--ask-for-approval never exec --json --color never --skip-git-repo-check -"

    assert report(stage, "codex")["argv"] == line.split()


def test_claude_is_started_headless(stage: Stage) -> None:
    """By itself it would try ten more times, wrong key or not, and look for updates."""
    given = report(stage, "claude", model="opus", args=["--max-turns", "3"])

    line = "--print --output-format stream-json --verbose --model opus --max-turns 3"
    assert given["argv"] == line.split()
    assert given["env"]["CLAUDE_CODE_MAX_RETRIES"] == "0"
    assert given["env"]["DISABLE_AUTOUPDATER"] == "1"


def test_what_the_target_sets_wins(stage: Stage) -> None:
    given = report(stage, "claude", env={"CLAUDE_CODE_MAX_RETRIES": "2"})

    assert given["env"]["CLAUDE_CODE_MAX_RETRIES"] == "2"


@pytest.mark.parametrize("provider", STAND_INS)
def test_the_prompt_is_its_input_and_a_file(stage: Stage, provider: str) -> None:
    """Scenario: the workspace holds `prompt.md`, with the text that goes to standard input."""
    question = "What's `$(this)`?\n\nZeile zwei: ünï 🙂"
    given = report(stage, provider, question=question)

    assert given["stdin"] == f"[[ ## user_query ## ]]\n\n{question}\n"
    assert given["files"] == {"prompt.md": given["stdin"]}


@pytest.mark.parametrize("provider", STAND_INS)
def test_it_works_in_a_folder_of_its_own(stage: Stage, provider: str) -> None:
    given = report(stage, provider)

    room = Path(given["cwd"]).parent
    assert room.is_relative_to(stage.tmp.resolve())
    assert given["env"]["PWD"] == given["cwd"]
    assert Path(given["env"]["TMPDIR"]).parent == room


def test_a_template_with_a_prompt_of_its_own(stage: Stage) -> None:
    """The author's file stays what it is; ours is put beside the linked files."""
    stage.project.write({"template/prompt.md": "mine", "template/.hidden": "too"})
    given = report(stage, "codex", workspace_template="template")

    ours = given["files"].pop("agentv-inputs/prompt.md")
    assert ours == given["stdin"]
    assert given["files"] == {"prompt.md": "mine", ".hidden": "too"}


def test_a_folder_of_the_authors(stage: Stage) -> None:
    """Nothing is put there; linked files are elsewhere, within reach."""
    stage.project.write({"work/here.txt": "here", "notes.txt": "note"})
    messages = [
        {"role": "user", "content": [{"type": "file", "value": "notes.txt"}]},
    ]
    target = stand_in("claude", stage.home, REPORT, cwd="work")
    played = stage.play(target, case("case", contains("four"), input_messages=messages))
    given = json.loads(played.row["candidate_answer"].removeprefix("four "))

    assert given["cwd"] == str(stage.project.folder / "work")
    assert given["files"] == {"here.txt": "here"}
    reach = given["argv"][given["argv"].index("--add-dir") + 1]
    assert f"(file://{reach}/files/notes.txt)" in given["stdin"]
    assert [path.name for path in (stage.project.folder / "work").iterdir()] == ["here.txt"]


@pytest.mark.parametrize("provider", STAND_INS)
def test_it_inherits_little(stage: Stage, provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could be somebody's secret does not reach it, unless the target names it."""
    own = {"codex": "OPENAI_API_KEY", "claude": "ANTHROPIC_API_KEY"}
    for name in (*own.values(), "GITHUB_TOKEN", "MY_DATABASE_URL", "SHARED_VARIABLE"):
        monkeypatch.setenv(name, f"value-of-{name}")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    given = report(stage, provider, env={"RENAMED": "${{ SHARED_VARIABLE }}", "PLAIN": "x"})
    env = given["env"]

    assert own[provider] in env
    assert {name for name in own.values() if name in env} == {own[provider]}
    assert "GITHUB_TOKEN" not in env
    assert "MY_DATABASE_URL" not in env
    assert "SHARED_VARIABLE" not in env
    assert (env["PLAIN"], env["LC_ALL"]) == ("x", "C.UTF-8")
    assert "PATH" in env
    assert "RENAMED" in env
