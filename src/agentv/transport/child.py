"""One started program: its pipes, its end, and its process group.

Built on `Popen` and the event loop's readers rather than on `asyncio.subprocess`, because there a
process only counts as ended once its pipes are closed, and a background child may hold them for
ever. It also costs a third less time, with no thread and no signal handler.
"""

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from agentv.transport.output import Output

STDOUT_BYTES = 32 * 1024 * 1024
BOTH_ENDS_BYTES = 1024 * 1024
_CHUNK = 65536
_PIPE_BYTES = 1024 * 1024


Listener = Callable[[bytes], None]


class Child:
    """A running program. Must be made on the event loop, and closed.

    Args:
        popen: The program, its output pipes open.
        stdin: What it is to read.
        listen: Takes its standard output piece by piece; only the two ends of it are kept then.
    """

    def __init__(
        self, popen: subprocess.Popen[bytes], stdin: bytes, listen: Listener | None = None
    ) -> None:
        self._popen = popen
        self._listen = listen
        self._loop = asyncio.get_running_loop()
        self.stdout = both_ends() if listen else Output(head=STDOUT_BYTES)
        self.stderr = both_ends()
        self.exited: asyncio.Future[None] = self._loop.create_future()
        """Done when the program has ended. It is not reaped before `close`, so its process
        group's number cannot be given to somebody else meanwhile."""
        self.silent: asyncio.Future[None] = self._loop.create_future()
        """Done when nobody holds the writing ends of its output pipes any more."""
        self._reading: set[int] = set()
        self._unwatch = watch_exit(popen.pid, self._loop, lambda: _settle(self.exited))
        if listen:
            _widen(popen.stdout)
        self._read(popen.stdout, self._hear)
        self._read(popen.stderr, self.stderr.add)
        if popen.stdin is not None:
            self._feed(popen.stdin, memoryview(stdin))

    @property
    def exit_code(self) -> int | None:
        """Negative for a signal; `None` before `close`."""
        return self._popen.returncode

    def terminate(self) -> None:
        """Ask the whole process group to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the whole process group, also when its leader has ended already."""
        self._signal(signal.SIGKILL)

    def close(self) -> None:
        """Stop reading and reap the program."""
        self._unwatch()
        for fd in self._reading:
            self._loop.remove_reader(fd)
        stdin = self._popen.stdin
        if stdin is not None and not stdin.closed:
            self._loop.remove_writer(stdin.fileno())
        for pipe in (stdin, self._popen.stdout, self._popen.stderr):
            if pipe is not None:
                pipe.close()
        self._popen.poll()

    def _signal(self, number: signal.Signals) -> None:
        # A group that has gone, or (on macOS) has only a zombie left, is a group that has ended.
        if self._popen.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, number)

    def _hear(self, data: bytes) -> None:
        self.stdout.add(data)
        if self._listen is not None:
            self._listen(data)

    def _read(self, pipe: IO[bytes] | None, take: Listener) -> None:
        assert pipe is not None  # noqa: S101 - `spawn` asks for both pipes
        fd = pipe.fileno()
        os.set_blocking(fd, False)

        def on_readable() -> None:
            try:
                data = os.read(fd, _CHUNK)
            except BlockingIOError:
                return
            if data:
                take(data)
                return
            self._loop.remove_reader(fd)
            self._reading.discard(fd)
            if not self._reading:
                _settle(self.silent)

        self._reading.add(fd)
        self._loop.add_reader(fd, on_readable)

    def _feed(self, pipe: IO[bytes], rest: memoryview) -> None:
        fd = pipe.fileno()
        os.set_blocking(fd, False)

        def on_writable() -> None:
            nonlocal rest
            try:
                rest = rest[os.write(fd, rest) :]
            except BlockingIOError:
                return
            except BrokenPipeError:  # It does not want its input: its own affair.
                rest = rest[:0]
            if not rest:
                self._loop.remove_writer(fd)
                pipe.close()

        self._loop.add_writer(fd, on_writable)


def watch_exit(
    pid: int, loop: asyncio.AbstractEventLoop, on_exit: Callable[[], None]
) -> Callable[[], None]:
    """Call `on_exit` on the loop once a child process ends, without reaping it.

    Returns:
        What to call to stop watching.
    """
    try:
        fd = os.pidfd_open(pid)
    except (AttributeError, OSError):  # Not Linux, an old kernel, or no descriptor left.
        return watch_exit_by_thread(pid, loop, on_exit)

    def unwatch() -> None:
        nonlocal fd
        if fd >= 0:
            loop.remove_reader(fd)
            os.close(fd)
            fd = -1

    def on_readable() -> None:
        unwatch()
        on_exit()

    loop.add_reader(fd, on_readable)
    return unwatch


def watch_exit_by_thread(
    pid: int, loop: asyncio.AbstractEventLoop, on_exit: Callable[[], None]
) -> Callable[[], None]:
    """Like `watch_exit`, at the price of a thread."""
    watching = True

    def tell() -> None:
        if watching:
            on_exit()

    def wait() -> None:
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        with suppress(RuntimeError):  # The loop may be closed by now.
            loop.call_soon_threadsafe(tell)

    def unwatch() -> None:
        nonlocal watching
        watching = False

    threading.Thread(target=wait, name=f"agentv-wait-{pid}", daemon=True).start()
    return unwatch


def _widen(pipe: IO[bytes] | None) -> None:
    """Make room for what is written at the very end.

    Claude Code for one ends without waiting until its output has been read: what does not fit into
    the pipe by then is lost.
    """
    if sys.platform == "linux" and pipe is not None:
        with suppress(OSError):  # There is a limit to how much of this one user may have.
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def both_ends() -> Output:
    """What is kept of an output that somebody listens to."""
    return Output(head=BOTH_ENDS_BYTES // 2, tail=BOTH_ENDS_BYTES // 2)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
