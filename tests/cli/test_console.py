"""What is shown of untrusted text, and what happens when nobody reads."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentv.cli.console import one_line, visible
from agentv.errors import ExitCode
from agentv.testing import Project
from story import case, contains, mock, suite, targets
from terminal import started


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m", id="colour"),
        pytest.param("\x1b]8;;http://x\x07", "\\x1b]8;;http://x\\x07", id="link"),
        pytest.param("a\rb", "a\\x0db", id="carriage return"),
        pytest.param("\x9b2J", "\\x9b2J", id="C1"),
        pytest.param("\u202eexe", "\\u202eexe", id="right to left"),
        pytest.param("\u2066a\u2069", "\\u2066a\\u2069", id="isolates"),
        pytest.param("\u200f\u061c", "\\u200f\\u061c", id="direction marks"),
        pytest.param("\ud800", "\\ud800", id="half a character"),
        pytest.param("tab\tand\nline", "tab\tand\nline", id="tab and newline"),
        pytest.param("größer — 日本語 🎉", "größer — 日本語 🎉", id="text"),
    ],
)
def test_control_characters_are_shown_and_not_obeyed(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(st.characters(), max_size=60))
def test_a_line_is_a_line_whatever_it_holds(text: str) -> None:
    shown = one_line(text, 40)

    assert len(shown) <= 40
    assert shown == "" or shown.splitlines() == [shown]
    assert not any(ord(sign) < 0x20 or 0x7F <= ord(sign) < 0xA0 for sign in shown)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_the_exit_code_stands_when_nobody_reads(project: Project, stream: str) -> None:
    """`agentv eval … | head` must not turn a failed gate green, nor lose a row."""
    project.write(
        {
            "a.eval.yaml": suite(*(case(f"c{n}", contains("five")) for n in range(20))),
            "targets.yaml": targets(mock("four")),
        }
    )
    with started(project.folder, "eval", "a.eval.yaml") as process:
        unread, read = process.stdout, process.stderr
        if stream == "stderr":
            unread, read = read, unread
        assert unread is not None
        assert read is not None
        unread.close()
        said = read.read()

    assert process.returncode == ExitCode.GATE_FAILED
    assert "Traceback" not in said
    assert "BrokenPipe" not in said
    assert len(project.rows()) == 20


@pytest.fixture
def failing(project: Project) -> Project:
    """A suite whose gate does not hold."""
    project.write(
        {"a.eval.yaml": suite(case("one", contains("five"))), "targets.yaml": targets(mock("four"))}
    )
    return project


def shell(project: Project, rest: str) -> tuple[int, str, str]:
    """`agentv` with its streams as a shell puts them; exit code, stdout, stderr."""
    done = subprocess.run(
        f"{shlex.quote(sys.executable)} -m agentv {rest}",
        shell=True,
        capture_output=True,
        text=True,
        cwd=project.folder,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", ["eval a.eval.yaml", "eval a.eval.yaml --json"])
def test_results_that_cannot_be_written_are_an_error(failing: Project, arguments: str) -> None:
    """Half a document must not pass for a whole one; the rows are there."""
    code, _, said = shell(failing, f"{arguments} > /dev/full")
    assert code == ExitCode.USAGE
    assert said.endswith("Error: Standard output cannot be written: No space left on device.\n")
    assert shell(failing, "show > /dev/full")[0] == ExitCode.USAGE
    assert len(failing.rows()) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_progress_that_cannot_be_written_stops_nothing(failing: Project) -> None:
    code, said, _ = shell(failing, "eval a.eval.yaml 2> /dev/full")
    assert code == ExitCode.GATE_FAILED
    assert "is below the gate of 1.00" in said


def test_a_daemon_may_have_closed_the_streams(failing: Project) -> None:
    """And no file of ours gets the number of one of them, so that a program writes into it."""
    assert shell(failing, "eval a.eval.yaml <&- >&- 2>&-")[0] == ExitCode.GATE_FAILED
    assert len(failing.rows()) == 1
    code, said, _ = shell(failing, "eval a.eval.yaml --out run 2>&-")
    assert (code, "is below the gate of 1.00" in said) == (ExitCode.GATE_FAILED, True)
    assert shell(failing, "runs rm run <&-")[0] == ExitCode.USAGE
