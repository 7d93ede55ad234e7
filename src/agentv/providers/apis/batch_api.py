"""What an adapter for one vendor's batch endpoints is: how a batch is made, watched and read."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from agentv.errors import ProviderError
from agentv.model.base import Record
from agentv.providers.apis.wire import Json


class BatchFailed(ProviderError):  # noqa: N818 - says what happened to the batch
    """The vendor gave a batch up as a whole; none of its requests was answered."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="batch")


class BatchItem(Record, frozen=True, kw_only=True):
    """One request of a batch."""

    custom_id: str
    """Unique in its batch, of letters, digits and hyphens; the vendor gives it back."""
    body: Json
    """What would be sent if it were sent singly."""


class BatchStatus(Record, frozen=True, kw_only=True):
    """How far a batch is."""

    ended: bool
    word: str
    """The vendor's own word for it."""
    done: int
    """Requests that were answered."""
    failed: int
    """Requests that never will be."""
    reply: Json
    """All that was said, for whoever fetches the results."""


class ItemReply(Record, frozen=True, kw_only=True):
    """What came of one request of a batch."""

    custom_id: str
    status: int | None
    """As if it had been sent singly; `None` if the vendor did not get to it."""
    body: Json
    """As if it had been sent singly: an answer or an error."""


class BatchClient(Protocol):
    """Sends what an adapter asks for, with the target's headers and retries."""

    async def post(self, url: str, body: Json | bytes, content_type: str | None = None) -> Json:
        """Send once JSON, or bytes of some type; the reply.

        Raises:
            ProviderError: The service failed for good.
        """

    async def get(self, url: str) -> Json:
        """Ask until there is a reply: a failure that time can mend does not end a wait.

        Raises:
            ProviderError: The service refused; its kind is `http_<status>`.
        """

    async def lines(self, url: str) -> Sequence[Json]:
        """Like `get`, for a file with one JSON object in a line."""


class BatchApi(Protocol):
    """One vendor's batch endpoints."""

    async def create(self, items: Sequence[BatchItem], label: str, client: BatchClient) -> str:
        """Make a batch and return its id.

        Args:
            items: At least one.
            label: For people who look at their batches, where the vendor keeps one.
            client: To send with.
        """

    async def status(self, batch_id: str, client: BatchClient) -> BatchStatus:
        """How far it is.

        Raises:
            BatchFailed: It has ended without a single answer, and why.
        """

    async def results(self, ended: BatchStatus, client: BatchClient) -> Iterable[ItemReply]:
        """What came of each request, in any order; those that were never begun may be missing."""
