"""A stick (see `benchmarks.stick`) that allows only so many requests a second.

    python -m benchmarks.limited_stick FORM RATE SIGN LATENCY

Once its input ends, it prints a line for each request: when it came, and 1 if it was refused.
"""

import asyncio
import sys
import time

from benchmarks.limits import LIMITS, Allow
from benchmarks.stick import ANSWER, Stick, http

SIGNS = {
    "retry-after": b"retry-after: 1\r\n",
    "x-ratelimit": b"x-ratelimit-limit-requests: 20\r\nx-ratelimit-remaining-requests: 0\r\n"
    b"x-ratelimit-reset-requests: 1s\r\n",
    "nothing": b"",
}
"""What a refusal says of how long to wait."""


class LimitedStick(Stick):
    """One connection; a refusal comes at once."""

    def __init__(
        self, latency: float, allow: Allow, refusal: bytes, log: list[tuple[float, bool]]
    ) -> None:
        super().__init__(latency, None)
        self._allow = allow
        self._refusal = refusal
        self._log = log

    def _reply(self, body: bytes) -> bytes | None:
        del body
        now = time.time()
        allowed = self._allow(now)
        self._log.append((now, not allowed))
        if allowed:
            return ANSWER
        self._send(self._refusal)
        return None


async def serve(form: str, rate: int, sign: str, latency: float) -> None:
    loop = asyncio.get_running_loop()
    said = b'{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}'
    refusal = http(b"429 Too Many Requests", said, SIGNS[sign])
    allow = LIMITS[form](rate)
    log: list[tuple[float, bool]] = []
    server = await loop.create_server(
        lambda: LimitedStick(latency, allow, refusal, log), "127.0.0.1", 0, backlog=1024
    )
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for at, refused in log:
        print(f"{at:.4f} {refused:d}")


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])))
