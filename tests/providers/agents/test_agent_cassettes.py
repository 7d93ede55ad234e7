"""Agents are recorded once, and replayed where neither they nor their models are."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from typing import Any

import pytest

from agent_vendor import AgentVendor, Conversation, Run, Say
from agents import needs_git
from agents.fixtures import VENDOR_KEY
from agents.real import KEY_VARIABLE, RealAgent
from agents.stage import Played, Stage
from agents.stand_in import STAND_INS, stand_in
from agentv.errors import ExitCode
from processes import ending
from story import PYTHON, case, command, suite, targets

pytestmark = [needs_git, pytest.mark.timeout(300)]

WORK = """
sys.stdin.read()
use_tool("cat old.txt", Path("old.txt").read_text())
Path("old.txt").write_text("old\\nand more\\n")
Path("gone.txt").unlink()
Path("new folder").mkdir()
Path("new folder/ünï.txt").write_text("made in " + os.getcwd())
Path("bytes.dat").write_bytes(bytes(range(256)))
Path("run.sh").write_text("#!/bin/sh\\n")
Path("run.sh").chmod(0o755)
Path("link").symlink_to("old.txt")
answer(f"It is in {os.getcwd()}/new folder.")
"""
COMMANDS = (
    "cat old.txt; printf 'old\\nand more\\n' > old.txt; rm gone.txt",
    "mkdir 'new folder'; pwd | tr -d '\\n' > 'new folder/ünï.txt'; printf '\\377\\0' > bytes.dat",
    "printf '#!/bin/sh\\n' > run.sh; chmod 755 run.sh; ln -s old.txt link; pwd",
)
TEMPLATE = {"template/old.txt": "old\n", "template/gone.txt": "gone\n", "template/same.txt": "same"}
LOOK = """
import hashlib, json, os, pathlib, sys

given = json.load(sys.stdin)
folder = pathlib.Path(given["workspace"])

def told(path):
    if path.is_symlink():
        return "-> " + os.readlink(path)
    data = path.read_bytes().replace(str(folder).encode(), b"HERE")
    return ("x " if os.access(path, os.X_OK) else "") + hashlib.sha256(data).hexdigest()[:12]

files = [path for path in sorted(folder.rglob("*")) if not path.is_dir()]
hits = [f"{path.relative_to(folder)}: {told(path)}" for path in files if path.name != "prompt.md"]
hits.append("it is told of " + "its own folder" * (str(folder) in given["candidate_answer"]))
print(json.dumps({"score": 1, "hits": hits, "reasoning": json.dumps(given["trace"])}))
"""
LOOKS = {"type": "code", "script": f"{PYTHON} look.py"}
JUDGED = {"type": "llm_judge"}
VERDICT = json.dumps({"score": 0.9, "hits": ["It works"], "misses": [], "reasoning": "Right."})
JUDGE = f"sys.stdin.read(); answer({VERDICT!r})"

ROOM = re.compile(r"/[^\s\"'`)]*/agentv-rooms-\w+/\d+")
FOLLOWS = re.compile(
    r"index [0-9a-f]+\.\.[0-9a-f]+|\"(at|duration)_ms\": [\d.]+|[0-9a-f]{16} -----"
)
"""What follows from paths and times: digests in a diff, a copied trace, the fences of an answer."""
TIMES = ("timestamp", "duration_ms", "at_ms")


def conversation_of_two_turns() -> list[dict[str, Any]]:
    content = [{"type": "text", "value": "Sum up."}, {"type": "file", "value": "notes.md"}]
    return [
        {"role": "user", "content": content},
        {"role": "assistant", "content": "What for?"},
        {"role": "user", "content": "For Anna."},
    ]


CASES = (
    case("one", LOOKS, JUDGED),
    case("two", LOOKS, JUDGED, input_messages=conversation_of_two_turns(), conversation_id="anna"),
)


def steady(value: Any) -> Any:
    """Without what no two runs have in common."""
    if isinstance(value, dict):
        return {key: steady(item) for key, item in value.items() if key not in TIMES}
    if isinstance(value, list):
        return [steady(item) for item in value]
    return FOLLOWS.sub("…", ROOM.sub("<room>", value)) if isinstance(value, str) else value


def results(stage: Stage, played: Played) -> dict[str, Any]:
    """The rows, with the contents of what was kept."""
    found = {}
    for id_, row in played.rows.items():
        places = {name: stage.project.folder / path for name, path in row["artifacts"].items()}
        assert places["log"].is_file()
        kept = places["workspace"]
        files = {str(path.relative_to(kept)) for path in kept.rglob("*")}
        diff = steady(places["diff"].read_text("utf-8", "replace"))
        found[id_] = steady({**row, "artifacts": {"files": sorted(files), "diff": diff}})
    return found


def record(stage: Stage, agent: dict[str, Any], judge: dict[str, Any]) -> dict[str, Any]:
    stage.project.write({**TEMPLATE, "look.py": LOOK, "notes.md": "The notes."})
    played = stage.play(
        agent, *CASES, options=["--record", "tape", "--workers", "2"], others=[judge]
    )
    assert played.outcome.code == ExitCode.OK, played.outcome.out
    [looked, judged] = played.rows["one"]["evaluator_results"]
    assert "it is told of its own folder" in looked["hits"]
    assert judged["score"] == 0.9
    for path in (stage.project.folder / "tape").rglob("*.json"):
        assert VENDOR_KEY not in path.read_text()
    return results(stage, played)


def replay(stage: Stage, agent: dict[str, Any], judge: dict[str, Any]) -> dict[str, Any]:
    played = stage.play(agent, *CASES, options=["--replay", "tape"], others=[judge])
    assert played.outcome.code == ExitCode.OK, played.outcome.out + played.outcome.err
    assert "REPLAYED from tape (4 exchanges): nobody was asked." in played.outcome.out
    return results(stage, played)


def assert_miss_is_named(stage: Stage, agent: dict[str, Any], judge: dict[str, Any]) -> None:
    """An attached file has changed, and so has a question."""
    stage.project.write({"notes.md": "Other notes."})
    other = case("one", LOOKS, JUDGED, question="What else?")
    missed = stage.play(agent, other, CASES[1], options=["--replay", "tape"], others=[judge])
    assert missed.outcome.code == ExitCode.ERRORS
    said = missed.outcome.out
    assert "Not in the cassette tape (2)" in said
    assert "      - ?\n      + What else?\n" in said
    assert re.search(r"- <agentv:room>/workspace/agentv-inputs/files/notes\.md: \w{16}\n", said)
    assert {row["error"]["kind"] for row in missed.rows.values()} == {"replay_miss"}


@pytest.mark.parametrize("provider", STAND_INS)
def test_a_replay_without_the_agent(stage: Stage, provider: str) -> None:
    """Rows, traces, tokens, workspaces and diffs are as they were, and judges that are agents are
    told of the candidate's folder as it is now.
    """
    tools, judging = stage.home / "tools", stage.home / "tools" / "judge"
    judging.mkdir(parents=True)
    agent = stand_in(
        provider,
        tools,
        WORK,
        workspace_template="template",
        keep_workspace="always",
        judge_target="strict",
    )
    judge = stand_in(provider, judging, JUDGE) | {"name": "strict"}
    recorded = record(stage, agent, judge)
    assert recorded["one"]["usage"]["input_tokens"] == 5
    shutil.rmtree(tools)
    assert replay(stage, agent, judge) == recorded
    assert_miss_is_named(stage, agent, judge)


def test_a_replay_of_a_real_agent(
    stage: Stage, agent: RealAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its program, its model and its key."""

    def model(conversation: Conversation) -> Say | Run:
        done = len(conversation.results)
        if "[[ ## system_instructions ## ]]" in conversation.document:
            return Say(text=VERDICT)
        if done < len(COMMANDS):
            return Run(command=COMMANDS[done])
        return Say(text=f"It is in {conversation.results[-1].strip()}")

    program = stage.home / "tools" / agent.name
    program.parent.mkdir()
    program.symlink_to(agent.executable)
    with AgentVendor(model) as vendor:
        usual = agent.target(vendor.url, stage.home) | {"executable": str(program)}
        judge = {**usual, "name": "strict"}
        target = usual | {
            "workspace_template": "template",
            "keep_workspace": "always",
            "judge_target": "strict",
        }
        recorded = record(stage, target, judge)
    program.unlink()
    monkeypatch.delenv(KEY_VARIABLE)
    vendor.asked.clear()
    assert replay(stage, target, judge) == recorded
    assert_miss_is_named(stage, target, judge)
    assert vendor.asked == []


def test_a_recording_that_was_killed_while_its_judge_was_asked(stage: Stage) -> None:
    """The answer tells of a folder that went with the killed run. A replay has one of its own."""
    project = stage.project
    answers = "sys.stdin.read(); answer(f'It is in {os.getcwd()}/made.txt.')"
    agent = stand_in("codex", stage.home, answers, judge_target="judge")
    verdict = f"printf %s {shlex.quote(VERDICT)}; : {{PROMPT}}"
    judge = command(f"test -e again || {{ echo here > pipe; sleep 5; }}; {verdict}", cwd=".")
    files = {"a.eval.yaml": suite(case("one", JUDGED))}
    project.write({**files, "targets.yaml": targets(agent, {**judge, "name": "judge"})})
    os.mkfifo(project.folder / "pipe")
    arguments = ("eval", "a.eval.yaml", "--record", "tape", "--out", "run")
    recording = subprocess.Popen(
        [sys.executable, "-m", "agentv", *arguments],
        cwd=project.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=0,
    )
    with ending(recording):
        assert (project.folder / "pipe").read_text() == "here\n"
        os.killpg(recording.pid, signal.SIGKILL)
    project.write({"again": ""})

    resumed = project.run(*arguments, "--resume")
    assert resumed.code == ExitCode.OK, resumed.out + resumed.err
    replayed = project.run("eval", "a.eval.yaml", "--replay", "tape", "--out", "again-and-again")
    assert replayed.code == ExitCode.OK, replayed.out + replayed.err
    [before], [after] = project.rows("run"), project.rows("again-and-again")
    assert before["candidate_answer"] != after["candidate_answer"]
    assert steady(before["candidate_answer"]) == steady(after["candidate_answer"])
    assert after["score"] == 0.9
