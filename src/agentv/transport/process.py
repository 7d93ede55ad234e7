"""The border to the operating system's processes: limits, and an end that leaves nothing behind.

Every command leads a process group of its own. Whatever ends it (its own exit, its time limit, our
cancellation), the group is killed; processes that left the group are found by their cookie (see
`agentv.transport.strays`).
"""

import asyncio
import os
import time
import uuid
from collections.abc import Callable, Coroutine, Mapping
from itertools import count
from types import TracebackType
from typing import Any, Self

from agentv.errors import SetupError
from agentv.model.process import Command, CommandResult
from agentv.transport.child import Child
from agentv.transport.spawn import arguments, spawn
from agentv.transport.strays import COOKIE, cookie, kill_strays
from agentv.transport.sweep import Sweeper

GRACE_SECONDS = 0.3
"""Between asking a group to end and killing it."""
DRAIN_SECONDS = 0.25
"""How long output may still come once the command itself has ended."""
DEATH_SECONDS = 10.0
"""How long a killed program may take to be gone: much memory takes a while on a busy machine."""


class Processes:
    """Runs commands (see `agentv.protocols.ProcessRunner`); an async context manager.

    On leaving the context nothing that was started is alive. Strays of a command that ended by
    itself may live until the next routine sweep, a second later at most while commands end.
    """

    def __init__(self) -> None:
        self._token = uuid.uuid4().hex
        self._numbers = count(1)
        self._live: dict[int, Child | None] = {}
        self._sweeper = Sweeper(self._token, self._live)
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        started_any = next(self._numbers) > 1
        self._close()
        self._live.clear()
        if started_any:
            await uninterrupted(self._sweeper.finish())

    async def run(
        self, command: Command, listen: Callable[[bytes], None] | None = None
    ) -> CommandResult:
        """Run a command to its end, its time limit, or our cancellation.

        Args:
            command: What to run.
            listen: See `agentv.protocols.ProcessRunner`.

        Raises:
            SetupError: It cannot be started.
        """
        if self._closed:
            raise SetupError("No command is started any more: the run is ending.")
        began = time.perf_counter()
        number = next(self._numbers)
        with arguments(command.run) as argv:
            child = self._start(number, argv, command, listen)
            exited = silent = False
            try:
                exited = await settled(child.exited, within=command.timeout_seconds)
                silent = exited and await settled(child.silent, within=DRAIN_SECONDS)
            finally:
                if exited and command.leaves_children:
                    self._release(number, child)
                elif silent:
                    self._tidy(number, child)
                else:
                    await uninterrupted(self._end(number, child, gently=not exited))
        return CommandResult(
            exit_code=child.exit_code if exited else None,
            stdout=child.stdout.value(),
            stderr=child.stderr.value(),
            timed_out=not exited,
            truncated=child.stdout.truncated,
            duration_ms=(time.perf_counter() - began) * 1000,
        )

    def kill_all(self) -> None:
        """Kill everything at once, also from a signal handler; no command is started after it."""
        self._close()
        kill_strays(self._token, live=(), within_seconds=0.5)

    def _start(
        self,
        number: int,
        argv: list[bytes],
        command: Command,
        listen: Callable[[bytes], None] | None,
    ) -> Child:
        # Live before it exists: a sweep in another thread must not take it for a stray.
        self._live[number] = None
        try:
            popen = spawn(
                argv,
                cwd=command.cwd,
                env=self._environment(command, number),
                stdin=bool(command.stdin),
            )
        except BaseException:
            self._live.pop(number, None)
            raise
        child = self._live[number] = Child(popen, command.stdin, listen)
        return child

    def _environment(self, command: Command, number: int) -> dict[str, str]:
        base: Mapping[str, str] = os.environ if command.env is None else command.env
        if command.leaves_children:
            # Nor the cookie of a run around this one: an editor belongs to a person.
            return {name: value for name, value in base.items() if name != COOKIE}
        outer = base.get(COOKIE) or os.environ.get(COOKIE)
        return {**base, COOKIE: cookie(outer, self._token, number)}

    def _release(self, number: int, child: Child) -> None:
        """After a command that ended by itself and may have left children, which stay."""
        child.close()
        self._live.pop(number, None)

    def _tidy(self, number: int, child: Child) -> None:
        """After a command that ended by itself and left nobody who writes."""
        child.kill()
        child.close()
        self._live.pop(number, None)
        self._sweeper.soon()

    async def _end(self, number: int, child: Child, *, gently: bool) -> None:
        """End a command and all that it started, and read what it still had to say."""
        if gently:
            child.terminate()
            await settled(child.exited, child.silent, within=GRACE_SECONDS)
        child.kill()
        self._live.pop(number, None)
        await self._sweeper.now()
        await settled(child.exited, within=DEATH_SECONDS)
        await settled(child.silent, within=DRAIN_SECONDS)
        child.close()

    def _close(self) -> None:
        self._closed = True
        for child in list(self._live.values()):
            if child is not None:
                child.kill()


async def settled(*futures: asyncio.Future[None], within: float | None) -> bool:
    """Whether all futures are done within so many seconds; they are left as they are."""
    _, pending = await asyncio.wait(futures, timeout=within)
    return not pending


async def uninterrupted(work: Coroutine[Any, Any, None]) -> None:
    """Do the work to its end, however often we are cancelled meanwhile; then be cancelled."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    task.result()
