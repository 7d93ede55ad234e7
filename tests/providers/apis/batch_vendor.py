"""A loopback vendor with the batch endpoints of OpenAI, Azure, Anthropic and Gemini."""

import asyncio
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self

from aiohttp import web
from batch_forms import (
    Batch,
    Item,
    State,
    anthropic_results,
    case_of,
    openai_results,
    written,
)

from processes import LIMIT_SECONDS
from vendor.dialects import dialect_of
from vendor.loopback import end

KEY = "vendor-key"
_CANDIDATE = "[[ ## candidate_answer ## ]]"
"""Stands in what a judge is asked, and nowhere else."""
_VERDICT = '{"score": 0.9, "hits": ["It answers."], "misses": [], "reasoning": "So it is."}'
Mishap = Literal["reset", "lost", "403", "404", "429", "500", "broken", "shapeless", "truncated"]
"""What befalls a request: it is refused, or its connection is; replies that are `lost`, `broken`,
`shapeless` or `truncated` are of one that was carried out."""
Step = Literal["list", "upload", "create", "status", "results", "single"]


@dataclass
class BatchVendor:
    """Serves in a thread of its own, from `__enter__` to `__exit__`."""

    fates: Mapping[str, int | None] = field(default_factory=dict)
    """What befalls a case in a batch: a status, or `None` if it expires."""
    single_fates: Mapping[str, int] = field(default_factory=dict)
    """The same, sent singly."""
    polls: int = 1
    """How often a batch is under way before it has ended."""
    hold: threading.Event | None = None
    """No batch ends before this is set."""
    create_status: int = 200
    poll_statuses: list[int] = field(default_factory=list)
    """Of the first polls."""
    word: str | None = None
    """How batches end, where that is not well: `failed`, `expired`, …."""
    lists: bool = True
    """Whether batches are listed."""
    keyless: bool = False
    """Whether Gemini leaves out whose answers are whose."""
    mishaps: dict[Step, list[Mishap | None]] = field(default_factory=dict)
    """What befalls the requests of each kind, in their order; then all is well."""
    delays: Mapping[Step, float] = field(default_factory=dict)
    """Seconds from what a request does to its reply."""
    doctored: Callable[[list[str]], list[str]] = list
    """What becomes of the lines of results."""
    reads_files: int = 0
    """How often a file is looked at while it is still being read."""
    page: int = 2
    """Batches on a page of the list."""
    batches: dict[str, Batch] = field(default_factory=dict)
    singles: list[str] = field(default_factory=list)
    """The cases that were asked singly."""
    judged: list[str] = field(default_factory=list)
    """The cases whose answers a judge was asked about."""
    uploads: dict[str, bytes] = field(default_factory=dict)
    seen: Counter[Step] = field(default_factory=Counter)
    """How many requests of each kind came."""
    polled: threading.Event = field(default_factory=threading.Event)
    created: threading.Event = field(default_factory=threading.Event)
    asked_singly: threading.Event = field(default_factory=threading.Event)
    asked_to_judge: threading.Event = field(default_factory=threading.Event)
    url: str = ""
    _made: int = 0

    def forget(self) -> None:
        """Be as if nobody had come yet, at the same address."""
        for each in (self.batches, self.singles, self.judged, self.uploads, self.seen):
            each.clear()
        for event in (self.polled, self.created, self.asked_singly, self.asked_to_judge):
            event.clear()

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(
            target=lambda: self._loop.run_until_complete(self._serve()), daemon=True
        )
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

    async def _serve(self) -> None:
        server = web.Server(self._handle, request_factory=_large_request)
        listening = await self._loop.create_server(server, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        self._ready.set()
        async with listening:
            await self._stop.wait()
            await end(server)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if KEY not in (*request.headers.values(), request.headers.get("authorization", "")[7:]):
            return web.json_response({"error": {"message": "wrong key"}}, status=401)
        if request.path.startswith("/openai/") and "api-version" not in request.query:
            return web.json_response({"error": {"message": "no version"}}, status=404)
        step = _step(request)
        number = self.seen[step]
        self.seen[step] += 1
        script = self.mishaps.get(step, [])
        mishap = script[number] if number < len(script) else None
        if mishap in ("403", "404", "429", "500"):
            return web.json_response({"error": {"message": "not now"}}, status=int(mishap))
        if mishap == "reset":
            return _cut(request)
        response = await self._carried_out(step, request)
        await asyncio.sleep(self.delays.get(step, 0.0))
        if mishap == "lost":
            return _cut(request)
        if mishap == "shapeless":
            return web.json_response({"ok": True})
        if mishap == "broken" and isinstance(response, web.Response):
            return web.Response(text=(response.text or "")[:-7])
        return await _half(request, response) if mishap == "truncated" else response

    async def _carried_out(self, step: Step, request: web.BaseRequest) -> web.StreamResponse:
        path = request.path
        if step == "single":
            return await self._single(request)
        if step == "upload":
            return await self._upload(request)
        if step == "create":
            return await self._create(request)
        if step == "results":
            return self._results(path)
        return self._list(request) if step == "list" else self._status(path)

    async def _single(self, request: web.BaseRequest) -> web.Response:
        dialect = dialect_of(request.path)
        assert dialect is not None
        question = dialect.question(request.path, await request.json())
        case = case_of(question.text)
        if _CANDIDATE in question.text:
            self.judged.append(case)
            self.asked_to_judge.set()
            return web.json_response(dialect.answer(question, _VERDICT))
        self.singles.append(case)
        self.asked_singly.set()
        if status := self.single_fates.get(case):
            return web.json_response(dialect.error(status, "singly bad"), status=status)
        return web.json_response(dialect.answer(question, f"singly: {case}"))

    async def _upload(self, request: web.BaseRequest) -> web.Response:
        form = await request.post()
        assert form["purpose"] == "batch"
        file = form["file"]
        assert isinstance(file, web.FileField)
        name = f"file-{len(self.uploads)}"
        self.uploads[name] = file.file.read()
        return self._file(name)

    def _file(self, name: str) -> web.Response:
        status = "processed"
        if self.reads_files > 0:
            self.reads_files -= 1
            status = "pending"
        return web.json_response({"id": name, "object": "file", "status": status})

    async def _create(self, request: web.BaseRequest) -> web.Response:
        if self.create_status != 200:
            said = {"error": {"message": "batches are not for you"}}
            return web.json_response(said, status=self.create_status)
        body = await request.json()
        items = self._items(request.path, body)
        if len({custom_id for custom_id, _, _ in items}) != len(items):
            return web.json_response({"error": {"message": "a custom id twice"}}, status=400)
        number = f"b{self._made}"
        self._made += 1
        batch_id = f"batches/{number}" if "Generate" in request.path else number
        batch = self.batches[batch_id] = Batch(batch_id, request.path, body, items)
        self.created.set()
        return web.json_response(written(self._state(batch)))

    def _items(self, path: str, body: dict[str, Any]) -> list[Item]:
        if ":batchGenerateContent" in path:
            single = path.replace(":batchGenerateContent", ":generateContent")
            listed = body["batch"]["inputConfig"]["requests"]["requests"]
            return [(item["metadata"]["key"], single, item["request"]) for item in listed]
        if "/messages/" in path:
            own = path.removesuffix("/batches")
            items = [(item["custom_id"], own, item["params"]) for item in body["requests"]]
            assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", item[0]) for item in items)
            return items
        assert body["completion_window"] == "24h"
        lines = [json.loads(line) for line in self.uploads[body["input_file_id"]].splitlines()]
        assert {line["url"] for line in lines} == {body["endpoint"]}
        return [(line["custom_id"], body["endpoint"], line["body"]) for line in lines]

    def _list(self, request: web.BaseRequest) -> web.Response:
        if not self.lists:
            return web.json_response({"error": {"message": "no list"}}, status=404)
        newest = [self._state(batch) for batch in reversed(self.batches.values())]
        ids = [state.batch.id for state in newest]
        query = request.query
        after = query.get("after") or query.get("after_id") or query.get("pageToken")
        first = ids.index(after) + 1 if after else 0
        page = [written(state) for state in newest[first : first + self.page]]
        last = ids[first + len(page) - 1] if page else None
        more = first + len(page) < len(ids)
        if "/v1beta/" in request.path:
            assert int(query["pageSize"]) > 0
            token = {"nextPageToken": last} if more else {}
            return web.json_response({"operations": page, **token})
        return web.json_response({"data": page, "has_more": more, "last_id": last})

    def _results(self, path: str) -> web.Response:
        batch = next(b for b in self.batches.values() if b.id in re.split(r"[/-]", path))
        state = self._state(batch)
        if "/messages/" in path:
            lines = anthropic_results(state)
        else:
            good, bad = openai_results(state)
            lines = good if f"/out-{batch.id}/" in path else bad
        return web.Response(text="".join(self.doctored(lines)))

    def _status(self, path: str) -> web.Response:
        if found := re.search(r"/files/([^/]+)$", path):
            return self._file(found[1])
        batch = next((b for b in self.batches.values() if path.endswith(f"/{b.id}")), None)
        if batch is None:
            return web.json_response({"error": {"message": "no such batch"}}, status=404)
        batch.polls += 1
        self.polled.set()
        if self.poll_statuses:
            return web.json_response({"error": {}}, status=self.poll_statuses.pop(0))
        return web.json_response(written(self._state(batch)))

    def _state(self, batch: Batch) -> State:
        ended = batch.polls > self.polls and (self.hold is None or self.hold.is_set())
        done = (
            sum(self.fates.get(case, 200) == 200 for case in batch.cases)
            if self.fates
            else len(batch.items)
        )
        failed = len(batch.items) - done
        if not ended:
            done, failed = done * min(batch.polls, self.polls) // (self.polls + 1), 0
        return State(
            batch, ended, done, failed, self.fates, self.word, self.url, keyless=self.keyless
        )


def _large_request(
    message: Any, payload: Any, protocol: Any, writer: Any, task: Any
) -> web.BaseRequest:
    """A batch may be larger than what a server takes by itself."""
    loop = asyncio.get_running_loop()
    return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=1 << 30)


def _step(request: web.BaseRequest) -> Step:
    path = request.path
    if request.method == "POST":
        if dialect_of(path):
            return "single"
        return "upload" if path.endswith("/files") else "create"
    if path.endswith("/batches"):
        return "list"
    return "results" if path.endswith(("/results", "/content")) else "status"


def _cut(request: web.BaseRequest) -> web.Response:
    assert request.transport is not None
    request.transport.close()
    return web.Response()


async def _half(request: web.BaseRequest, whole: web.StreamResponse) -> web.StreamResponse:
    """Promise a whole body, send half of it."""
    assert isinstance(whole, web.Response)
    body = (whole.text or "").encode()
    half = web.StreamResponse(headers={"content-length": str(len(body))})
    await half.prepare(request)
    await half.write(body[: len(body) // 2])
    assert request.transport is not None
    request.transport.close()
    return half
