"""Each way for a real agent to fail: the verdict, what is said of it, and that nothing is left."""

import re
import socket
from typing import Any

import pytest

from agent_vendor import (
    HANG,
    RESET,
    AgentVendor,
    Script,
    answer,
    failure,
    huge_answer,
    run_for_ever,
    run_then_answer,
)
from agents.real import CLAUDE, CODEX, COPILOT, GEMINI, OPENCODE, PI, RealAgent
from agents.stage import Played, Stage
from agentv.errors import ExitCode
from story import case, contains

pytestmark = pytest.mark.timeout(300)

KILL_PARENT = "kill -9 $PPID"
KILL_COPILOT = """P=$PPID python3 -c 'import os; os.kill(int(os.environ["P"]), 9)'"""
"""It lets nobody use `kill`."""
KILL_GRANDPARENT = "kill -9 $(cut -d' ' -f4 /proc/$PPID/stat)"


def play(stage: Stage, agent: RealAgent, script: Script, *options: str, **settings: Any) -> Played:
    with AgentVendor(script) as vendor:
        target = agent.target(vendor.url, stage.home, **settings)
        return stage.play(target, case("case", contains("x")), options=options)


def assert_error(played: Played, kind: str, message: str) -> dict[str, Any]:
    """The row says so, and so does the run."""
    error: dict[str, Any] = played.row["error"]
    assert played.row["verdict"] == "error"
    assert error["kind"] == kind, error
    assert re.search(message, error["message"]), error
    assert error["detail"] is None or "log: .agentv/logs/" in error["detail"]
    assert played.row["candidate_answer"] is None
    assert played.outcome.code == ExitCode.ERRORS
    assert "Traceback" not in played.outcome.err
    return error


def assert_gave_up(played: Played, agent: RealAgent, said: str) -> None:
    """OpenCode's own retries take longer than a test may: its log says why it did not end."""
    if agent is OPENCODE:
        message = rf"^opencode did not end within \d+ s; it last said: .*({said})"
        assert_error(played, "timeout", message)
    else:
        assert_error(played, "agent", f"^{agent.name} failed: .*({said})")


def test_a_wrong_key(stage: Stage, agent: RealAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_AGENT_KEY", "this-is-not-the-right-key")
    played = play(stage, agent, answer("x"))

    said = "Authentication failed" if agent is COPILOT else "Incorrect API key"
    error = assert_error(played, "auth", f"^{agent.name} failed: .*{said}")
    assert "401" in error["message"]
    assert "this-is-not-the-right-key" not in str(error)


def test_a_vendor_in_trouble(stage: Stage, agent: RealAgent) -> None:
    on_fire = failure(500, "the vendor is on fire")
    played = play(stage, agent, lambda _: on_fire, "--agent-timeout", "40")

    said = "high demand" if agent is CODEX else "the vendor is on fire"
    assert_gave_up(played, agent, said)


def test_a_connection_that_breaks(stage: Stage, agent: RealAgent) -> None:
    played = play(stage, agent, lambda _: RESET, "--agent-timeout", "40")

    said = {
        CODEX: "disconnected|error sending",
        CLAUDE: "Unable to connect",
        COPILOT: "[Cc]ould not connect|retried",
        GEMINI: "fetch failed",
        OPENCODE: "socket connection was closed",
        PI: "Connection error",
    }
    assert_gave_up(played, agent, said[agent])


def test_a_vendor_that_never_answers(stage: Stage, agent: RealAgent) -> None:
    played = play(stage, agent, lambda _: HANG, "--agent-timeout", "3")

    assert_error(played, "timeout", f"^{agent.name} did not end within 3 s")


def test_no_vendor(stage: Stage, agent: RealAgent) -> None:
    """A refused connection: most give up, one waits for the network until its time ends."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        limit = 5 if agent is CODEX else 60
        target = agent.target(url, stage.home, timeout_seconds=limit)
        played = stage.play(target, case("case", contains("x")))

    if agent is CODEX:
        said = "^codex did not end within 5 s(; it last said: Reconnecting.*)?$"
        assert_error(played, "timeout", said)
    else:
        said = "[Uu]nable to connect|Could not connect|fetch failed|Connection error"
        assert_gave_up(played, agent, said)


def test_an_endless_loop(stage: Stage, agent: RealAgent) -> None:
    """The trace shows what it did until its time was up."""
    with AgentVendor(run_for_ever) as vendor:
        target = agent.target(vendor.url, stage.home, timeout_seconds=5)
        played = stage.play(target, case("case", contains("x")))

    assert_error(played, "timeout", f"^{agent.name} did not end within 5 s")
    calls = [entry for entry in played.row["trace"] if entry["type"] == "tool_call"]
    assert abs(len(calls) - len(vendor.asked)) <= 1
    results = [call["result"].splitlines()[0] for call in calls if "result" in call]
    assert results == [f"round {number + 1}" for number in range(len(results))]


def test_a_flag_that_it_does_not_know(stage: Stage, agent: RealAgent) -> None:
    played = play(stage, agent, answer("x"), args=["--such-flag"])
    # OpenCode shows its help, and says no more.
    said = "" if agent is OPENCODE else "such-flag"
    assert_error(played, "exit", f"^{agent.name} failed with exit code [12]: .*{said}")


def test_it_is_killed(stage: Stage, agent: RealAgent) -> None:
    """By its own model; what it had started is ended too."""
    kill = KILL_COPILOT if agent is COPILOT else KILL_PARENT
    played = play(stage, agent, run_then_answer(kill, "sleep 60"))

    assert_error(played, "exit", f"^{agent.name} (was ended by SIGKILL|failed with exit code)")


@pytest.mark.agents
def test_the_wrapper_around_codex_is_killed(stage: Stage) -> None:
    """Its child, which does all the work, would live on."""
    played = play(stage, CODEX, run_then_answer(KILL_GRANDPARENT, "sleep 60"))

    assert_error(played, "exit", "^codex was ended by SIGKILL")


def test_a_very_large_answer(stage: Stage, agent: RealAgent) -> None:
    """It is an answer like any other: whole in its row, cut in the trace.

    Claude Code and OpenCode end without waiting until their output is read: of a larger one more
    may be lost than a pipe holds. Pi tells all that it has so far with every piece.
    """
    characters = {CLAUDE: 400_000, OPENCODE: 400_000, PI: 2_000_000}.get(agent, 5_000_000)
    with AgentVendor(huge_answer(characters)) as vendor:
        target = agent.target(vendor.url, stage.home)
        played = stage.play(target, case("case", contains("the end")))
    row = played.row

    assert (played.outcome.code, row["verdict"]) == (ExitCode.OK, "pass"), row["error"]
    assert len(row["candidate_answer"]) == characters + 8
    [message] = [entry for entry in row["trace"] if entry["type"] == "message"]
    assert message["text"].endswith("characters left out …]")
    assert len(message["text"]) < 40_000
