"""OpenAI's Batch API, and Azure's: a file of requests goes up, files of replies come down.

Everything is told from the URL that a single request would go to:

    https://api.openai.com/v1/chat/completions           /v1/files  /v1/batches
    https://…/openai/deployments/NAME/chat/completions   /openai/files  /openai/batches
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote, unquote, urlsplit, urlunsplit

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

_OPERATION = re.compile(
    r"(?P<base>.*?)(/deployments/(?P<deployment>[^/]+))?/(?P<name>chat/completions|responses)"
)
_ENDED = frozenset({"completed", "expired", "cancelled"})


class _Made(Record, frozen=True, kw_only=True):
    """A file or a batch that was made."""

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
    body: Json


class _Line(Record, frozen=True, kw_only=True):
    custom_id: str
    response: _Response | None = None
    error: Json | None = None


class OpenAiBatches:
    """The endpoints beside the one for single requests (see `batch_api.BatchApi`).

    Args:
        url: Where a single request goes.

    Raises:
        ProviderError: No batches are known for requests that go there.
    """

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        found = _OPERATION.fullmatch(self._parts.path)
        if found is None:
            raise ProviderError(f"{self._parts.path} takes no batches", kind="batch")
        self._base = found["base"]
        self._deployment = unquote(found["deployment"] or "")
        prefix = "" if "api-version=" in self._parts.query else "/v1"
        self._endpoint = f"{prefix}/{found['name']}"

    async def create(self, items: Sequence[BatchItem], label: str, client: BatchClient) -> str:
        """Upload the requests as a file, then make a batch of it."""
        content = b"".join(map(self._line, items))
        form, content_type = upload_form(f"{label}.jsonl", content)
        file = read_as(await client.post(self._url("files"), form, content_type), _Made)
        made = await client.post(
            self._url("batches"),
            {
                "input_file_id": file.id,
                "endpoint": self._endpoint,
                "completion_window": "24h",
                "metadata": {"agentv": label},
            },
        )
        return read_as(made, _Made).id

    async def status(self, batch_id: str, client: BatchClient) -> BatchStatus:
        """Counts as the API says them; a batch that failed did so in validation."""
        reply = await client.get(self._url("batches", batch_id))
        batch = read_as(reply, _Batch)
        if batch.status == "failed":
            raise BatchFailed(_reasons(reply) or "the service says that it failed")
        counts = batch.request_counts or _Counts()
        return BatchStatus(
            ended=batch.status in _ENDED,
            word=batch.status,
            done=counts.completed,
            failed=counts.failed,
            reply=reply,
        )

    async def results(self, ended: BatchStatus, client: BatchClient) -> Iterable[ItemReply]:
        """The lines of both files: answers are in one, errors in the other."""
        batch = read_as(ended.reply, _Batch)
        files = [file for file in (batch.output_file_id, batch.error_file_id) if file]
        replies: list[ItemReply] = []
        for file in files:
            lines = await client.lines(self._url("files", file, "content"))
            replies += [_item_reply(read_as(line, _Line)) for line in lines]
        return replies

    def _line(self, item: BatchItem) -> bytes:
        own = {"model": self._deployment} if self._deployment else {}
        line = {
            "custom_id": item.custom_id,
            "method": "POST",
            "url": self._endpoint,
            "body": {**item.body, **own},
        }
        return encode_body(line) + b"\n"

    def _url(self, *path: str) -> str:
        below = "/".join(quote(part, safe="") for part in path)
        return urlunsplit(self._parts._replace(path=f"{self._base}/{below}"))


def upload_form(filename: str, content: bytes) -> tuple[bytes, str]:
    """A file for batches as `multipart/form-data`: the body and its content type."""
    boundary = hashlib.sha256(content).hexdigest()  # no content can hold its own digest
    parts = [
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
    head = "\r\n".join(parts).encode()
    return head + content + f"\r\n--{boundary}--\r\n".encode(), (
        f"multipart/form-data; boundary={boundary}"
    )


def _item_reply(line: _Line) -> ItemReply:
    """A line without a response is of a request that was not sent: the batch expired, say."""
    if line.response is None:
        return ItemReply(custom_id=line.custom_id, status=None, body={"error": line.error or {}})
    return ItemReply(
        custom_id=line.custom_id, status=line.response.status_code, body=line.response.body
    )


def _reasons(batch: Json) -> str:
    errors = batch.get("errors")
    listed = errors.get("data") if isinstance(errors, dict) else None
    said = [e.get("message") for e in listed or [] if isinstance(e, dict)]
    return "; ".join(str(message) for message in said[:3] if message)
