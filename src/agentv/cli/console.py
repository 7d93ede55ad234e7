"""What is printed, where, and in which colours.

Results go to stdout, everything about how it is going to stderr; with `--json` stdout holds one
JSON document and nothing else. Text from models, agents and files is untrusted: control characters
are shown, not obeyed.
"""

import os
import re
import sys
from collections.abc import Iterable
from typing import Any, Literal, TextIO

import click

from agentv.errors import AgentVError, SetupError
from agentv.model.problem import LoadError, Problem, key_path

Tone = Literal["good", "bad", "warn", "dim", "strong"]

_TONES: dict[Tone, dict[str, Any]] = {
    "good": {"fg": "green"},
    "bad": {"fg": "red"},
    "warn": {"fg": "yellow"},
    "dim": {"dim": True},
    "strong": {"bold": True},
}
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What moves a cursor, starts a sequence, breaks a line or turns the direction of text."""


def visible(text: str) -> str:
    """Untrusted text with its control characters made visible, as Python writes them."""
    return _CONTROL.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def one_line(text: str, width: int = 160) -> str:
    """Untrusted text on one line, shortened."""
    flat = visible(" ".join(text.split()))
    return flat if len(flat) <= width else f"{flat[: width - 1]}…"


def whole_line(text: str) -> str:
    """Untrusted text on one line, every character of it: a name that somebody will type."""
    return visible(text.replace("\n", "\\n").replace("\t", "\\t"))


def paint(text: str, tone: Tone, *, err: bool = False) -> str:
    """Coloured text where the stream is a terminal and `NO_COLOR` is unset."""
    return click.style(text, **_TONES[tone]) if _colours(err) else text


def out(line: str = "") -> None:
    """A line of results."""
    _write(line, to_err=False)


def err(line: str = "") -> None:
    """A line about how it is going."""
    _write(line, to_err=True)


def _write(line: str, *, to_err: bool) -> None:
    """Write a line; raises `SetupError` when results are wanted and cannot be written."""
    try:
        click.echo(line, err=to_err)
    except OSError as error:
        # Nobody reads any more (`agentv eval … | head`), or a log's disk is full. What is done goes
        # on, and its exit code stays what it is: a failed gate must not turn green because its text
        # was cut off. Half a document in a file, though, must not pass for a whole one.
        send_nowhere((sys.stderr if to_err else sys.stdout).fileno())
        if not (to_err or isinstance(error, BrokenPipeError)):
            raise SetupError(f"Standard output cannot be written: {error.strerror}.") from error


def send_nowhere(stream: int) -> None:
    """Let what is written to a stream from here on vanish."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream)
    os.close(nowhere)


def print_json(value: Any) -> None:
    """The one JSON document of `--json`."""
    import msgspec

    from agentv.core.json_text import to_json

    out(msgspec.json.format(to_json(value), indent=2).decode())


def print_error(error: AgentVError) -> None:
    """An error for the person who must act on it."""
    if isinstance(error, LoadError):
        print_problems(error.problems)
    else:
        err(f"{paint('Error:', 'bad', err=True)} {visible(str(error))}")


def print_problems(problems: Iterable[Problem]) -> None:
    """Mistakes, one a line, with their place first so that terminals and editors can jump there."""
    for problem in problems:
        err(problem_line(problem))


def problem_line(problem: Problem) -> str:
    """`file:line:column  key.path  message; hint  [code]`."""
    place = ":".join(str(part) for part in (problem.file, problem.line, problem.column) if part)
    words = [paint(visible(place), "strong", err=True)]
    if problem.path:
        words.append(visible(key_path(problem.path)))
    warning = paint("warning: ", "warn", err=True) if problem.severity == "warning" else ""
    words.append(f"{warning}{visible(problem.text)}")
    words.append(paint(f"[{problem.code}]", "dim", err=True))
    return "  ".join(words)


def is_terminal() -> bool:
    """Whether progress may move."""
    return _is_shown(sys.stderr)


def can_be_asked() -> bool:
    """Whether there is a person who can answer a question."""
    # A daemon may have closed its streams; then there is none.
    return sys.stdin is not None and sys.stdin.isatty()


def show_cursor() -> None:
    """Give back the cursor that a live display has hidden and can no longer show again itself."""
    if is_terminal():
        sys.stderr.write("\x1b[?25h")
        sys.stderr.flush()


def _colours(to_err: bool) -> bool:
    return _is_shown(sys.stderr if to_err else sys.stdout) and not os.environ.get("NO_COLOR")


def _is_shown(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
