"""Finding and ending processes that left their command's process group.

A program that forks twice and calls `setsid` is out of reach of signals to the group, and of its
parent's list of children. It still carries its environment, so every command is given a cookie in
it (the way build servers find what a job left behind): `AGENTV_COOKIE=<outer>:<token>.<number>`.
A run nested in another adds its own part behind the outer one's, so both find their own.

What this cannot see: a process that was started with an empty environment *and* whose ancestors
have all ended, and processes of another user.
"""

import os
import signal
import sys
import time
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress

COOKIE = "AGENTV_COOKIE"
_PREFIX = f"{COOKIE}=".encode()
_PAUSE_SECONDS = 0.005


def cookie(outer: str | None, token: str, number: int) -> str:
    """The cookie's value for the command of this number."""
    own = f"{token}.{number}"
    return f"{outer}:{own}" if outer else own


def kill_strays(token: str, live: Container[int], *, within_seconds: float = 1.0) -> None:
    """Kill until none is found: one may start another while we look."""
    deadline = time.monotonic() + within_seconds
    while strays := find_strays(token, live):
        for pid in strays:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            break
        time.sleep(_PAUSE_SECONDS)


def find_strays(token: str, live: Container[int]) -> set[int]:
    """Processes of this run whose command is not live, and all their descendants."""
    strays = {pid for pid, value in _cookies() if _is_stray(value, token, live)}
    if strays:
        strays |= _descendants(strays, _parents())
    return strays - {os.getpid()}


def _is_stray(value: str, token: str, live: Container[int]) -> bool:
    for part in value.split(":"):
        owner, _, number = part.rpartition(".")
        if owner == token and number.isdecimal() and int(number) not in live:
            return True
    return False


def _descendants(roots: set[int], parents: Mapping[int, int]) -> set[int]:
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    todo = list(roots)
    while todo:
        for pid in children.get(todo.pop(), ()):
            if pid not in found:
                found.add(pid)
                todo.append(pid)
    return found


if sys.platform == "linux":
    # Read directly: a tenth of what psutil takes, which counts as this runs during the run.

    def _cookies() -> Iterator[tuple[int, str]]:
        for pid in _pids():
            environment = _read(f"/proc/{pid}/environ")
            if _PREFIX in environment:
                for entry in environment.split(b"\0"):
                    if entry.startswith(_PREFIX):
                        yield pid, entry[len(_PREFIX) :].decode(errors="replace")

    def _parents() -> dict[int, int]:
        parents = {}
        for pid in _pids():
            # `pid (name) state parent …`, and the name may hold anything.
            fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
            if len(fields) > 1:
                parents[pid] = int(fields[1])
        return parents

    def _pids() -> list[int]:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208

    def _read(path: str) -> bytes:
        """A file's content; nothing when it has gone or belongs to somebody else."""
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return b""
        try:
            pieces = []
            while piece := os.read(fd, 65536):
                pieces.append(piece)
            return b"".join(pieces)
        except OSError:
            return b""
        finally:
            os.close(fd)

else:

    def _cookies() -> Iterator[tuple[int, str]]:
        import psutil

        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                value = process.environ().get(COOKIE)
                if value:
                    yield process.pid, value

    def _parents() -> dict[int, int]:
        import psutil

        parents = {}
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                parents[process.pid] = process.ppid()
        return parents
