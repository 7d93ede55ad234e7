"""OpenAI's Batch API, and Azure's: a file of requests goes up, files of replies come down.

Everything is told from the URL that a single request would go to:

    https://api.openai.com/v1/chat/completions           /v1/files  /v1/batches
    https://…/openai/deployments/NAME/chat/completions   /openai/files  /openai/batches
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import msgspec

from agentv.errors import ProviderError
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
from agentv.providers.apis.batch_listing import listed
from agentv.providers.apis.shape import read_as
from agentv.providers.apis.wire import Json

LIMITS = BatchLimits(requests=50_000, size=200 * 1000 * 1000)
"""OpenAI's; Azure takes twice as many requests in a file of the same size."""
_OPERATION = re.compile(
    r"(?P<base>.*?)(/deployments/(?P<deployment>[^/]+))?/(?P<name>chat/completions|responses)"
)
_ENDED = frozenset({"completed", "expired", "cancelled", "failed"})
_BEING_READ = frozenset({"pending", "running"})
_FILE_LOOK_SECONDS = 0.5


class _File(Record, frozen=True, kw_only=True):
    id: str
    status: str | None = None
    status_details: str | None = None


class _Made(Record, frozen=True, kw_only=True):
    id: str


class _Counts(Record, frozen=True, kw_only=True):
    completed: int = 0
    failed: int = 0


class _Batch(Record, frozen=True, kw_only=True):
    status: str
    request_counts: _Counts | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None


class _Response(Record, frozen=True, kw_only=True):
    status_code: int
    body: msgspec.Raw = msgspec.Raw()


class _Line(Record, frozen=True, kw_only=True):
    custom_id: str
    response: _Response | None = None
    error: Any = None


class OpenAiBatches:
    """The endpoints beside the one for single requests (see `batch_api.BatchApi`).

    Args:
        url: Where a single request goes.

    Raises:
        ProviderError: No batches are known for requests that go there.
    """

    limits = LIMITS

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        found = _OPERATION.fullmatch(self._parts.path)
        if found is None:
            raise ProviderError(f"{self._parts.path} takes no batches", kind="batch")
        self._base = found["base"]
        self._deployment = unquote(found["deployment"] or "")
        prefix = "" if "api-version=" in self._parts.query else "/v1"
        self._endpoint = f"{prefix}/{found['name']}"

    def adapted(self, body: Json) -> Json:
        """Azure's single requests name their deployment in the URL alone."""
        return {**body, "model": self._deployment} if self._deployment else body

    async def upload(self, items: Iterable[BatchItem], key: str, client: BatchClient) -> str:
        """A file of requests, once it is ready: Azure makes no batch of one that it still reads."""
        form, content_type = upload_form(f"agentv-{key}.jsonl", map(self._line, items))
        file = read_as(await client.upload(self._url("files"), form, content_type), _File)
        del form
        while file.status in _BEING_READ:
            await client.rest(_FILE_LOOK_SECONDS)
            file = read_as(await client.get(self._url("files", file.id), patient=False), _File)
        if file.status == "error":
            reason = file.status_details or "the service does not say why"
            raise ProviderError(f"the file of requests was refused: {reason}", kind="batch")
        return file.id

    async def create(self, items: Iterable[BatchItem], asked: Asked, client: BatchClient) -> str:
        """A batch of the uploaded file."""
        del items
        body = {
            "input_file_id": asked.file,
            "endpoint": self._endpoint,
            "completion_window": "24h",
            "metadata": {"agentv": asked.key},
        }
        made = await client.create(self._url("batches"), msgspec.json.encode(body))
        return read_as(made, _Made).id

    async def find(self, asked: Asked, client: BatchClient) -> Sequence[Found]:
        """The batch that was made of the file, or has the key."""
        async for batch in listed(client, self._url("batches"), "after"):
            metadata = batch.get("metadata")
            key = metadata.get("agentv") if isinstance(metadata, dict) else None
            if key == asked.key or (asked.file and batch.get("input_file_id") == asked.file):
                return [Found(batch_id=str(batch["id"]), is_sure=True)]
        return []

    async def status(self, batch_id: str, client: BatchClient) -> BatchStatus:
        """Counts as the API says them; a batch without any file failed in validation."""
        reply = await client.get(self._url("batches", batch_id))
        batch = read_as(reply, _Batch)
        if batch.status == "failed" and not _files(batch):
            raise BatchFailed(_reasons(reply) or "the service says that it failed")
        counts = batch.request_counts or _Counts()
        return BatchStatus(
            ended=batch.status in _ENDED,
            word=batch.status,
            done=counts.completed,
            failed=counts.failed,
            reply=reply,
        )

    async def results(self, ended: BatchStatus, client: BatchClient) -> Results:
        """The lines of both files: answers are in one, errors in the other."""
        replies: list[ItemReply] = []
        unreadable = 0
        for file in _files(read_as(ended.reply, _Batch)):
            lines = await client.lines(self._url("files", file, "content"), _Line)
            replies += map(_item_reply, lines.read)
            unreadable += lines.unreadable
        return Results(replies=replies, unreadable=unreadable)

    def _line(self, item: BatchItem) -> bytes:
        line = {
            "custom_id": item.custom_id,
            "method": "POST",
            "url": self._endpoint,
            "body": msgspec.Raw(item.body),
        }
        return msgspec.json.encode(line) + b"\n"

    def _url(self, *path: str) -> str:
        below = "/".join(quote(part, safe="") for part in path)
        return urlunsplit(self._parts._replace(path=f"{self._base}/{below}"))


def upload_form(filename: str, lines: Iterable[bytes]) -> tuple[bytes, str]:
    """A file for batches as `multipart/form-data`: the body and its content type."""
    content = list(lines)
    digest = hashlib.sha256()
    for line in content:
        digest.update(line)
    boundary = digest.hexdigest()  # no content can hold its own digest
    head = [
        f"--{boundary}",
        'Content-Disposition: form-data; name="purpose"',
        "",
        "batch",
        f"--{boundary}",
        f'Content-Disposition: form-data; name="file"; filename="{filename}"',
        "Content-Type: application/jsonl",
        "",
        "",
    ]
    form = b"".join(["\r\n".join(head).encode(), *content, f"\r\n--{boundary}--\r\n".encode()])
    return form, f"multipart/form-data; boundary={boundary}"


def _files(batch: _Batch) -> list[str]:
    return [file for file in (batch.output_file_id, batch.error_file_id) if file]


def _item_reply(line: _Line) -> ItemReply:
    """A line without a response is of a request that was not sent: the batch expired, say."""
    response = line.response
    if response is None:
        code = line.error.get("code") if isinstance(line.error, dict) else None
        return ItemReply(custom_id=line.custom_id, failure=str(code or "no response"))
    if 200 <= response.status_code <= 299:
        return ItemReply(custom_id=line.custom_id, answer=response.body)
    return ItemReply(custom_id=line.custom_id, failure=f"http_{response.status_code}")


def _reasons(batch: Json) -> str:
    errors = batch.get("errors")
    listed_errors = errors.get("data") if isinstance(errors, dict) else None
    said = [e.get("message") for e in listed_errors or [] if isinstance(e, dict)]
    return "; ".join(str(message) for message in said[:3] if message)
