"""The log of an attempt."""

import os
import re
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentv.model.score import Usage
from agentv.model.trace import (
    FileChange,
    Message,
    Reasoning,
    ToolCall,
    TraceEntry,
    UsageReport,
    Warned,
)
from agentv.providers.agents import log as module
from agentv.providers.agents.log import AttemptLog, attempt_name


def opened(
    path: Path, form: Literal["summary", "json"] = "summary"
) -> tuple[AttemptLog, list[str]]:
    warned: list[str] = []
    log = AttemptLog(path, form, lambda text: text.replace("secret", "[redacted]"), warned.append)
    log.open()
    return log, warned


@given(eval_id=st.text(), attempt=st.integers(1, 99))
def test_a_name_is_safe_and_has_no_double(eval_id: str, attempt: int) -> None:
    name = attempt_name(eval_id, attempt)

    assert re.fullmatch(r"\d{8}T\d{6}Z_[A-Za-z0-9._-]{1,60}_\d+_[0-9a-f]{6}", name)
    assert not name.startswith(".")
    assert name != attempt_name(eval_id, attempt)


def test_a_summary_has_a_line_for_each_step(tmp_path: Path) -> None:
    steps: list[TraceEntry] = [
        Reasoning(at_ms=10, text="Let\nme see"),
        ToolCall(at_ms=20, name="Bash", arguments={"command": "ls"}),
        ToolCall(at_ms=20, name="Bash", result="a\nb", is_error=True, duration_ms=1500),
        FileChange(at_ms=1600, path="a.txt", change="add"),
        Warned(at_ms=1700, message="slow"),
        UsageReport(at_ms=1800, usage=Usage(input_tokens=3, output_tokens=4)),
        Message(at_ms=61_000, text="the secret is out " + "x" * 1000),
    ]
    log, warned = opened(tmp_path / "deep" / "down" / "a.log")
    log.note("$ agent")
    for step in steps:
        log.step(step)
    log.event(b'{"type": "not for people"}')
    log.close()
    lines = log.path.read_text().splitlines()

    assert lines[:-1] == [
        "$ agent",
        "[    0.01 s] thinks: Let me see",
        "[    0.02 s] calls Bash: {'command': 'ls'}",
        "[    0.02 s] Bash failed after 1.50 s: a b",
        "[    1.60 s] file add: a.txt",
        "[    1.70 s] warning: slow",
        "[    1.80 s] used 3 tokens of input, 4 of output",
    ]
    assert lines[-1].startswith("[   61.00 s] says: the [redacted] is out xxx")
    assert lines[-1].endswith("x …")
    assert len(lines[-1]) < 450
    assert warned == []


def test_a_json_log_holds_the_agents_words_only(tmp_path: Path) -> None:
    log, _ = opened(tmp_path / "a.jsonl", "json")
    log.note("$ agent")
    log.step(Message(at_ms=1, text="hello"))
    log.event(b'{"text": "secret \xff"}')
    log.close()

    assert log.path.read_text() == '{"text": "[redacted] \ufffd"}\n'


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    log, _ = opened(tmp_path / "a.log")
    log.close()

    assert log.path.stat().st_mode & 0o777 == 0o600


def test_it_can_be_followed_while_the_agent_works(tmp_path: Path) -> None:
    log, _ = opened(tmp_path / "a.log")
    log.note("first")

    assert log.path.read_text() == "first\n"
    log.close()


def test_one_that_grows_too_large_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_LOG", 20)
    log, warned = opened(tmp_path / "a.log")
    for line in ("one", "two", "far too long to fit", "four"):
        log.note(line)
    log.close()

    assert log.path.read_text() == "one\ntwo\n[the log ends here: it grew too large]\n"
    assert warned == []


def test_one_that_cannot_be_written_is_told_of_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    log, warned = opened(tmp_path / "file" / "a.log")
    log.note("one")
    log.note("two")
    log.close()

    [said] = warned
    assert said.startswith(f"the log {tmp_path}/file/a.log cannot be written: ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk here")
def test_a_full_disk(tmp_path: Path) -> None:
    """It is told once, and the attempt goes on."""
    log, warned = opened(tmp_path / "a.log")
    assert log._file is not None
    with Path("/dev/full").open("wb") as full:
        os.dup2(full.fileno(), log._file.fileno())
    log.note("one")
    log.note("two")
    log.close()

    assert [line.rpartition(": ")[2] for line in warned] == ["No space left on device"]
