"""How each API writes a batch, a list of them, and what came of one."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from vendor.dialects import (
    AnthropicMessages,
    Dialect,
    GeminiContent,
    OpenAiChat,
    OpenAiResponses,
)

_CASE = re.compile(r"\bcase \w+")
_CODES = {400: 3, 429: 8, None: 4}
"""Numbers of google.rpc.Code."""

Item = tuple[str, str, dict[str, Any]]
"""Custom id, URL path of a single request, body of a single request."""
Fates = Mapping[str, int | None]
"""What befalls a case in a batch: a status, or `None` if it expires."""


@dataclass
class Batch:
    """One that was made."""

    id: str
    path: str
    request: dict[str, Any]
    items: list[Item]
    polls: int = 0
    created: float = field(default_factory=lambda: datetime.now(UTC).timestamp())

    @cached_property
    def cases(self) -> list[str]:
        return [case_of(str(body)) for _, _, body in self.items]


@dataclass(frozen=True)
class State:
    """How far a batch is."""

    batch: Batch
    ended: bool
    done: int
    failed: int
    fates: Fates
    word: str | None = None
    """How it ended, where that is not well."""
    url: str = ""
    """Of the vendor."""
    keyless: bool = False
    """Whether Gemini leaves out whose answers are whose."""


def case_of(text: str) -> str:
    """The first case in a text."""
    found = _CASE.search(text)
    assert found is not None
    return found[0]


def lines_of(objects: Iterable[Any]) -> list[str]:
    return [json.dumps(each) + "\n" for each in objects]


def written(state: State) -> dict[str, Any]:
    """A batch as its API shows it."""
    if "/messages/" in state.batch.path:
        return _anthropic_batch(state)
    return _gemini_batch(state) if "Generate" in state.batch.path else _openai_batch(state)


def openai_results(state: State) -> tuple[list[str], list[str]]:
    """The lines of the output file and of the error file."""
    results = [_openai_line(item, state.fates) for item in state.batch.items]
    good = [r for r in results if r["response"] and r["response"]["status_code"] == 200]
    return lines_of(reversed(good)), lines_of(r for r in results if r not in good)


def anthropic_results(state: State) -> list[str]:
    return lines_of(_anthropic_line(item, state.fates) for item in state.batch.items)


def _openai_batch(state: State) -> dict[str, Any]:
    batch = state.batch
    has_files = state.ended and state.word != "failed"
    return {
        "id": batch.id,
        "object": "batch",
        "status": (state.word or "completed") if state.ended else "in_progress",
        "errors": {"data": [{"message": "line 1 is bad"}]} if state.word == "failed" else None,
        "created_at": int(batch.created),
        "metadata": batch.request.get("metadata"),
        "input_file_id": batch.request["input_file_id"],
        "output_file_id": f"out-{batch.id}" if has_files else None,
        "error_file_id": f"err-{batch.id}" if has_files and state.failed else None,
        "request_counts": {
            "total": len(batch.items),
            "completed": state.done,
            "failed": state.failed,
        },
    }


def _anthropic_batch(state: State) -> dict[str, Any]:
    batch = state.batch
    counts = {"processing": 0, "succeeded": state.done, "errored": state.failed}
    results = f"{state.url}/v1/messages/batches/{batch.id}/results"
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "ended" if state.ended else "in_progress",
        "created_at": datetime.fromtimestamp(batch.created, UTC).isoformat(),
        "request_counts": counts if state.ended else {"processing": len(batch.items)},
        "results_url": results if state.ended else None,
    }


def _gemini_batch(state: State) -> dict[str, Any]:
    batch = state.batch
    word = (state.word or "succeeded") if state.ended else "running"
    operation: dict[str, Any] = {
        "name": batch.id,
        "metadata": {
            "state": f"BATCH_STATE_{word.upper()}",
            "displayName": batch.request["batch"]["displayName"],
            "createTime": datetime.fromtimestamp(batch.created, UTC).isoformat(),
            "batchStats": {
                "requestCount": str(len(batch.items)),
                "successfulRequestCount": str(state.done),
                "failedRequestCount": str(state.failed),
            },
        },
    }
    if state.word == "failed":
        operation |= {"done": True, "error": {"code": 8, "message": "line 1 is bad"}}
    elif state.ended:
        inlined = [_gemini_reply(item, state) for item in batch.items]
        operation["done"] = True
        operation["response"] = {"inlinedResponses": {"inlinedResponses": inlined}}
    return operation


def _openai_line(item: Item, fates: Fates) -> dict[str, Any]:
    key, path, body = item
    status = fates.get(case_of(str(body)), 200)
    line: dict[str, Any] = {"id": f"r-{key}", "custom_id": key, "response": None, "error": None}
    if status is None:
        return {**line, "error": {"code": "batch_expired", "message": "too late"}}
    dialect = OpenAiResponses() if path.endswith("/responses") else OpenAiChat()
    reply = _reply(dialect, status, item)
    return {**line, "response": {"status_code": status, "request_id": "r", "body": reply}}


def _anthropic_line(item: Item, fates: Fates) -> dict[str, Any]:
    key, _, body = item
    status = fates.get(case_of(str(body)), 200)
    reply = _reply(AnthropicMessages(), status or 500, item)
    result = {"type": "errored", "error": reply}
    if status == 200:
        result = {"type": "succeeded", "message": reply}
    return {"custom_id": key, "result": result if status else {"type": "expired"}}


def _gemini_reply(item: Item, state: State) -> dict[str, Any]:
    key, _, body = item
    status = state.fates.get(case_of(str(body)), 200)
    reply = _reply(GeminiContent(), status or 504, item)
    whose: dict[str, Any] = {} if state.keyless else {"metadata": {"key": key}}
    if status == 200:
        return {**whose, "response": reply}
    return {**whose, "error": {**reply["error"], "code": _CODES.get(status, 13)}}


def _reply(dialect: Dialect, status: int, item: Item) -> dict[str, Any]:
    _, path, body = item
    if status != 200:
        return dialect.error(status, "this one is bad")
    question = dialect.question(path, body)
    return dialect.answer(question, f"batched: {case_of(question.text)}")
