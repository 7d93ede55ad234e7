"""A loopback vendor with the batch endpoints of OpenAI, Azure, Anthropic and Gemini."""

import asyncio
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from vendor.dialects import (
    AnthropicMessages,
    Dialect,
    GeminiContent,
    OpenAiChat,
    OpenAiResponses,
    dialect_of,
)

KEY = "vendor-key"
_CASE = re.compile(r"\bcase \w+")
Item = tuple[str, str, dict[str, Any]]
"""Custom id, URL path of a single request, body of a single request."""


@dataclass
class Batch:
    """One that was made."""

    id: str
    request: dict[str, Any]
    items: list[Item]
    polls: int = 0


@dataclass
class BatchVendor:
    """Serves in a thread of its own, from `__enter__` to `__exit__`."""

    fates: Mapping[str, int | None] = field(default_factory=dict)
    """What befalls a case in a batch: a status, or `None` if it expires. Singly all is well."""
    polls: int = 1
    """How often a batch is under way before it has ended."""
    hold: threading.Event | None = None
    """No batch ends before this is set."""
    create_status: int = 200
    poll_statuses: list[int] = field(default_factory=list)
    """Of the first polls."""
    fails: bool = False
    """Whether batches come to nothing."""
    batches: dict[str, Batch] = field(default_factory=dict)
    singles: list[str] = field(default_factory=list)
    """The cases that were asked singly."""
    uploads: dict[str, bytes] = field(default_factory=dict)
    polled: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(
            target=lambda: self._loop.run_until_complete(self._serve()), daemon=True
        )
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._loop.close()

    async def _serve(self) -> None:
        server = web.Server(self._handle)
        listening = await self._loop.create_server(server, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        self._ready.set()
        async with listening:
            await self._stop.wait()
            await server.shutdown(timeout=0)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        path, is_post = request.path, request.method == "POST"
        if KEY not in (*request.headers.values(), request.headers.get("authorization", "")[7:]):
            return web.json_response({"error": {"message": "wrong key"}}, status=401)
        if path.startswith("/openai/") and "api-version" not in request.query:
            return web.json_response({"error": {"message": "no version"}}, status=404)
        if is_post and (dialect := dialect_of(path)):
            question = dialect.question(path, await request.json())
            case = _case(question.text)
            self.singles.append(case)
            return web.json_response(dialect.answer(question, f"singly: {case}"))
        if path.endswith("/files"):
            return await self._upload(request)
        if found := re.search(r"/files/([^/]+)/content$", path):
            return web.Response(body=self.uploads[found[1]])
        if is_post:
            return await self._create(request)
        return self._look(path)

    async def _upload(self, request: web.BaseRequest) -> web.Response:
        form = await request.post()
        assert form["purpose"] == "batch"
        file = form["file"]
        assert isinstance(file, web.FileField)
        name = f"file-{len(self.uploads)}"
        self.uploads[name] = file.file.read()
        return web.json_response({"id": name, "object": "file", "purpose": "batch"})

    async def _create(self, request: web.BaseRequest) -> web.Response:
        if self.create_status != 200:
            said = {"error": {"message": "batches are not for you"}}
            return web.json_response(said, status=self.create_status)
        body = await request.json()
        number = f"b{len(self.batches)}"
        batch_id = f"batches/{number}" if "Generate" in request.path else number
        self.batches[batch_id] = Batch(batch_id, body, self._items(request.path, body))
        return self._state(self.batches[batch_id], request.path)

    def _items(self, path: str, body: dict[str, Any]) -> list[Item]:
        if ":batchGenerateContent" in path:
            single = path.replace(":batchGenerateContent", ":generateContent")
            listed = body["batch"]["inputConfig"]["requests"]["requests"]
            return [(item["metadata"]["key"], single, item["request"]) for item in listed]
        if "/messages/" in path:
            own = path.removesuffix("/batches")
            return [(item["custom_id"], own, item["params"]) for item in body["requests"]]
        assert body["completion_window"] == "24h"
        lines = [json.loads(line) for line in self.uploads[body["input_file_id"]].splitlines()]
        assert {line["url"] for line in lines} == {body["endpoint"]}
        return [(line["custom_id"], body["endpoint"], line["body"]) for line in lines]

    def _look(self, path: str) -> web.Response:
        batch = next((b for b in self.batches.values() if b.id in path), None)
        if batch is None:
            return web.json_response({"error": {"message": "no such batch"}}, status=404)
        if path.endswith("/results"):
            return web.Response(text=_lines(self._anthropic(item) for item in batch.items))
        batch.polls += 1
        self.polled.set()
        if self.poll_statuses:
            return web.json_response({"error": {}}, status=self.poll_statuses.pop(0))
        return self._state(batch, path)

    def _state(self, batch: Batch, path: str) -> web.Response:
        ended = batch.polls > self.polls and (self.hold is None or self.hold.is_set())
        done = sum(_case(str(body)) not in self.fates for _, _, body in batch.items)
        failed = len(batch.items) - done
        if "/messages/" in path:
            counts = {"processing": 0, "succeeded": done, "errored": failed}
            return web.json_response(
                {
                    "id": batch.id,
                    "type": "message_batch",
                    "processing_status": "ended" if ended else "in_progress",
                    "request_counts": counts if ended else {"processing": len(batch.items)},
                    "results_url": f"{self.url}/v1/messages/batches/{batch.id}/results"
                    if ended
                    else None,
                }
            )
        if path.startswith("/v1beta"):
            return web.json_response(self._operation(batch, ended=ended))
        if ended:
            results = [self._openai(item) for item in batch.items]
            good = [r for r in results if r["response"] and r["response"]["status_code"] == 200]
            self.uploads["out"] = _lines(reversed(good)).encode()
            self.uploads["err"] = _lines(r for r in results if r not in good).encode()
        word = "completed" if ended else "in_progress"
        return web.json_response(
            {
                "id": batch.id,
                "object": "batch",
                "status": "failed" if self.fails else word,
                "errors": {"data": [{"message": "line 1 is bad"}]} if self.fails else None,
                "output_file_id": "out" if ended else None,
                "error_file_id": "err" if ended and failed else None,
                "request_counts": {"total": len(batch.items), "completed": done, "failed": failed},
            }
        )

    def _operation(self, batch: Batch, *, ended: bool) -> dict[str, Any]:
        operation: dict[str, Any] = {
            "name": batch.id,
            "metadata": {
                "state": f"BATCH_STATE_{'SUCCEEDED' if ended else 'RUNNING'}",
                "batchStats": {"requestCount": str(len(batch.items))},
            },
        }
        if ended:
            inlined = [self._gemini(item) for item in batch.items]
            operation["done"] = True
            operation["response"] = {"inlinedResponses": {"inlinedResponses": inlined}}
        return operation

    def _openai(self, item: Item) -> dict[str, Any]:
        key, _, body = item
        status = self.fates.get(_case(str(body)), 200)
        line: dict[str, Any] = {"id": f"r-{key}", "custom_id": key, "response": None, "error": None}
        if status is None:
            return {**line, "error": {"code": "batch_expired", "message": "too late"}}
        dialect = OpenAiResponses() if item[1].endswith("/responses") else OpenAiChat()
        reply = _reply(dialect, status, item)
        return {**line, "response": {"status_code": status, "request_id": "r", "body": reply}}

    def _anthropic(self, item: Item) -> dict[str, Any]:
        key, _, body = item
        status = self.fates.get(_case(str(body)), 200)
        reply = _reply(AnthropicMessages(), status or 500, item)
        result = {"type": "errored", "error": reply}
        if status == 200:
            result = {"type": "succeeded", "message": reply}
        return {"custom_id": key, "result": result if status else {"type": "expired"}}

    def _gemini(self, item: Item) -> dict[str, Any]:
        key, _, body = item
        status = self.fates.get(_case(str(body)), 200)
        reply = _reply(GeminiContent(), status or 504, item)
        if status == 200:
            return {"metadata": {"key": key}, "response": reply}
        code = {400: 3, None: 4}.get(status, 13)  # numbers of google.rpc.Code
        return {"metadata": {"key": key}, "error": {**reply["error"], "code": code}}


def _reply(dialect: Dialect, status: int, item: Item) -> dict[str, Any]:
    _, path, body = item
    if status != 200:
        return dialect.error(status, "this one is bad")
    question = dialect.question(path, body)
    return dialect.answer(question, f"batched: {_case(question.text)}")


def _case(text: str) -> str:
    found = _CASE.search(text)
    assert found is not None
    return found[0]


def _lines(objects: Any) -> str:
    return "".join(json.dumps(each) + "\n" for each in objects)
