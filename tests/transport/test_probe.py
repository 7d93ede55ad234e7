import asyncio
import socket

import pytest

from agentv.errors import ProviderError, ProviderTimeout
from agentv.transport.http import probe


def probe_a_server_that_says(response: bytes) -> int:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(response)
        writer.close()

    async def story() -> int:
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server:
            return await probe(f"http://127.0.0.1:{port}/health", timeout_seconds=5)

    return asyncio.run(story())


@pytest.mark.parametrize("status", [200, 204, 404, 503])
def test_the_status_is_told(status: int) -> None:
    response = f"HTTP/1.1 {status} Whatever\r\nContent-Length: 0\r\n\r\n"
    assert probe_a_server_that_says(response.encode()) == status


def test_something_else_than_http_is_no_answer() -> None:
    with pytest.raises(ProviderError, match="no answer: "):
        probe_a_server_that_says(b"hello\r\n\r\n")


def test_silence_is_a_time_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(ProviderTimeout, match=r"no answer within 0\.05 s"):
            asyncio.run(probe(url, timeout_seconds=0.05))


def test_nobody_there_is_no_answer() -> None:
    with pytest.raises(ProviderError, match="no answer: ") as caught:
        asyncio.run(probe("http://127.0.0.1:1/", timeout_seconds=5))
    assert caught.value.kind == "connection"
