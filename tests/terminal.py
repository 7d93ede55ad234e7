"""`agentv` as a process of its own: on a pseudo-terminal, or with its output in pipes."""

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agentv.testing import Outcome
from processes import LIMIT_SECONDS, ending

_COMMAND = (sys.executable, "-m", "agentv")
_ON_TERMINAL = """\
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from agentv.__main__ import main
main()
"""
"""Makes the pseudo-terminal the controlling one, so that Ctrl-C typed there becomes a signal."""
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@dataclass
class Terminal:
    """A command that runs on a terminal; what it prints is read as it comes."""

    process: subprocess.Popen[bytes]
    _screen: int
    seen: str = field(default="")
    """Everything so far, escape sequences included."""

    @property
    def is_open(self) -> bool:
        return self._screen >= 0

    @property
    def text(self) -> str:
        """Everything so far as a person reads it."""
        return _ESCAPE.sub("", self.seen)

    def wait_for(self, text: str) -> None:
        """Read on until a text has been printed."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while text not in self.text:
            has_more = time.monotonic() < deadline and self._read()
            assert has_more, f"no {text!r} in:\n{self.text}"

    def type(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def hang_up(self) -> None:
        """Close the terminal, as somebody does who closes its window."""
        os.close(self._screen)
        self._screen = -1

    def end(self) -> int:
        """Read to the end and return the exit code."""
        while self._read():
            pass
        return self.process.wait(LIMIT_SECONDS)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._screen], [], [], LIMIT_SECONDS)
        assert ready, f"nothing more came; it printed:\n{self.seen}"
        try:
            data = os.read(self._screen, 65536)
        except OSError:  # how Linux says that the other side is closed
            data = b""
        self.seen += data.decode("utf-8", "replace")
        return bool(data)


@contextlib.contextmanager
def on_terminal(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None, columns: int = 100
) -> Iterator[Terminal]:
    """Run `agentv` on a terminal of its own."""
    screen, line = pty.openpty()
    termios.tcsetwinsize(line, (40, columns))
    process = subprocess.Popen(
        [sys.executable, "-c", _ON_TERMINAL, *arguments],
        stdin=line,
        stdout=line,
        stderr=line,
        cwd=folder,
        env=_environment({"TERM": "xterm-256color", **(env or {})}),
        start_new_session=True,
    )
    os.close(line)
    terminal = Terminal(process, screen)
    try:
        yield terminal
    finally:
        if process.poll() is None:
            process.terminate()  # so that it takes what it started along
        with ending(process):
            if terminal.is_open:
                terminal.hang_up()


def in_pipes(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None, stdin: str = ""
) -> Outcome:
    """Run `agentv` as a script would."""
    done = subprocess.run(
        [*_COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        cwd=folder,
        env=_environment(env or {}),
        timeout=LIMIT_SECONDS,
    )
    return Outcome(code=done.returncode, out=done.stdout, err=done.stderr)


@contextlib.contextmanager
def started(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start `agentv` with its output in pipes that the caller reads, or closes."""
    process = subprocess.Popen(
        [*_COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        cwd=folder,
        env=_environment({}),
        start_new_session=True,
    )
    with ending(process):
        yield process


def _environment(changes: Mapping[str, str]) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}
    return {**kept, **changes}
