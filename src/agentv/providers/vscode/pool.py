"""Claiming a worker: the first free one, or the first that becomes free."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from agentv.errors import ProviderError, SetupError
from agentv.providers.vscode.exclusive import exclusive
from agentv.providers.vscode.lock import Lock, LockState, lock_state, try_lock
from agentv.providers.vscode.polling import until
from agentv.providers.vscode.worker import Worker, find_workers, missing_workers

_TOUCH_SECONDS = 60
_GUARD_SECONDS = 30


class Pool:
    """The workers below a root, shared with every other program that uses them.

    Args:
        root: Their folder. Without any worker in it the first one is made.
        list_command: How a person sees who uses which worker.
        tell: Takes a line about what was made.
    """

    def __init__(self, root: Path, list_command: str, tell: Callable[[str], None]) -> None:
        self.root = root
        self._list_command = list_command
        self._tell = tell

    def workers(self) -> list[Worker]:
        """Those that are there; the first one is made if need be.

        Raises:
            ProviderError: It cannot be made.
        """
        try:
            there = find_workers(self.root)
            if not there:
                there = missing_workers(self.root, 1)
                there[0].set_up()
                self._tell(f"made the first VS Code worker, {there[0].folder}")
        except SetupError as error:
            raise ProviderError(str(error), kind="spawn") from error
        return there

    def would_claim(self) -> Worker:
        """The worker that is free now, or the first; nothing is made."""
        there = find_workers(self.root) or missing_workers(self.root, 1)
        free = (worker for worker in there if _is_free(worker))
        return next(free, there[0])

    @asynccontextmanager
    async def claimed(self, *, within: float) -> AsyncIterator[Worker]:
        """A worker for ourselves, cleared of old messages; always given back.

        Args:
            within: How many seconds to wait for somebody else's worker. Waiting for our own is no
                waste of time: each of them has a limit itself.

        Raises:
            ProviderError: No worker became free.
        """
        worker, lock = await self._claim(within)
        keeper = asyncio.create_task(_keep(lock))
        try:
            try:
                worker.set_up()
                worker.clear()
            except (SetupError, OSError) as error:
                raise ProviderError(str(error), kind="spawn") from error
            yield worker
        finally:
            lock.release()
            keeper.cancel()

    async def _claim(self, within: float) -> tuple[Worker, Lock]:
        while True:
            if await until(self._any_free, within=within) is None:
                if self._is_ours_busy():
                    continue
                raise ProviderError(self._all_busy(within), kind="busy")
            for worker in self.workers():
                lock = await try_claim(worker)
                if lock is not None:
                    return worker, lock

    def _any_free(self) -> bool | None:
        return True if any(map(_is_free, self.workers())) else None

    def _is_ours_busy(self) -> bool:
        return any(s.owner is not None and s.owner.is_this_process for _, s in self._held())

    def _held(self) -> Sequence[tuple[Worker, LockState]]:
        states = [(worker, lock_state(worker.lock, time.time())) for worker in self.workers()]
        return [(worker, state) for worker, state in states if state is not None]

    def _all_busy(self, within: float) -> str:
        holders = ", ".join(f"{worker.name} by {state.words()}" for worker, state in self._held())
        return (
            f"no VS Code worker became free within {within:g} s: {holders or 'all are in use'}; "
            f"`{self._list_command}` shows them"
        )


def _is_free(worker: Worker) -> bool:
    state = lock_state(worker.lock, time.time())
    return state is None or state.is_stale


async def try_claim(worker: Worker) -> Lock | None:
    """The lock of a worker that nobody uses; `None` if somebody does.

    Raises:
        ProviderError: The lock cannot be made.
    """
    state = lock_state(worker.lock, time.time())
    if state is not None and not state.is_stale:
        return None
    # Guarded, because two who find the same dead owner must not both bury him: the second would
    # take away the lock that the first has just made.
    guard = worker.folder.parent / ".claims.lock"
    async with exclusive(guard, within=_GUARD_SECONDS, what="claiming a worker"):
        try:
            return _claim_now(worker)
        except OSError as error:
            message = f"'{worker.lock}' cannot be made: {error.strerror}"
            raise ProviderError(message, kind="spawn") from error


def _claim_now(worker: Worker) -> Lock | None:
    state = lock_state(worker.lock, time.time())
    if state is not None and not state.is_stale:
        return None
    if state is not None:
        worker.lock.unlink(missing_ok=True)
    return try_lock(worker.lock)


async def _keep(lock: Lock) -> None:
    with suppress(asyncio.CancelledError):
        while True:
            await asyncio.sleep(_TOUCH_SECONDS)
            lock.touch()
