"""A cassette knows of no sandbox: what was recorded in one replays where there is none."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from sandbox_story import DOCKER, needs_bubblewrap

from agent_vendor import AgentVendor, run_then_answer
from agents import needs_git
from agents.real import KEY_VARIABLE, RealAgent
from agents.stage import Played, Stage
from agents.stand_in import stand_in
from agentv.errors import ExitCode
from story import PYTHON, case, contains

pytestmark = needs_git

WORK = """
Path("made.txt").write_text("made in " + os.getcwd())
Path("home.txt").write_text(os.environ["HOME"])
Path(os.environ["TMPDIR"], "passing.txt").write_text("gone soon")
answer(f"It is in {os.getcwd()}/made.txt.")
"""
CHECK = """
import json, sys
place = json.load(sys.stdin)["workspace"]
made = open(place + "/made.txt").read() == "made in " + place
print(json.dumps({"score": int(made)}))
"""
LOOKS = {"type": "code", "script": f"{PYTHON} check.py"}
BUBBLEWRAP: dict[str, Any] = {"kind": "bubblewrap", "readable": [sys.prefix, sys.base_prefix]}
DOCKED: dict[str, Any] = {"kind": "docker", "image": "agents:1"}
KINDS = [
    pytest.param(BUBBLEWRAP, "bwrap", marks=needs_bubblewrap, id="bubblewrap"),
    pytest.param(DOCKED, "docker", id="docker"),
]


@pytest.fixture
def bin_folder(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on `PATH`, with the programs that are needed here."""
    folder = stage.home / "bin"
    folder.mkdir()
    for name in ("git", "sh", "bash", "bwrap", "node"):
        found = next((p for p in map(Path, ("/usr/bin", "/bin")) if (p / name).exists()), None)
        if found is not None:
            (folder / name).symlink_to(found / name)
    docker = folder / "docker"
    docker.write_text(f"#!{sys.executable}\n{DOCKER}")
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


def play(stage: Stage, target: dict[str, Any], option: str, **more: Any) -> Played:
    stage.project.write({"check.py": CHECK})
    cases = [case("one", LOOKS, contains("made.txt")), case("two", LOOKS, contains("made.txt"))]
    played = stage.play({**target, **more}, *cases, options=[option, "tape"])
    assert played.outcome.code == ExitCode.OK, played.outcome.out + played.outcome.err
    return played


def kept(stage: Stage, played: Played) -> list[list[str]]:
    folder = stage.project.folder
    return [
        sorted(os.listdir(folder / row["artifacts"]["workspace"])) for row in played.rows.values()
    ]


@pytest.mark.parametrize(("sandbox", "program"), KINDS)
def test_recorded_in_a_sandbox(
    stage: Stage, bin_folder: Path, sandbox: dict[str, Any], program: str
) -> None:
    """Neither the sandbox's program nor the agent's is there any more; then with no sandbox set."""
    agent = stand_in("codex", stage.home, WORK, keep_workspace="always")
    recorded = play(stage, agent, "--record", sandbox=sandbox)
    (bin_folder / program).unlink()
    (stage.home / "agent").unlink()
    for more in ({"sandbox": sandbox}, {}):
        replayed = play(stage, agent, "--replay", **more)
        assert kept(stage, replayed) == kept(stage, recorded)


@pytest.mark.parametrize(("sandbox", "program"), KINDS)
def test_recorded_without_a_sandbox(
    stage: Stage, bin_folder: Path, sandbox: dict[str, Any], program: str
) -> None:
    agent = stand_in("claude", stage.home, WORK, keep_workspace="always")
    recorded = play(stage, agent, "--record")
    (bin_folder / program).unlink()
    replayed = play(stage, agent, "--replay", sandbox=sandbox)
    assert kept(stage, replayed) == kept(stage, recorded)


@needs_bubblewrap
@pytest.mark.timeout(300)
def test_a_real_agent_in_a_sandbox(
    stage: Stage, agent: RealAgent, bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = {"kind": "bubblewrap", "network": True, "writable": [str(stage.home)]}
    commands = 'printf %s "made in $PWD" > made.txt', 'printf %s "$PWD/made.txt"'
    with AgentVendor(run_then_answer(*commands)) as vendor:
        target = agent.target(vendor.url, stage.home, keep_workspace="always", sandbox=sandbox)
        recorded = play(stage, target, "--record")
    (bin_folder / "bwrap").unlink()
    monkeypatch.delenv(KEY_VARIABLE)
    replayed = play(stage, target, "--replay", executable=f"/nowhere/{agent.name}")
    assert kept(stage, replayed) == kept(stage, recorded)
