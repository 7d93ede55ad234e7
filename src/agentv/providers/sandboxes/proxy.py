"""An HTTP proxy on a socket in the file system that connects to some hosts and to no other."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from agentv.providers.sandboxes.hosts import AllowedHost, covers, plain_name

_LONGEST_HEAD = 64 * 1024
_HEAD_SECONDS = 30.0
_CONNECT_SECONDS = 30.0
_CHUNK = 65536
_OF_THIS_HOP = frozenset({b"connection", b"proxy-connection", b"proxy-authorization", b"host"})


class Proxy:
    """Serves `CONNECT` and plain `http://` requests.

    Args:
        allowed: Where it connects to.
        notify: Told of each place that was refused, once.
    """

    def __init__(self, allowed: Sequence[AllowedHost], notify: Callable[[str], None]) -> None:
        self._allowed = allowed
        self._notify = notify
        self._refused: set[str] = set()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def listen(self, path: Path) -> None:
        """Serve on a socket at this path.

        Raises:
            OSError: It cannot be made.
        """
        self._server = await asyncio.start_unix_server(self._accept, path, limit=_LONGEST_HEAD)

    async def aclose(self) -> None:
        """End every connection."""
        if self._server is not None:
            self._server.close()
        tasks = list(self._open)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: its first request says where it goes, and it stays there."""
        try:
            with suppress(OSError, EOFError, TimeoutError, asyncio.LimitOverrunError):
                async with asyncio.timeout(_HEAD_SECONDS):
                    head = await reader.readuntil(b"\r\n\r\n")
                await self._answer(head, reader, writer)
        finally:
            writer.close()

    async def _answer(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            host, port, onward = _read(head)
        except ValueError:
            await _say(writer, "400 Bad Request", "AgentV could not read this request")
            return
        if not covers(self._allowed, host, port):
            self._note(f"{host}:{port}")
            reason = f"AgentV: '{host}:{port}' is not in the `network` list of this sandbox"
            await _say(writer, "403 Forbidden", reason)
            return
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                there, back = await asyncio.open_connection(host, port)
        except OSError as error:  # a time-out is one
            reason = error.strerror or "no answer"
            await _say(writer, "502 Bad Gateway", f"AgentV: '{host}:{port}': {reason}")
            return
        try:
            (back if onward else writer).write(onward or b"HTTP/1.1 200 Connected\r\n\r\n")
            await asyncio.gather(_pump(reader, back), _pump(there, writer))
        finally:
            back.close()

    def _note(self, place: str) -> None:
        if place not in self._refused:
            self._refused.add(place)
            self._notify(f"the sandbox refused a connection to {place}")


def _read(head: bytes) -> tuple[str, int, bytes]:
    """Host, port, and what the host is to be sent instead of the request's head.

    Raises:
        ValueError: That is no request to a proxy.
    """
    first, *lines = head[:-4].split(b"\r\n")
    method, target, version = first.split(b" ")
    if method == b"CONNECT":
        place = urlsplit(f"//{target.decode('ascii')}")
        if place.hostname is None or place.port is None:
            raise ValueError(target)
        return plain_name(place.hostname), place.port, b""
    place = urlsplit(target.decode("ascii"))
    if place.scheme != "http" or place.hostname is None:
        raise ValueError(target)
    path = (place.path or "/") + (f"?{place.query}" if place.query else "")
    authority = place.netloc.rpartition("@")[2]
    kept = [line for line in lines if line.partition(b":")[0].lower() not in _OF_THIS_HOP]
    onward = [
        b" ".join((method, path.encode("ascii"), version)),
        b"Host: " + authority.encode("ascii"),
        *kept,
        b"Connection: close",
    ]
    return plain_name(place.hostname), place.port or 80, b"\r\n".join(onward) + b"\r\n\r\n"


async def _say(writer: asyncio.StreamWriter, status: str, reason: str) -> None:
    body = f"{reason}\n".encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
    length = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    writer.write(head.encode() + length.encode() + body)
    await writer.drain()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_CHUNK):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
