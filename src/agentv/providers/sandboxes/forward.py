"""Run inside a sandbox without a network: carries its connections to a socket of the host's.

    python forward.py SOCKET PORT[=HOST:PORT]… -- PROGRAM ARGUMENT…

Each port is listened on, on the sandbox's own loopback. What connects to a plain `PORT` speaks to
the proxy behind the socket itself; for the others a tunnel is asked for first. Then the program
takes this process's place. Only the standard library is used, and no other file of AgentV.
"""

import os
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

_CHUNK = 65536


def main(arguments: list[str]) -> None:
    """Listen, leave a background process that forwards, become the program."""
    split = arguments.index("--")
    path, *specs = arguments[:split]
    listeners = [
        (listener, target)
        for port, _, target in (spec.partition("=") for spec in specs)
        for listener in _listen(int(port))
    ]
    # Forked twice: the program has no child that it does not know of.
    if os.fork() == 0:
        if os.fork() == 0:
            _forward(path, listeners)
        os._exit(0)
    os.wait()
    program = arguments[split + 1 :]
    try:
        os.execvp(program[0], program)  # noqa: S606 - no shell is wanted
    except OSError as error:
        sys.exit(f"'{program[0]}' cannot be started in the sandbox: {error.strerror}")


def _listen(port: int) -> list[socket.socket]:
    listeners = [socket.create_server(("127.0.0.1", port))]
    with suppress(OSError):  # no IPv6 here
        listeners.append(socket.create_server(("::1", port), family=socket.AF_INET6))
    return listeners


def _forward(path: str, listeners: list[tuple[socket.socket, str]]) -> None:
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):  # else the program's output would never be at its end
        os.dup2(nowhere, stream)
    threads = [
        _in_thread(lambda listener=listener, target=target: _serve(listener, target, path))  # type: ignore[misc]
        for listener, target in listeners
    ]
    for thread in threads:
        thread.join()


def _serve(listener: socket.socket, target: str, path: str) -> None:
    while True:
        client, _ = listener.accept()
        _in_thread(lambda client=client: _carry(client, target, path))  # type: ignore[misc]


def _carry(client: socket.socket, target: str, path: str) -> None:
    with client, socket.socket(socket.AF_UNIX) as host, suppress(OSError):
        host.connect(path)
        if target and not _tunnel(host, target):
            return
        back = _in_thread(lambda: _pump(host, client))
        _pump(client, host)
        back.join()


def _tunnel(host: socket.socket, target: str) -> bool:
    host.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
    reply = b""
    while not reply.endswith(b"\r\n\r\n"):
        byte = host.recv(1)  # one at a time: what follows the reply is for the client
        if not byte:
            return False
        reply += byte
    return reply.split(b" ", 2)[1] == b"200"


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(_CHUNK):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def _in_thread(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


if __name__ == "__main__":
    main(sys.argv[1:])
