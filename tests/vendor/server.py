"""The server: reads a request, lets happen what the script says, and answers."""

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from aiohttp import web

from vendor.dialects import Dialect, Question, dialect_of
from vendor.faults import Chances, Fault
from vendor.loopback import Loopback, transport_of

_CASE = re.compile(r"\bcase-\w+")
_JUDGED = "[[ ## candidate_answer ## ]]"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request that came."""

    at: float
    """By `time.monotonic`."""
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """Names in lower case."""
    body: dict[str, Any]
    question: Question
    case: str
    """The first `case-…` in the question; empty if there is none."""
    fault: Fault | None


def answer(question: Question) -> str:
    """What the vendor's model says: a verdict to a judge; else its name and the last question."""
    if _JUDGED in question.text:
        return '{"score": 1.0, "hits": ["It answers"], "misses": [], "reasoning": "Fine."}'
    return f"{question.model} was asked: {question.texts[-1]}"


class Vendor(Loopback):
    """Answers each question at once.

    Args:
        key: The only API key that is taken.
        latency: Seconds that an answer takes, and a failure too.
        script: What befalls the requests of a case, in their order; then all is well.
        chances: What befalls the cases that are not in the script.
        answer: What is said to a question.
    """

    def __init__(
        self,
        *,
        key: str = "vendor-key",
        latency: float = 0.0,
        script: Mapping[str, Sequence[Fault]] | None = None,
        chances: Chances | None = None,
        answer: Callable[[Question], str] = answer,
    ) -> None:
        super().__init__()
        self.asked: list[Asked] = []
        """Every request with a right key, in the order in which it came."""
        self.refused_keys = 0
        """How often a wrong key came."""
        self._key = key
        self._latency = latency
        self._script = script or {}
        self._chances = chances or Chances(faults=())
        self._answer = answer
        self._tries: Counter[str] = Counter()

    def tries(self, case: str) -> int:
        """How often a case was asked."""
        return self._tries[case]

    def gaps(self, case: str) -> list[float]:
        """Seconds between the requests of a case."""
        times = [asked.at for asked in self.asked if asked.case == case]
        return [after - before for before, after in pairwise(times)]

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        dialect = dialect_of(request.path)
        body = json.loads(await request.read() or b"{}")
        if dialect is None or request.method != "POST":
            return web.json_response({"error": {"message": "no such page"}}, status=404)
        headers = {name.lower(): value for name, value in request.headers.items()}
        if dialect.key(headers) != self._key:
            self.refused_keys += 1
            said = f"Incorrect API key provided: {dialect.key(headers)}"
            return web.json_response(dialect.error(401, said), status=401)
        asked = self._note(request, headers, body, dialect.question(request.path, body))
        await asyncio.sleep(self._latency)
        return await self._reply(request, dialect, asked)

    def _note(
        self,
        request: web.BaseRequest,
        headers: Mapping[str, str],
        body: dict[str, Any],
        question: Question,
    ) -> Asked:
        found = _CASE.search(question.text)
        case = found[0] if found else ""
        number = self._tries[case]
        self._tries[case] += 1
        if case in self._script:
            script = self._script[case]
            fault = script[number] if number < len(script) else None
        else:
            fault = self._chances.fault(case, number)
        asked = Asked(
            at=time.monotonic(),
            path=request.path,
            query=dict(request.query),
            headers=headers,
            body=body,
            question=question,
            case=case,
            fault=fault,
        )
        self.asked.append(asked)
        return asked

    async def _reply(
        self, request: web.BaseRequest, dialect: Dialect, asked: Asked
    ) -> web.StreamResponse:
        whole = dialect.answer(asked.question, self._answer(asked.question))
        text = json.dumps(whole).encode()
        fault = asked.fault
        match fault.kind if fault else None:
            case "reset":
                transport_of(request).abort()
            case "truncated":
                half = await _first_half(request, text)
                transport_of(request).close()
                return half
            case "raw":
                assert fault is not None
                transport_of(request).write(fault.raw)
                transport_of(request).close()
            case "hang":
                await self.hang()
            case "slow_body":
                half = await _first_half(request, text)
                await self.hang()
                return half
            case "broken_json":
                return web.Response(body=text[:-20], content_type="application/json")
            case "cut_off":
                return web.json_response(dialect.cut_off(whole))
            case "status":
                assert fault is not None
                if fault.message.startswith("<"):
                    page = fault.message.encode()
                    return web.Response(body=page, status=fault.status, headers=fault.headers)
                said = dialect.error(fault.status, fault.message)
                said["error"] |= fault.said
                headers = {**fault.headers, **fault.headers_at(time.time())}
                return web.json_response(said, status=fault.status, headers=headers)
        return web.Response(body=text, content_type="application/json")


async def _first_half(request: web.BaseRequest, text: bytes) -> web.StreamResponse:
    """Promise a whole body, send half of it."""
    response = web.StreamResponse(headers={"content-length": str(len(text))})
    await response.prepare(request)
    await response.write(text[: len(text) // 2])
    return response
