"""What an adapter for one API is: how a request is written and how a reply is read."""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from agentv.model.base import Record
from agentv.model.request import ProviderRequest, ProviderResponse

Json = dict[str, Any]


class Call(Record, frozen=True, kw_only=True):
    """One request as the vendor documents it."""

    url: str
    headers: Mapping[str, str]
    body: Json


class ReplyError(Record, frozen=True, kw_only=True):
    """What a vendor says went wrong."""

    message: str
    code: str | None = None
    param: str | None = None
    """The key of the request that it is about."""
    kind: str | None = None
    """The error's kind, where the words tell more than the status: a content filter, say."""
    refuses_key: bool = False
    """Whether they say that the API key is no good, where the status does not."""


class Wire(Protocol):
    """One API. Pure: no I/O, so its whole format can be tested as tables."""

    @property
    def endpoint(self) -> str:
        """Scheme and host: with `model` it names the lane that requests share."""

    @property
    def model(self) -> str: ...

    def call(self, request: ProviderRequest) -> Call:
        """The request as it goes over the wire."""

    def read(self, reply: Json) -> ProviderResponse:
        """The answer of a successful reply.

        Raises:
            ProviderError: There is none: a refusal, a content filter, a length cut-off, an empty
                answer. Its kind says which: `refusal`, `filtered`, `cut_off`, `empty`,
                `malformed`.
        """

    def read_error(self, reply: Json) -> ReplyError | None:
        """What the vendor says in the body of a failed reply."""

    def retry_after(
        self, headers: Mapping[str, str], reply: Json | None, now: float
    ) -> float | None:
        """Seconds that the vendor asks us to wait, beyond the standard `Retry-After`."""


@runtime_checkable
class Adjustable(Protocol):
    """A wire that learns from a refusal what its model does not take."""

    def adjusted(self, request: ProviderRequest, said: ReplyError) -> Wire | None:
        """The wire whose request would not be refused for this reason.

        `None` when the fault is not ours to mend. What is adjusted over and over ends at `None`.
        """
