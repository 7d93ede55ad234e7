"""A request to an HTTP service and its reply."""

from collections.abc import Mapping

from agentv.model.base import Record


class HttpRequest(Record, frozen=True, kw_only=True):
    """What to send, and within which limits."""

    method: str = "POST"
    url: str
    headers: Mapping[str, str]
    body: bytes = b""
    connect_seconds: float | None = None
    read_seconds: float | None = None
    """Longest silence while the reply comes in."""
    total_seconds: float | None = None


class HttpReply(Record, frozen=True, kw_only=True):
    """A reply that arrived whole, whatever its status."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def is_success(self) -> bool:
        """Whether its status says that all went well."""
        return 200 <= self.status <= 299
