"""Sandboxes that reach some hosts: the list, the proxy, and programs behind it."""

import asyncio
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from sandbox_story import Story, needs_bubblewrap

from agentv.errors import SetupError
from agentv.providers.sandboxes.gate import Gate
from agentv.providers.sandboxes.hosts import covers, parse_host
from agentv.providers.sandboxes.proxy import Proxy


@pytest.mark.parametrize(
    ("entry", "place", "is_covered"),
    [
        ("api.example.com", ("api.example.com", 443), True),
        ("api.example.com", ("API.Example.com.", 80), True),
        ("api.example.com", ("api.example.com", 22), False),
        ("api.example.com", ("example.com", 443), False),
        ("api.example.com", ("evil-api.example.com", 443), False),
        ("api.example.com:8443", ("api.example.com", 8443), True),
        ("api.example.com:8443", ("api.example.com", 443), False),
        ("*.example.com", ("a.b.example.com", 443), True),
        ("*.example.com", ("example.com", 443), False),
        ("*.example.com", ("badexample.com", 443), False),
        ("127.0.0.1:8901", ("127.0.0.1", 8901), True),
        ("127.0.0.1:8901", ("localhost", 8901), False),
        ("[::1]:8901", ("::1", 8901), True),
        ("localhost:8901", ("localhost", 8901), True),
    ],
)
def test_an_entry_means_its_host_and_ports(
    entry: str, place: tuple[str, int], is_covered: bool
) -> None:
    assert covers([parse_host(entry)], *place) is is_covered


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("https://api.example.com", "write the host alone"),
        ("api.example.com/v1", None),
        ("api example.com", "write a host"),
        ("*", "write a host"),
        ("a.*.com", "write a host"),
        ("*.*.com", "write a host"),
        ("host:0", "from 1 to 65535"),
        ("host:99999", "from 1 to 65535"),
        ("host:", "write a host"),
        ("127.0.0.1", "write a port of this machine from 1024 on"),
        ("localhost:80", "write a port of this machine from 1024 on"),
        ("", "write a host"),
    ],
)
def test_what_is_no_host_is_refused(entry: str, words: str | None) -> None:
    with pytest.raises(ValueError, match=words or "write"):
        parse_host(entry)


class Site:
    """A web server that tells what it was asked."""

    def __init__(self) -> None:
        seen: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                seen.append(f"{self.path} {self.headers['Host']}")
                body = b"x" * 20_000_000 if self.path == "/large" else b"here"
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.end_headers()
                self.wfile.write(body.upper())

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self.seen = seen
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        self.place = f"127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.close()


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path)


def exchange(allowed: list[str], sent: bytes, notified: list[str] | None = None) -> bytes:
    """What the proxy answers to bytes, until it closes the connection."""

    async def story(path: Path) -> bytes:
        lines = [] if notified is None else notified
        proxy = Proxy([parse_host(entry) for entry in allowed], lines.append)
        await proxy.listen(path)
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(sent)
        writer.write_eof()
        async with asyncio.timeout(10):
            answer = await reader.read()
        writer.close()
        await proxy.aclose()
        return answer

    with TemporaryDirectory() as folder:
        return asyncio.run(story(Path(folder, "proxy")))


def test_a_plain_request_to_an_allowed_host_is_passed_on(site: Site) -> None:
    sent = (
        f"GET http://{site.place}/a?b=c HTTP/1.1\r\nHost: elsewhere\r\n"
        "Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic x\r\n\r\n"
    )
    answer = exchange([site.place], sent.encode())
    assert answer.startswith(b"HTTP/1.0 200 OK")
    assert answer.endswith(b"here")
    assert site.seen == [f"/a?b=c {site.place}"]


def test_a_tunnel_to_an_allowed_host_is_opened(site: Site) -> None:
    sent = f"CONNECT {site.place} HTTP/1.1\r\n\r\nGET /in HTTP/1.0\r\nHost: inner\r\n\r\n"
    answer = exchange([site.place], sent.encode())
    assert answer.startswith(b"HTTP/1.1 200 Connected\r\n\r\nHTTP/1.0 200 OK")
    assert site.seen == ["/in inner"]


@pytest.mark.parametrize(
    "line", ["CONNECT {} HTTP/1.1", "GET http://{}/ HTTP/1.1"], ids=["tunnel", "plain"]
)
def test_any_other_host_is_refused_and_named(site: Site, line: str) -> None:
    notified: list[str] = []
    sent = f"{line.format(site.place)}\r\n\r\n".encode()
    answer = exchange(["api.example.com"], sent, notified).decode()
    assert answer.startswith("HTTP/1.1 403 Forbidden")
    assert f"'{site.place}' is not in the `network` list of this sandbox" in answer
    assert notified == [f"the sandbox refused a connection to {site.place}"]
    assert site.seen == []


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"CONNECT nowhere HTTP/1.1\r\n\r\n",
        b"CONNECT a:99999 HTTP/1.1\r\n\r\n",
        b"CONNECT [::1 HTTP/1.1\r\n\r\n",
        b"GET ftp://a/ HTTP/1.1\r\n\r\n",
        b"\xff\xff \xff \xff\r\n\r\n",
        b"nonsense\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused(sent: bytes) -> None:
    assert exchange(["api.example.com"], sent).startswith(b"HTTP/1.1 400 Bad Request")


@pytest.mark.parametrize(
    "sent", [b"", b"GET ", b"GET http://" + b"a" * 100_000], ids=["nothing", "half", "endless"]
)
def test_what_never_becomes_a_request_is_hung_up_on(sent: bytes) -> None:
    assert exchange(["api.example.com"], sent) == b""


def test_a_host_that_does_not_answer_is_a_bad_gateway() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        place = f"127.0.0.1:{closed.getsockname()[1]}"
    answer = exchange([place], f"CONNECT {place} HTTP/1.1\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 502 Bad Gateway")
    assert place.encode() in answer


def test_a_folder_that_is_too_deep_for_a_socket_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("x" * 110)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))

    async def open_gate() -> None:
        gate = Gate([parse_host("a:1")], lambda line: None)
        try:
            await gate.open()
        finally:
            await gate.aclose()

    with pytest.raises(SetupError, match="Set TMPDIR to a folder with a short path"):
        asyncio.run(open_gate())


FETCH = """
import sys, urllib.request
data = sys.argv[2].encode() if len(sys.argv) > 2 else None
with urllib.request.urlopen(sys.argv[1], data, timeout=20) as reply:
    text = reply.read()
print(len(text), text[:20].decode())
"""


def fetch(url: str, *more: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", FETCH, url, *more)


@needs_bubblewrap
def test_an_allowed_port_of_this_machine_stands_at_the_same_place(story: Story, site: Site) -> None:
    """So that a program that knows nothing of proxies reaches a local model server."""
    url = f"http://{site.place}"
    assert story.says(*fetch(f"{url}/"), network=[site.place]) == "4 here"
    assert story.says(*fetch(url, "loud"), network=[site.place]) == "4 LOUD"
    assert story.says(*fetch(f"{url}/large"), network=[site.place]).startswith("20000000 ")


@needs_bubblewrap
def test_any_other_port_of_this_machine_is_not_reached(story: Story, site: Site) -> None:
    result = story.run(
        *fetch(f"http://{site.place}/"),
        network=["127.0.0.1:1024", "localhost:1024", "127.0.0.1:3128", "a.example"],
    )
    assert b"Connection refused" in result.stderr
    assert site.seen == []


@needs_bubblewrap
def test_programs_are_told_of_the_proxy(story: Story) -> None:
    url = "http://shop.example.com/"
    result = story.run(*fetch(url), network=["api.example.com"])
    assert b"HTTP Error 403" in result.stderr
    assert story.notified == ["the sandbox refused a connection to shop.example.com:80"]


@needs_bubblewrap
def test_a_program_behind_the_gate_is_as_without_it(story: Story) -> None:
    """Its output ends, its exit code is its own, and it has no child that it did not start."""
    shown = "cat; (cat /proc/$$/task/$$/children; echo end) ; exit 3"
    result = story.run("/bin/sh", "-c", shown, network=["api.example.com"])
    assert result.exit_code == 3
    assert result.stdout.decode().split()[-1] == "end"
    children = story.sh("cat /proc/$$/task/$$/children | wc -w", network=["api.example.com"])
    assert int(children) <= 2  # the two of the pipe


@needs_bubblewrap
def test_a_server_inside_is_reached_without_the_proxy(story: Story) -> None:
    text = """
import http.server, threading, urllib.request
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/").status)
"""
    assert story.says(sys.executable, "-I", "-S", "-c", text, network=["api.example.com"]) == "200"


@needs_bubblewrap
def test_no_host_at_all_is_no_network(story: Story, site: Site) -> None:
    assert b"refused" in story.run(*fetch(f"http://{site.place}/"), network=[]).stderr
