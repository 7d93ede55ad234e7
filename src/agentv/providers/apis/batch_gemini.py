"""Gemini's batch mode: `POST /v1beta/models/{model}:batchGenerateContent`, requests inline."""

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from agentv.model.base import Record
from agentv.providers.apis.batch_api import (
    Asked,
    BatchClient,
    BatchFailed,
    BatchItem,
    BatchLimits,
    BatchStatus,
    Found,
    ItemReply,
    Results,
)
from agentv.providers.apis.batch_listing import listed_operations
from agentv.providers.apis.shape import read_as
from agentv.providers.apis.wire import Json

LIMITS = BatchLimits(requests=50_000, size=19 * 1000 * 1000)
"""A body has at most 20 MB; more could go up as a file, and goes as several batches instead. How
many requests are too many is not documented."""
_ENDED = ("SUCCEEDED", "CANCELLED", "EXPIRED", "PARTIALLY_SUCCEEDED", "FAILED")
_CANCELLED = 1


class _Stats(Record, frozen=True, kw_only=True, rename="camel"):
    # 64-bit numbers are strings in this API's JSON.
    successful_request_count: int | str = 0
    failed_request_count: int | str = 0


class _Metadata(Record, frozen=True, kw_only=True, rename="camel"):
    state: str = "PENDING"
    batch_stats: _Stats = _Stats()
    output: Json = {}


class _Error(Record, frozen=True, kw_only=True):
    code: int = 2
    message: str = ""


class _Operation(Record, frozen=True, kw_only=True):
    name: str
    done: bool = False
    metadata: _Metadata = _Metadata()
    response: Json = {}
    error: _Error | None = None


class _Inlined(Record, frozen=True, kw_only=True):
    """An inlined answer; in a file of answers the key stands beside it."""

    key: str | None = None
    metadata: Json | None = None
    response: Json | None = None
    error: Any = None


class GeminiBatches:
    """The batches of one model (see `batch_api.BatchApi`).

    Args:
        url: Where a single request goes: `…/v1beta/models/NAME:generateContent`.
    """

    limits = LIMITS

    def __init__(self, url: str) -> None:
        self._base = url.rpartition("/models/")[0] or url.rpartition("/tunedModels/")[0]
        self._create_url = f"{url.removesuffix(':generateContent')}:batchGenerateContent"

    def adapted(self, body: Json) -> Json:
        """As it is."""
        return body

    async def upload(self, items: Iterable[BatchItem], key: str, client: BatchClient) -> None:
        """The requests go along with `create`."""

    async def create(self, items: Iterable[BatchItem], asked: Asked, client: BatchClient) -> str:
        """All requests in one body; the id is the operation's name, `batches/…`."""
        made = await client.create(self._create_url, _written(items, asked))
        return read_as(made, _Operation).name

    async def find(self, asked: Asked, client: BatchClient) -> Sequence[Found]:
        """The batch of that name."""
        async for operation in listed_operations(client, f"{self._base}/batches"):
            metadata = operation.get("metadata")
            if isinstance(metadata, dict) and metadata.get("displayName") == _display_name(asked):
                return [Found(batch_id=str(operation["name"]), is_sure=True)]
        return []

    async def status(self, batch_id: str, client: BatchClient) -> BatchStatus:
        """The operation's state; it is done when its state or the operation itself says so."""
        reply = await client.get(f"{self._base}/{quote(batch_id, safe='/')}")
        operation = read_as(reply, _Operation)
        word = operation.metadata.state.removeprefix("BATCH_STATE_").removeprefix("JOB_STATE_")
        failure = operation.error
        is_failed = word == "FAILED" or (failure is not None and failure.code != _CANCELLED)
        if is_failed and not _output(operation):
            reason = failure.message if failure else ""
            raise BatchFailed(reason or "the service says that it failed")
        stats = operation.metadata.batch_stats
        return BatchStatus(
            ended=operation.done or word in _ENDED,
            word=word.lower(),
            done=int(stats.successful_request_count),
            failed=int(stats.failed_request_count),
            reply=reply,
        )

    async def results(self, ended: BatchStatus, client: BatchClient) -> Results:
        """They came with the last status, unless that names a file."""
        output = _output(read_as(ended.reply, _Operation))
        if file := output.get("responsesFile"):
            host, _, version = self._base.rpartition("/")
            url = f"{host}/download/{version}/{quote(str(file), safe='/')}:download?alt=media"
            lines = await client.lines(url, _Inlined)
            return Results(replies=[*map(_item_reply, lines.read)], unreadable=lines.unreadable)
        inlined = output.get("inlinedResponses")
        listed = inlined.get("inlinedResponses") if isinstance(inlined, dict) else inlined
        read = [_read(each) for each in listed or []]
        replies = [_item_reply(each) for each in read if each is not None]
        return Results(replies=replies, unreadable=len(read) - len(replies))


def _written(items: Iterable[BatchItem], asked: Asked) -> bytes:
    requests = [
        {"request": msgspec.Raw(item.body), "metadata": {"key": item.custom_id}} for item in items
    ]
    source = {"requests": {"requests": requests}}
    batch = {"displayName": _display_name(asked), "inputConfig": source}
    return msgspec.json.encode({"batch": batch})


def _display_name(asked: Asked) -> str:
    return f"agentv-{asked.key}"


def _output(operation: _Operation) -> Json:
    """The guide shows the answers in the response, the reference in the batch's `output`."""
    response = operation.response
    for place in (operation.metadata.output, response, response.get("output")):
        if isinstance(place, dict) and place.keys() & {"inlinedResponses", "responsesFile"}:
            return place
    return {}


def _read(inlined: Any) -> _Inlined | None:
    try:
        return msgspec.convert(inlined, _Inlined)
    except msgspec.ValidationError:
        return None


def _item_reply(inlined: _Inlined) -> ItemReply:
    """Some versions of the service leave the metadata out of what they give back."""
    key = inlined.key or (inlined.metadata or {}).get("key")
    custom_id = str(key) if key is not None else None
    if inlined.response is not None:
        return ItemReply(custom_id=custom_id, answer=inlined.response)
    error = inlined.error if isinstance(inlined.error, dict) else {}
    word = error.get("status") or f"error {error.get('code') or 'without a code'}"
    return ItemReply(custom_id=custom_id, failure=str(word))
