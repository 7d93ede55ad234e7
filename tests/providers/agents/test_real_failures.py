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
from agents.real import CODEX, RealAgent
from agents.stage import Played, Stage
from agentv.errors import ExitCode
from story import case, contains

pytestmark = pytest.mark.timeout(300)

KILL_PARENT = "kill -9 $PPID"
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


def test_a_wrong_key(stage: Stage, agent: RealAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_AGENT_KEY", "this-is-not-the-right-key")
    played = play(stage, agent, answer("x"))

    error = assert_error(played, "auth", f"{agent.provider} failed: .*401.*Incorrect API key")
    assert "this-is-not-the-right-key" not in str(error)


def test_a_vendor_in_trouble(stage: Stage, agent: RealAgent) -> None:
    played = play(stage, agent, lambda _: failure(500, "the vendor is on fire"))
    said = {"codex": "high demand", "claude": "API Error: 500 the vendor is on fire"}

    assert_error(played, "agent", f"{agent.provider} failed: .*{said[agent.provider]}")


def test_a_connection_that_breaks(stage: Stage, agent: RealAgent) -> None:
    played = play(stage, agent, lambda _: RESET, "--agent-timeout", "20")

    said = {"codex": "disconnected|error sending", "claude": "Unable to connect"}
    assert_error(played, "agent", f"{agent.provider} failed: .*({said[agent.provider]})")


def test_a_vendor_that_never_answers(stage: Stage, agent: RealAgent) -> None:
    played = play(stage, agent, lambda _: HANG, "--agent-timeout", "3")

    assert_error(played, "timeout", f"^{agent.provider} did not end within 3 s")


def test_no_vendor(stage: Stage, agent: RealAgent) -> None:
    """A refused connection: one gives up, the other waits for the network until its time ends."""
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
        assert_error(played, "agent", "claude failed: .*Unable to connect")


def test_an_endless_loop(stage: Stage, agent: RealAgent) -> None:
    """The trace shows what it did until its time was up."""
    with AgentVendor(run_for_ever) as vendor:
        target = agent.target(vendor.url, stage.home, timeout_seconds=5)
        played = stage.play(target, case("case", contains("x")))

    assert_error(played, "timeout", f"^{agent.provider} did not end within 5 s")
    calls = [entry for entry in played.row["trace"] if entry["type"] == "tool_call"]
    assert abs(len(calls) - len(vendor.asked)) <= 1
    results = [call["result"].strip() for call in calls if "result" in call]
    assert results == [f"round {number + 1}" for number in range(len(results))]


def test_a_flag_that_it_does_not_know(stage: Stage, agent: RealAgent) -> None:
    played = play(stage, agent, answer("x"), args=["--no-such-flag"])
    error = assert_error(played, "exit", f"^{agent.provider} failed with exit code [12]: .+")
    assert "--no-such-flag" in error["detail"]


def test_it_is_killed(stage: Stage, agent: RealAgent) -> None:
    """By its own model; what it had started is ended too."""
    played = play(stage, agent, run_then_answer(KILL_PARENT, "sleep 60"))

    assert_error(played, "exit", f"^{agent.provider} (was ended by SIGKILL|failed with exit code)")


@pytest.mark.agents
def test_the_wrapper_around_codex_is_killed(stage: Stage) -> None:
    """Its child, which does all the work, would live on."""
    played = play(stage, CODEX, run_then_answer(KILL_GRANDPARENT, "sleep 60"))

    assert_error(played, "exit", "^codex was ended by SIGKILL")


def test_a_very_large_answer(stage: Stage, agent: RealAgent) -> None:
    """It is an answer like any other: whole in its row, cut in the trace.

    Claude Code ends without waiting until its output is read: of a larger one, reported twice,
    more may be lost than a pipe holds.
    """
    characters = {"codex": 5_000_000, "claude": 400_000}[agent.provider]
    with AgentVendor(huge_answer(characters)) as vendor:
        target = agent.target(vendor.url, stage.home)
        played = stage.play(target, case("case", contains("the end")))
    row = played.row

    assert (played.outcome.code, row["verdict"]) == (ExitCode.OK, "pass"), row["error"]
    assert len(row["candidate_answer"]) == characters + 8
    [message] = [entry for entry in row["trace"] if entry["type"] == "message"]
    assert message["text"].endswith("characters left out …]")
    assert len(message["text"]) < 40_000
