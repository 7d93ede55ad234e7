"""An HTTP server on 127.0.0.1, in a thread of its own."""

import asyncio
import threading
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from processes import LIMIT_SECONDS

_LARGEST_BODY = 256 * 1024 * 1024


class Loopback:
    """Serves from `__enter__` to `__exit__`, whatever its `handle` answers."""

    def __init__(self) -> None:
        self.connections = 0
        """How many were opened."""
        self.url = ""
        """Scheme, host and port."""
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="vendor", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(LIMIT_SECONDS), "the server did not start"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(LIMIT_SECONDS)
        self._loop.close()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request."""
        raise NotImplementedError

    async def hang(self) -> None:
        """Return when the server ends."""
        await self._stop.wait()

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        server = web.Server(self.handle, request_factory=_request)

        def connected() -> asyncio.Protocol:
            self.connections += 1
            return server()

        listening = await self._loop.create_server(connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        self._ready.set()
        async with listening:
            await self._stop.wait()
            await end(server)


async def end(server: web.Server) -> None:
    """Give up what is still being answered, also to those that have gone meanwhile."""
    await server.shutdown(timeout=0.01)  # 0 would be no limit
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)


def transport_of(request: web.BaseRequest) -> asyncio.Transport:
    """The connection that a request came by, to break it."""
    transport = request.transport
    assert isinstance(transport, asyncio.Transport)
    return transport


def _request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
    loop = asyncio.get_running_loop()
    return web.BaseRequest(
        message, payload, protocol, writer, task, loop, client_max_size=_LARGEST_BODY
    )
