"""The border to HTTP services; what it takes to cross it is imported by the first who does."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from agentv.model.http import HttpReply, HttpRequest

if TYPE_CHECKING:
    from agentv.transport.http_client import HttpClient


class Http:
    """Sends requests (see `agentv.protocols.HttpSender`); an async context manager."""

    def __init__(self) -> None:
        self._client: HttpClient | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._client is not None:
            await self._client.close()

    async def send(self, request: HttpRequest) -> HttpReply:
        """Send once and read the reply to its end. Redirects are replies: they could leak a key.

        Raises:
            ProviderTimeout: A limit was reached.
            ProviderError: There is no whole reply; its kind is `connection`.
        """
        if self._client is None:
            from agentv.transport.http_client import HttpClient

            self._client = HttpClient()
        return await self._client.send(request)


async def probe(url: str, *, timeout_seconds: float) -> int:
    """The status of a GET request, redirects followed; the body is not read.

    Raises:
        ProviderTimeout: No answer came in time.
        ProviderError: There was no answer at all; its kind is `connection`.
    """
    from agentv.transport.http_client import status_of

    return await status_of(url, timeout_seconds=timeout_seconds)
