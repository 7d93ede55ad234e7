"""Anthropic's Message Batches: `POST /v1/messages/batches`, results as lines of JSON."""

from collections.abc import Iterable, Sequence
from urllib.parse import quote, urlsplit

from agentv.errors import ProviderError
from agentv.model.base import Record
from agentv.providers.apis.batch_api import BatchClient, BatchItem, BatchStatus, ItemReply
from agentv.providers.apis.shape import read_as, total
from agentv.providers.apis.wire import Json

_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


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


class _Result(Record, frozen=True, kw_only=True):
    type: str
    message: Json = {}
    error: Json = {}


class _Line(Record, frozen=True, kw_only=True):
    custom_id: str
    result: _Result


class AnthropicBatches:
    """The batches below the endpoint for single messages (see `batch_api.BatchApi`).

    Args:
        url: Where a single message goes.
    """

    def __init__(self, url: str) -> None:
        self._url = f"{url}/batches"

    async def create(self, items: Sequence[BatchItem], label: str, client: BatchClient) -> str:
        """All requests in one body; this API has no place for a label."""
        del label
        requests = [{"custom_id": item.custom_id, "params": item.body} for item in items]
        return read_as(await client.post(self._url, {"requests": requests}), _Batch).id

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

    async def results(self, ended: BatchStatus, client: BatchClient) -> Iterable[ItemReply]:
        """One line for each request."""
        batch = read_as(ended.reply, _Batch)
        lines = await client.lines(self._results_url(batch))
        return [_item_reply(read_as(line, _Line)) for line in lines]

    def _results_url(self, batch: _Batch) -> str:
        """Where the API says they are, unless that is another host: it would be sent our key."""
        own = f"{self._url}/{quote(batch.id, safe='')}/results"
        said = batch.results_url or own
        return said if urlsplit(said)[:2] == urlsplit(own)[:2] else own


def _item_reply(line: _Line) -> ItemReply:
    result = line.result
    if result.type == "succeeded":
        return ItemReply(custom_id=line.custom_id, status=200, body=result.message)
    if result.type == "errored":
        return ItemReply(custom_id=line.custom_id, status=_status(result.error), body=result.error)
    if result.type in ("canceled", "expired"):
        return ItemReply(custom_id=line.custom_id, status=None, body={})
    raise ProviderError(f"a result of the unknown type '{result.type}'", kind="malformed")


def _status(error: Json) -> int:
    """The status that a single request would have been refused with."""
    inner = error.get("error")
    kind = inner.get("type") if isinstance(inner, dict) else None
    return _STATUSES.get(str(kind), 500)
