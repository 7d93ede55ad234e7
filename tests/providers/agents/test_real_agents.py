"""Real agents, asked as a user asks them, with a model of ours behind them."""

import json
import re
from pathlib import Path

import pytest

from agent_vendor import AgentVendor, answer, read_links, run_then_answer
from agents.real import RealAgent
from agents.stage import Stage
from agentv.errors import ExitCode
from story import case, contains

pytestmark = pytest.mark.timeout(300)


def test_an_answer_comes_with_its_trace_usage_and_log(stage: Stage, agent: RealAgent) -> None:
    """The agent runs a command in its workspace by its own tool, and answers what it printed."""
    with AgentVendor(run_then_answer("pwd; echo hello-from-tool")) as vendor:
        target = agent.target(vendor.url, stage.home)
        played = stage.play(target, case("greets", contains("hello-from-tool")))
        row = played.row

        assert (played.outcome.code, row["verdict"]) == (ExitCode.OK, "pass"), row
        assert row["candidate_answer"].splitlines()[1] == "hello-from-tool"
        assert str(stage.tmp.resolve()) in row["candidate_answer"]
        assert len(vendor.asked) == 2
        assert vendor.asked[0].conversation.query == "?"

    [call] = [entry for entry in row["trace"] if entry["type"] == "tool_call"]
    assert call["name"] == agent.tool
    assert "echo hello-from-tool" in call["arguments"]["command"]
    assert "hello-from-tool" in call["result"]
    assert not call.get("is_error")
    assert call["duration_ms"] >= 0
    assert [entry["text"] for entry in row["trace"] if entry["type"] == "message"] == [
        row["candidate_answer"]
    ]
    times = [entry["at_ms"] for entry in row["trace"]]
    assert times == sorted(times)
    assert times[0] >= 0

    usage = row["usage"]
    assert (usage["input_tokens"], usage["cached_tokens"], usage["output_tokens"]) == (202, 14, 26)

    [log] = stage.logs(agent.provider)
    assert row["artifacts"] == {"log": str(log.relative_to(stage.project.folder))}
    written = log.read_text()
    assert f"calls {agent.tool}: " in written
    assert "says: " in written
    used = re.findall(r"used (\d+) tokens of input, (\d+) of output", written)
    assert [sum(map(int, counts)) for counts in zip(*used, strict=True)] == [202, 26]


def test_it_can_open_every_linked_file(stage: Stage, agent: RealAgent) -> None:
    """Guidelines and attachments: names with spaces, signs and brackets, two of one name."""
    files = {
        "rules/house.instructions.md": "word-of-the-house",
        "a/notes.txt": "word-of-a",
        "b/notes.txt": "word-of-b",
        "b/ünï çödé (1) [x]'s.md": "word-of-unicode",
    }
    stage.project.write(files)
    attached = [{"type": "file", "value": name} for name in files]
    messages = [
        {"role": "system", "content": "You are terse."},
        {"role": "user", "content": [{"type": "text", "value": "Which words?"}, *attached]},
    ]
    checks = [contains(word) for word in files.values()]
    with AgentVendor(read_links) as vendor:
        target = agent.target(vendor.url, stage.home)
        played = stage.play(target, case("words", *checks, input_messages=messages))
        conversation = vendor.asked[0].conversation

    assert played.outcome.code == ExitCode.OK, played.row
    assert len(conversation.linked_files) == len(files)
    assert all(path.startswith(str(stage.tmp.resolve())) for path in conversation.linked_files)
    assert "Read all guideline files:\n* [house.instructions.md](file://" in conversation.document
    assert "@[System]:\nYou are terse." in conversation.query
    assert '<file: path="b/ünï çödé (1) [x]\'s.md">' in conversation.query
    assert "word-of" not in conversation.document


def test_a_json_log_holds_the_events_as_they_came(stage: Stage, agent: RealAgent) -> None:
    with AgentVendor(answer("Four.")) as vendor:
        target = agent.target(vendor.url, stage.home, log_format="json", log_dir="my logs")
        played = stage.play(target, case("sum", contains("Four.")))

    assert played.outcome.code == ExitCode.OK, played.row
    [log] = Path(stage.project.folder, "my logs").iterdir()
    assert log.suffix == ".jsonl"
    lines = log.read_text().splitlines()
    assert len(lines) >= 3
    assert all("type" in json.loads(line) for line in lines)
