"""Anthropic's Message Batches: `POST /v1/messages/batches`, results as lines of JSON."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from agentv.model.base import Record
from agentv.providers.apis.batch_api import (
    Asked,
    BatchClient,
    BatchItem,
    BatchLimits,
    BatchStatus,
    Found,
    ItemReply,
    Results,
)
from agentv.providers.apis.batch_listing import listed, moment
from agentv.providers.apis.shape import read_as, total
from agentv.providers.apis.wire import Json

LIMITS = BatchLimits(requests=100_000, size=256 * 1000 * 1000)
_CLOCKS_DIFFER = timedelta(minutes=10)


class _Counts(Record, frozen=True, kw_only=True):
    succeeded: int = 0
    errored: int = 0
    canceled: int = 0
    expired: int = 0


class _Batch(Record, frozen=True, kw_only=True):
    id: str
    processing_status: str
    request_counts: _Counts = _Counts()
    results_url: str | None = None


class _Made(Record, frozen=True, kw_only=True):
    id: str


class _Result(Record, frozen=True, kw_only=True):
    type: str
    message: msgspec.Raw = msgspec.Raw()
    error: Any = None


class _Line(Record, frozen=True, kw_only=True):
    custom_id: str
    result: _Result


class AnthropicBatches:
    """The batches below the endpoint for single messages (see `batch_api.BatchApi`).

    Args:
        url: Where a single message goes.
    """

    limits = LIMITS

    def __init__(self, url: str) -> None:
        self._url = f"{url}/batches"

    def adapted(self, body: Json) -> Json:
        """As it is."""
        return body

    async def upload(self, items: Iterable[BatchItem], key: str, client: BatchClient) -> None:
        """The requests go along with `create`."""

    async def create(self, items: Iterable[BatchItem], asked: Asked, client: BatchClient) -> str:
        """All requests in one body, whose custom ids are the only place for a key."""
        del asked
        return read_as(await client.create(self._url, _written(items)), _Made).id

    async def find(self, asked: Asked, client: BatchClient) -> Sequence[Found]:
        """Batches of the right size from about that time, the closest first.

        The list shows nothing that we could have put into a batch: only its results tell whose it
        is, and these are there once it has ended.
        """
        likely: list[tuple[timedelta, Found]] = []
        async for batch in listed(client, self._url, "after_id"):
            created = moment(batch.get("created_at")) or asked.at
            if created < asked.at - _CLOCKS_DIFFER:
                break  # the newest come first
            if _size(batch.get("request_counts")) == asked.size:
                found = Found(batch_id=str(batch["id"]), is_sure=False)
                likely.append((abs(created - asked.at), found))
        return [found for _, found in sorted(likely, key=lambda each: each[0])]

    async def status(self, batch_id: str, client: BatchClient) -> BatchStatus:
        """Counts stay 0 until the batch has ended."""
        reply = await client.get(f"{self._url}/{quote(batch_id, safe='')}")
        batch = read_as(reply, _Batch)
        counts = batch.request_counts
        return BatchStatus(
            ended=batch.processing_status == "ended",
            word=batch.processing_status,
            done=counts.succeeded,
            failed=total(counts.errored, counts.canceled, counts.expired) or 0,
            reply=reply,
        )

    async def results(self, ended: BatchStatus, client: BatchClient) -> Results:
        """One line for each request."""
        lines = await client.lines(self._results_url(read_as(ended.reply, _Batch)), _Line)
        return Results(replies=[*map(_item_reply, lines.read)], unreadable=lines.unreadable)

    def _results_url(self, batch: _Batch) -> str:
        """Where the API says they are, unless that is another host: it would be sent our key."""
        own = f"{self._url}/{quote(batch.id, safe='')}/results"
        said = batch.results_url or own
        return said if urlsplit(said)[:2] == urlsplit(own)[:2] else own


def _written(items: Iterable[BatchItem]) -> bytes:
    requests = [{"custom_id": item.custom_id, "params": msgspec.Raw(item.body)} for item in items]
    return msgspec.json.encode({"requests": requests})


def _size(counts: Any) -> int:
    """How many requests are in a batch: it counts each in one of its states."""
    values = counts.values() if isinstance(counts, dict) else ()
    return sum(value for value in values if isinstance(value, int))


def _item_reply(line: _Line) -> ItemReply:
    result = line.result
    if result.type == "succeeded":
        return ItemReply(custom_id=line.custom_id, answer=result.message)
    return ItemReply(custom_id=line.custom_id, failure=_reason(result))


def _reason(result: _Result) -> str:
    """`expired`, `canceled`, or what kind of error it was."""
    error = result.error
    while isinstance(error, dict) and isinstance(error.get("error"), dict):
        error = error["error"]
    kind = error.get("type") if isinstance(error, dict) else None
    return str(kind or result.type)
