"""Whatever an agent's program does, the row says what it was, and nothing is left of it."""

import re
import stat
from typing import Any

import pytest

from agents.stage import Played, Stage
from agents.stand_in import STAND_INS, stand_in
from agentv.errors import ExitCode
from story import case, contains, suite, targets

ESCAPEE = """
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        say(type="noise")
        time.sleep(60)
    os._exit(0)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(60)
"""
"""Ignores polite signals, and leaves a grandchild in a session of its own."""

FAULTS = {
    "exit code": ("print('no!', file=sys.stderr); sys.exit(3)", "exit", "exit code 3: no!"),
    "silent exit": ("sys.exit(4)", "exit", "failed with exit code 4"),
    "killed": ("os.kill(os.getpid(), 9)", "exit", "was ended by SIGKILL"),
    "an answer, then a crash": ("answer('four'); sys.exit(1)", "exit", "exit code 1"),
    "its own word": ("fail('I am tired')", "agent", "failed: I am tired"),
    "not JSON": ("print('Welcome!')", "invalid_output", "no JSON events; it began: Welcome!"),
    "JSON, but no object": ("print('[1]\\n2\\nnull')", "invalid_output", "it began: [1]"),
    "binary": ("os.write(1, bytes(range(256)))", "invalid_output", "no JSON events"),
    "nothing": ("", "no_output", "ended without any output"),
    "blank lines": ("print('\\n\\n  \\n')", "no_output", "ended without any output"),
    "no answer": ("say(type='thread.started')", "no_answer", "ended without an answer"),
    "half an answer": (
        "say(type='noise'); print('{\"type\": \"result\", \"is_er', end='')",
        "no_answer",
        "ended without an answer: its output breaks off in an event",
    ),
    "an empty answer": ("answer('')", "empty", "the answer is empty"),
    "a missing file": (
        "answer('ERROR: missing-file notes.md')",
        "missing_file",
        "could not open the file 'notes.md'",
    ),
    "too much": ("answer('x' * 33_600_000)", "too_large", "an answer larger than 32 MB"),
}


def play(stage: Stage, provider: str, code: str, *options: str, **settings: Any) -> Played:
    target = stand_in(provider, stage.home, code, **settings)
    return stage.play(target, case("case", contains("four")), options=options)


@pytest.mark.parametrize("provider", STAND_INS)
@pytest.mark.parametrize(("code", "kind", "message"), FAULTS.values(), ids=FAULTS)
def test_it_fails(stage: Stage, provider: str, code: str, kind: str, message: str) -> None:
    played = play(stage, provider, code)
    error = played.row["error"]

    assert (played.row["verdict"], error["kind"]) == ("error", kind), error
    assert message in error["message"]
    assert error["message"].startswith(provider) or kind == "empty"
    assert played.row["candidate_answer"] in (None, "")
    assert played.outcome.code == ExitCode.ERRORS
    assert message in played.outcome.out


@pytest.mark.parametrize("provider", STAND_INS)
def test_its_time_is_up(stage: Stage, provider: str) -> None:
    """Not even a grandchild that ignores signals in its own session lives on."""
    played = play(stage, provider, ESCAPEE, "--agent-timeout", "1")

    error = played.row["error"]
    assert (error["kind"], error["message"]) == ("timeout", f"{provider} did not end within 1 s")


def test_its_time_is_up_after_it_complained(stage: Stage) -> None:
    code = "say(type='error', message='waiting for the network'); time.sleep(60)"
    played = play(stage, "codex", code, timeout_seconds=3)

    said = "codex did not end within 3 s; it last said: waiting for the network"
    assert played.row["error"]["message"] == said
    assert [entry["type"] for entry in played.row["trace"]] == ["warning"]


@pytest.mark.parametrize("provider", STAND_INS)
def test_a_child_that_it_leaves_behind(stage: Stage, provider: str) -> None:
    """It has answered, so it passes; the child is ended, though it holds the output open."""
    code = "subprocess.Popen(['sleep', '60'], start_new_session=True); answer('four')"
    played = play(stage, provider, code)

    assert played.row["verdict"] == "pass", played.row


@pytest.mark.parametrize("provider", STAND_INS)
def test_noise_between_events_is_a_warning(stage: Stage, provider: str) -> None:
    """It is told once, with the first of it."""
    code = "print('Update available!'); print('{oops'); answer('four'); print('bye')"
    played = play(stage, provider, code)

    assert played.row["verdict"] == "pass"
    warnings = [entry for entry in played.row["trace"] if entry["type"] == "warning"]
    assert [entry["message"] for entry in warnings] == [
        "3 lines of output were no JSON: Update available!"
    ]


@pytest.mark.parametrize("provider", STAND_INS)
def test_odd_text_is_kept(stage: Stage, provider: str) -> None:
    """Half a surrogate pair, a NUL, terminal controls and line separators."""
    text = "four \\ud83d \\u0000 \\u001b[31m \\u2028 ünï"
    played = play(stage, provider, f'answer("{text}")', log_format="json")

    assert played.row["verdict"] == "pass", played.row
    assert played.row["candidate_answer"].endswith("\x00 \x1b[31m \u2028 ünï")
    assert "\x1b[31m" not in played.outcome.out + played.outcome.err


@pytest.mark.parametrize("provider", STAND_INS)
def test_a_very_large_answer(stage: Stage, provider: str) -> None:
    played = play(stage, provider, "answer('x' * 20_000_000 + ' four')")

    assert played.row["verdict"] == "pass", played.row["error"]
    assert len(played.row["candidate_answer"]) == 20_000_005


@pytest.mark.parametrize("provider", STAND_INS)
def test_a_flood_of_events(stage: Stage, provider: str) -> None:
    """The trace holds so many, and says how many it leaves out."""
    codex = "say(type='item.completed', item={'type': 'reasoning', 'text': str(n)})"
    claude = (
        "say(type='assistant', message={'content': [{'type': 'thinking', 'thinking': str(n)}]})"
    )
    code = f"for n in range(6000): {codex if provider == 'codex' else claude}\nanswer('four')"
    played = play(stage, provider, code)

    trace = played.row["trace"]
    assert played.row["verdict"] == "pass"
    assert len(trace) == 5001
    assert trace[-1]["type"] == "left_out"
    assert trace[-1]["entries"] >= 1000
    assert trace[4999]["text"] == "4999"


@pytest.mark.parametrize("provider", STAND_INS)
def test_a_program_that_does_not_read(stage: Stage, provider: str) -> None:
    """A long prompt that it does not want is no failure."""
    target = stand_in(provider, stage.home, "os.close(0); answer('four')")
    played = stage.play(target, case("case", contains("four"), question="why? " * 100_000))

    assert played.row["verdict"] == "pass"


@pytest.mark.parametrize(
    ("provider", "package"),
    [("codex", "@openai/codex"), ("claude", "@anthropic-ai/claude-code")],
)
def test_no_program(stage: Stage, provider: str, package: str) -> None:
    """It is told before anything runs, with what would help."""
    target = {"name": "default", "provider": provider, "env": {"PATH": "/nowhere"}}
    error = refused(stage, target)

    assert f"the program '{provider}' was not found on PATH; " in error
    assert f"install it with `npm install --global {package}`, or set `executable`" in error
    assert "Target 'default': the program" in error


def test_a_program_that_is_not_where_it_should_be(stage: Stage) -> None:
    target = {"name": "default", "provider": "codex", "executable": "tools/codex"}
    error = refused(stage, target)

    assert f"the program 'tools/codex' was not found ({stage.project.folder}/tools/codex" in error


def test_a_program_that_may_not_be_executed(stage: Stage) -> None:
    target = stand_in("codex", stage.home, "")
    program = stage.home / "agent"
    program.chmod(stat.S_IRUSR)

    assert f"'{program}' may not be executed (`chmod +x` would allow it)" in refused(stage, target)


def refused(stage: Stage, target: dict[str, Any]) -> str:
    """What a run says that does not begin, on one line."""
    cases = suite(case("case", contains("four")))
    outcome = stage.run({"a.eval.yaml": cases, "targets.yaml": targets(target)})
    assert outcome.code == ExitCode.USAGE
    return re.sub(r"\s+", " ", outcome.err)
