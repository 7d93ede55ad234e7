"""Gemini's batch mode: `POST /v1beta/models/{model}:batchGenerateContent`, requests inline."""

from collections.abc import Iterable, Sequence
from urllib.parse import quote

from agentv.errors import ProviderError
from agentv.model.base import Record
from agentv.providers.apis.batch_api import (
    BatchClient,
    BatchFailed,
    BatchItem,
    BatchStatus,
    ItemReply,
)
from agentv.providers.apis.media import encode_body
from agentv.providers.apis.shape import read_as
from agentv.providers.apis.wire import Json

LARGEST_INLINE = 20 * 1024 * 1024
"""Bytes; requests that take more would have to go up as a file."""
_ENDED = ("SUCCEEDED", "CANCELLED", "EXPIRED", "PARTIALLY_SUCCEEDED")
_CANCELLED = 1
_RPC_STATUSES = dict(
    enumerate((499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401), 1)
)
"""What the numbers of `google.rpc.Code` are over HTTP."""


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
    metadata: Json = {}
    response: Json | None = None
    error: Json | None = None


class _InlinedList(Record, frozen=True, kw_only=True, rename="camel"):
    inlined_responses: list[_Inlined] = []


class _Output(Record, frozen=True, kw_only=True, rename="camel"):
    inlined_responses: _InlinedList = _InlinedList()


class GeminiBatches:
    """The batches of one model (see `batch_api.BatchApi`).

    Args:
        url: Where a single request goes: `…/v1beta/models/NAME:generateContent`.
    """

    def __init__(self, url: str) -> None:
        self._base = url.rpartition("/models/")[0] or url.rpartition("/tunedModels/")[0]
        self._create_url = f"{url.removesuffix(':generateContent')}:batchGenerateContent"

    async def create(self, items: Sequence[BatchItem], label: str, client: BatchClient) -> str:
        """All requests in one body; the id is the operation's name, `batches/…`."""
        requests = [{"request": item.body, "metadata": {"key": item.custom_id}} for item in items]
        body = {
            "batch": {
                "displayName": f"agentv-{label}",
                "inputConfig": {"requests": {"requests": requests}},
            }
        }
        if len(encode_body(body)) > LARGEST_INLINE:
            raise ProviderError("the requests take more than 20 MB together", kind="batch")
        return read_as(await client.post(self._create_url, body), _Operation).name

    async def status(self, batch_id: str, client: BatchClient) -> BatchStatus:
        """The operation's state; it is done when its state or the operation itself says so."""
        reply = await client.get(f"{self._base}/{quote(batch_id, safe='/')}")
        operation = read_as(reply, _Operation)
        word = operation.metadata.state.removeprefix("BATCH_STATE_").removeprefix("JOB_STATE_")
        failure = operation.error
        if word == "FAILED" or (failure is not None and failure.code != _CANCELLED):
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

    async def results(self, ended: BatchStatus, client: BatchClient) -> Iterable[ItemReply]:
        """They came with the last status: nothing more is fetched."""
        del client
        operation = read_as(ended.reply, _Operation)
        output = read_as(_output(operation), _Output)
        return [_item_reply(inlined) for inlined in output.inlined_responses.inlined_responses]


def _output(operation: _Operation) -> Json:
    """The guide shows the answers in the response, the reference in the batch's `output`."""
    response = operation.response
    places = (operation.metadata.output, response, response.get("output"))
    return next((p for p in places if isinstance(p, dict) and "inlinedResponses" in p), {})


def _item_reply(inlined: _Inlined) -> ItemReply:
    key = str(inlined.metadata.get("key"))
    if inlined.response is not None:
        return ItemReply(custom_id=key, status=200, body=inlined.response)
    error = inlined.error or {}
    return ItemReply(custom_id=key, status=_status(error), body={"error": error})


def _status(error: Json) -> int:
    """The status that a single request would have been refused with."""
    code = error.get("code")
    if not isinstance(code, int):
        return 500
    return code if code >= 400 else _RPC_STATUSES.get(code, 500)
