"""What is shown of untrusted text, and what happens when nobody reads."""

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
