"""What an adapter for one vendor's batch endpoints is: how a batch is made, watched and read."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Generic, Protocol, TypeVar

import msgspec

from agentv.errors import ProviderError
from agentv.model.base import Record
from agentv.providers.apis.wire import Json

Shape = TypeVar("Shape", bound=Record)


class BatchFailed(ProviderError):  # noqa: N818 - says what happened to the batch
    """The vendor gave a batch up as a whole; none of its requests was answered."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="batch")


class PerhapsMade(ProviderError):  # noqa: N818 - says what happened to the batch
    """A batch was asked for, and how that ended is not known: only a look can tell."""


class BatchLimits(Record, frozen=True, kw_only=True):
    """What one batch may hold."""

    requests: int
    size: int
    """Bytes, of all requests together."""


class BatchItem(Record, frozen=True, kw_only=True):
    """One request of a batch."""

    custom_id: str
    """Unique in its batch, of letters, digits, `-` and `_`, at most 64 of them; the vendor gives it
    back."""
    body: bytes
    """What would be sent if it were sent singly: JSON."""


class Asked(Record, frozen=True, kw_only=True):
    """A batch that was asked for, whether or not it was made: what it can be found by."""

    key: str
    """Of letters and digits; no other batch has it."""
    at: datetime
    """UTC, by this machine's clock."""
    size: int
    """Requests in it."""
    file: str | None = None
    """What was uploaded for it."""


class Found(Record, frozen=True, kw_only=True):
    """A batch in a vendor's list."""

    batch_id: str
    is_sure: bool
    """Whether it can be no other; else only the custom ids in its results will tell."""


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

    custom_id: str | None
    """`None` where the vendor does not say; the replies then are in the requests' order."""
    answer: Json | msgspec.Raw | None = None
    """As if it had been sent singly; `None` if it was not answered."""
    failure: str = ""
    """Why not, in a word."""


class Lines(Record, Generic[Shape], frozen=True, kw_only=True):
    """A file with one JSON object in a line."""

    read: Sequence[Shape]
    unreadable: int = 0
    """How many lines are none, however often they are fetched."""


class Results(Record, frozen=True, kw_only=True):
    """What came of a batch, in any order; requests that were never begun may be missing."""

    replies: Sequence[ItemReply]
    unreadable: int = 0
    """How many results are not as the API documents them."""


class BatchClient(Protocol):
    """Sends what an adapter asks for, with the target's headers and retries."""

    async def upload(self, url: str, form: bytes, content_type: str) -> Json:
        """Send a file, again if need be: one too many costs nothing.

        Raises:
            ProviderError: The service failed for good.
        """

    async def create(self, url: str, body: bytes) -> Json:
        """Send JSON that makes a batch; again only when surely none was made.

        Raises:
            PerhapsMade: There may be one.
            ProviderError: There is none.
        """

    async def get(self, url: str, *, patient: bool = True) -> Json:
        """Ask until there is a reply; a patient caller does so for as long as it takes.

        Raises:
            ProviderError: The service refused; its kind is `http_<status>`.
        """

    async def lines(self, url: str, shape: type[Shape]) -> Lines[Shape]:
        """Like `get`, for a file with one JSON object in a line."""

    async def rest(self, seconds: float) -> None:
        """Wait between two looks; a replay does not."""


class BatchApi(Protocol):
    """One vendor's batch endpoints."""

    @property
    def limits(self) -> BatchLimits:
        """What one batch may hold."""

    def adapted(self, body: Json) -> Json:
        """The body of a single request as it is in a batch."""

    async def upload(self, items: Iterable[BatchItem], key: str, client: BatchClient) -> str | None:
        """Hand over what a batch is made of; nothing runs yet and nothing is paid.

        Args:
            items: At least one, within the limits; hundreds of megabytes, perhaps, that are
                written anew each time they are gone through.
            key: No other batch has it.
            client: To send with.

        Returns:
            The id of what was uploaded; `None` where the requests go along with `create`.
        """

    async def create(self, items: Iterable[BatchItem], asked: Asked, client: BatchClient) -> str:
        """Make a batch and return its id.

        Args:
            items: As for `upload`.
            asked: Kept by the vendor where it has a place for it.
            client: To send with.
        """

    async def find(self, asked: Asked, client: BatchClient) -> Sequence[Found]:
        """Every batch that may be the one that was asked for, the likeliest first.

        Raises:
            ProviderError: The vendor does not list its batches.
        """

    async def status(self, batch_id: str, client: BatchClient) -> BatchStatus:
        """How far it is.

        Raises:
            BatchFailed: It has ended without a single answer, and why.
        """

    async def results(self, ended: BatchStatus, client: BatchClient) -> Results:
        """What came of each request."""
