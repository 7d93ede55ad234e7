"""A stick to measure with: a server that says what OpenAI's chat API would, as cheaply as can be.

    python benchmarks/stick.py LATENCY [faults]

It prints its URL and serves until it is ended. With faults, of a hundred cases ten
are refused for a second, two fail, one has its connection broken and one is never answered; each of
them at every other try, so that those who ask twice get an answer and leave things as they were.
"""

import asyncio
import re
import sys
from collections import Counter

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CASE = re.compile(rb"What is (\d+) plus")
_JUDGED = b"[[ ## candidate_answer ## ]]"


def http(status: bytes, body: bytes, headers: bytes = b"") -> bytes:
    length = b"content-length: %d\r\n" % len(body)
    kind = b"content-type: application/json\r\n"
    return b"HTTP/1.1 %s\r\n%s%s%s\r\n%s" % (status, kind, length, headers, body)


def _answer(text: bytes) -> bytes:
    return http(
        b"200 OK",
        b'{"id":"1","object":"chat.completion","created":1,"model":"stick","choices":[{"index":0,'
        b'"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}],'
        b'"usage":{"prompt_tokens":21,"completion_tokens":7,"total_tokens":28}}' % text,
    )


ANSWER = _answer(b"Thank you for asking. The answer is 42, as always.")
VERDICT = _answer(rb"{\"score\": 1.0, \"hits\": [\"42\"], \"misses\": [], \"reasoning\": \"Yes.\"}")
REFUSAL = http(b"429 Too Many Requests", b'{"error":{"message":"slow"}}', b"retry-after: 1\r\n")
FAILURE = http(b"500 Internal Server Error", b'{"error":{"message":"oops"}}')
RESET = b""
FAULTS = {**dict.fromkeys(range(10), REFUSAL), 10: FAILURE, 11: FAILURE, 12: RESET, 13: None}


class Stick(asyncio.Protocol):
    """One connection; requests come one after the other."""

    def __init__(self, latency: float, tries: Counter[int] | None) -> None:
        self._latency = latency
        self._tries = tries
        self._loop = asyncio.get_running_loop()
        self._read = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._read += data
        head, ended, body = self._read.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if ended and length and len(body) >= int(length[1]):
            self._read = b""
            reply = self._reply(body)
            if reply is not None:
                self._loop.call_later(self._latency, self._send, reply)

    def _reply(self, body: bytes) -> bytes | None:
        if _JUDGED in body:
            return VERDICT
        case = _CASE.search(body)
        if self._tries is not None and case:
            number = int(case[1])
            self._tries[number] += 1
            if self._tries[number] % 2:
                return FAULTS.get(number * 61 % 100, ANSWER)
        return ANSWER

    def _send(self, reply: bytes) -> None:
        if reply:
            self._transport.write(reply)
        else:
            self._transport.abort()


async def serve(latency: float, tries: Counter[int] | None) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Stick(latency, tries), "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1]), Counter() if "faults" in sys.argv[2:] else None))
