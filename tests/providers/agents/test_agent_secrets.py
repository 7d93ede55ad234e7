"""A key reaches the agent, and nothing else, wherever the agent may put it."""

from pathlib import Path

import pytest

from agent_vendor import AgentVendor, run_then_answer
from agents.real import RealAgent
from agents.stage import Played, Stage
from agents.stand_in import STAND_INS, stand_in
from story import case, contains

SECRET = "sk-a-secret-of-the-test-4711"
LOUD = ("--verbose", "--dump-prompts", "prompts")
ENV = {"GIVEN_KEY": "${{ STORY_API_KEY }}"}

EVERYWHERE = """
key = os.environ["GIVEN_KEY"]
assert key.startswith("sk-a-") and key.endswith("4711")
print("stray", key)
print("stderr", key, file=sys.stderr)
Path(f"file of {key}.txt").write_text(f"holds {key}")
if codex:
    say(type="error", message=f"warned of {key}")
    say(type="item.completed", item={"type": "reasoning", "text": f"thinks of {key}"})
    say(type="item.completed", item={"type": "command_execution", "id": "1", "command": key,
        "aggregated_output": key, "exit_code": 0, "status": "completed"})
else:
    content = [{"type": "thinking", "thinking": key}, {"type": "text", "text": key},
        {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": key, key: [key]}}]
    say(type="assistant", message={"content": content})
    say(type="user", message={"content": [
        {"type": "tool_result", "tool_use_id": "1", "content": key}]})
"""
"""Tells its key by every way that it has."""

ENDINGS = {
    "an answer": 'answer(f"four {key}")',
    "a failure": 'fail(f"cannot use {key}")',
    "an exit code": "sys.exit(3)",
    "no answer": "",
    "a missing file": 'answer(f"ERROR: missing-file {key}")',
}


def shown(stage: Stage, played: Played) -> str:
    """All that the run printed and left on disk, names of files included."""
    folders = [stage.project.folder / ".agentv", stage.project.folder / "prompts"]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 3
    texts = (f"{file.name}\n{file.read_text('utf-8', 'replace')}" for file in files)
    return "\n".join([played.outcome.out, played.outcome.err, *texts])


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORY_API_KEY", SECRET)


@pytest.mark.parametrize("log_format", ["summary", "json"])
@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
@pytest.mark.parametrize("provider", STAND_INS)
def test_an_agent_that_tells_its_key(
    stage: Stage, provider: str, ending: str, log_format: str
) -> None:
    target = stand_in(provider, stage.home, EVERYWHERE + ending, env=ENV, log_format=log_format)
    played = stage.play(target, case("case", contains("four")), options=LOUD)
    text = shown(stage, played)

    assert SECRET not in text
    assert "[redacted STORY_API_KEY]" in text
    assert len(played.row["trace"]) >= 3


@pytest.mark.parametrize("provider", STAND_INS)
def test_a_key_that_the_agent_inherits(
    stage: Stage, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No target names it, and yet it is one."""
    name = {"codex": "OPENAI_API_KEY", "claude": "ANTHROPIC_API_KEY"}[provider]
    monkeypatch.setenv(name, SECRET)
    target = stand_in(provider, stage.home, f'answer("four " + os.environ["{name}"])')
    played = stage.play(
        target, case("case", contains("four")), options=("--dump-prompts", "prompts")
    )

    assert played.row["verdict"] == "pass"
    assert SECRET not in shown(stage, played)


def test_a_diff_with_a_key_in_it(stage: Stage) -> None:
    """What is kept for a person is the agent's work as it is; the diff is of our making."""
    target = stand_in(
        "codex",
        stage.home,
        "Path('a.txt').write_text('holds ' + os.environ['GIVEN_KEY']); answer('four')",
        env=ENV,
        keep_workspace="always",
    )
    played = stage.play(target, case("case", contains("four")))

    diff = stage.project.folder / played.row["artifacts"]["diff"]
    assert "+holds [redacted STORY_API_KEY]" in diff.read_text()


def test_a_real_agent_that_prints_its_environment(stage: Stage, agent: RealAgent) -> None:
    with AgentVendor(run_then_answer("env; echo $GIVEN_KEY"), key=SECRET) as vendor:
        target = agent.target(vendor.url, stage.home, env=ENV, log_format="json")
        target["env"] = {
            name: value.replace("TEST_AGENT_KEY", "STORY_API_KEY")
            for name, value in target["env"].items()
        }
        played = stage.play(
            target,
            case("case", contains("GIVEN_KEY=")),
            options=LOUD,
        )
        assert SECRET in vendor.asked[-1].conversation.results[0]

    assert played.row["verdict"] == "pass", played.row
    assert SECRET not in shown(stage, played)
    assert "GIVEN_KEY=[redacted" in played.row["candidate_answer"]
    assert Path(stage.project.folder, played.row["artifacts"]["log"]).is_file()
