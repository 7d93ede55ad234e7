"""Both borders to the world in one hand: processes and HTTP, opened and closed together."""

from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from agentv.transport.http import Http
from agentv.transport.process import Processes
from agentv.transport.traffic import Traffic


class Borders:
    """What a run reaches the world through; an async context manager.

    On leaving the context no process is alive and no connection open.
    """

    def __init__(self) -> None:
        self.processes = Processes()
        self.http = Http()
        self.traffic = Traffic()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self.http)
        await self._stack.enter_async_context(self.processes)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.__aexit__(kind, error, traceback)
