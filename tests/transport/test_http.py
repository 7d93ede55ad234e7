"""The border to HTTP services with real sockets."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from agentv.errors import ProviderError, ProviderTimeout
from agentv.model.http import HttpReply, HttpRequest
from agentv.transport.http import Http
from processes import LIMIT_SECONDS
from vendor import BROKEN_JSON, HANG, RESET, SLOW_BODY, TRUNCATED, Fault, Vendor, failure, refused

KEY = "vendor-key"


def request(vendor: Vendor, case: str = "case-1", **more: Any) -> HttpRequest:
    body = {"model": "m", "messages": [{"role": "user", "content": case}]}
    return HttpRequest(
        url=f"{vendor.url}/v1/chat/completions",
        headers={"authorization": f"Bearer {KEY}", "content-type": "application/json"},
        body=json.dumps(body).encode(),
        **more,
    )


def send(*requests: HttpRequest) -> list[HttpReply]:
    """One after the other, over the same pool."""

    async def story() -> list[HttpReply]:
        async with Http() as http:
            return [await http.send(request) for request in requests]

    return asyncio.run(story())


@contextmanager
def faulty(*faults: Fault) -> Iterator[Vendor]:
    with Vendor(key=KEY, script={"case-1": faults}) as vendor:
        yield vendor


@contextmanager
def canned(*replies: bytes) -> Iterator[str]:
    """A server that takes one connection for each reply, reads a little, and sends it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(LIMIT_SECONDS)

        def serve() -> None:
            for reply in replies:
                connection, _ = server.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(reply)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join(LIMIT_SECONDS)


def test_a_reply_is_read_to_its_end_with_its_headers_in_lower_case() -> None:
    with Vendor(key=KEY) as vendor:
        [reply] = send(request(vendor))
    assert reply.status == 200
    assert reply.headers["content-type"] == "application/json"
    assert json.loads(reply.body)["choices"][0]["message"]["content"] == "m was asked: case-1"


def test_what_is_sent_arrives_as_it_is() -> None:
    with Vendor(key=KEY) as vendor:
        send(request(vendor, "case-1 ü"))
    [asked] = vendor.asked
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["content-type"] == "application/json"
    assert asked.body["messages"] == [{"role": "user", "content": "case-1 ü"}]


def test_any_status_is_a_reply() -> None:
    with faulty(refused("7"), failure(500)) as vendor:
        replies = send(request(vendor), request(vendor))
    assert [reply.status for reply in replies] == [429, 500]
    assert replies[0].headers["retry-after"] == "7"


def test_broken_json_is_still_a_whole_reply() -> None:
    with faulty(BROKEN_JSON) as vendor:
        [reply] = send(request(vendor))
    assert reply.status == 200


def test_connections_are_used_again() -> None:
    with Vendor(key=KEY) as vendor:
        send(*[request(vendor)] * 5)
    assert vendor.connections == 1


def test_a_redirect_is_a_reply_and_is_not_followed() -> None:
    """Whoever is redirected to would be given the key."""
    with Vendor(key=KEY) as elsewhere:
        location = f"location: {elsewhere.url}/v1/chat/completions".encode()
        moved = b"HTTP/1.1 307 Moved\r\n" + location + b"\r\ncontent-length: 0\r\n\r\n"
        with canned(moved) as url:
            [reply] = send(HttpRequest(url=url, headers={"authorization": "Bearer k"}))
    assert reply.status == 307
    assert elsewhere.asked == []


@pytest.mark.parametrize("fault", [RESET, TRUNCATED], ids=["reset", "truncated"])
def test_a_connection_that_breaks_is_no_reply(fault: Fault) -> None:
    with faulty(fault) as vendor, pytest.raises(ProviderError, match=r"^no answer: ") as caught:
        send(request(vendor))
    assert caught.value.kind == "connection"


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-encoding: gzip\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"",
    ],
    ids=["not-gzip", "half-a-chunk", "another-protocol", "nothing"],
)
def test_what_cannot_be_read_is_no_reply(reply: bytes) -> None:
    with canned(reply) as url, pytest.raises(ProviderError, match=r"^no answer: ") as caught:
        send(HttpRequest(url=url, headers={}))
    assert caught.value.kind == "connection"


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ProviderError, match=f"127.0.0.1:{port}") as caught:
        send(HttpRequest(url=f"http://127.0.0.1:{port}", headers={}))
    assert caught.value.kind == "connection"


def test_an_address_that_is_none() -> None:
    with pytest.raises(ProviderError, match=r"^no answer: ") as caught:
        send(HttpRequest(url="http://", headers={}))
    assert caught.value.kind == "connection"


@pytest.mark.parametrize("fault", [HANG, SLOW_BODY], ids=["hang", "slow-body"])
@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"total_seconds": 0.1}, "no whole answer within 0.1 s"),
        ({"read_seconds": 0.1, "total_seconds": 60.0}, "nothing came for 0.1 s"),
    ],
    ids=["total", "read"],
)
def test_an_answer_that_takes_too_long(fault: Fault, limits: dict[str, Any], words: str) -> None:
    with faulty(fault) as vendor, pytest.raises(ProviderTimeout, match=f"^{words}$"):
        send(request(vendor, **limits))


def test_a_connection_that_takes_too_long() -> None:
    """A server whose queue of connections is full takes no notice of another one."""
    with socket.socket() as server, socket.socket() as waiting, socket.socket() as more:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for client in (waiting, more):
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ProviderTimeout, match=r"^no connection within 0\.1 s$"):
            send(HttpRequest(url=url, headers={}, connect_seconds=0.1, total_seconds=60.0))


def test_cancelling_ends_the_request() -> None:
    async def story(vendor: Vendor) -> None:
        async with Http() as http:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await http.send(request(vendor))

    with faulty(HANG) as vendor:
        asyncio.run(story(vendor))


def test_the_environment_names_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
    with canned(answer) as proxy:
        monkeypatch.setenv("http_proxy", proxy)
        monkeypatch.delenv("no_proxy", raising=False)
        [reply] = send(HttpRequest(url="http://api.invalid/v1", headers={}))
    assert reply.body == b"{}"


def test_what_netrc_says_of_a_host_is_not_sent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login somebody password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with Vendor(key=KEY) as vendor:
        [reply] = send(request(vendor))
    assert reply.status == 200
    assert vendor.asked[0].headers["authorization"] == f"Bearer {KEY}"


def test_many_at_once_get_a_connection_each() -> None:
    async def story(vendor: Vendor) -> list[HttpReply]:
        async with Http() as http:
            sent = (http.send(request(vendor, f"case-{n}")) for n in range(150))
            return await asyncio.gather(*sent)

    with Vendor(key=KEY, latency=0.3) as vendor:
        replies = asyncio.run(story(vendor))
    assert {reply.status for reply in replies} == {200}
    assert vendor.connections == 150
