"""The border to HTTP services."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from agentv.errors import ProviderError, ProviderTimeout
from agentv.model.http import HttpReply, HttpRequest

if TYPE_CHECKING:
    import aiohttp


class Http:
    """Sends requests (see `agentv.protocols.HttpSender`); an async context manager.

    Connections are kept and shared. How many there are is up to whoever sends: workers bound the
    work, so the pool has no limit of its own.
    """

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def send(self, request: HttpRequest) -> HttpReply:
        """Send once and read the reply to its end. Redirects are replies: they could leak a key.

        Raises:
            ProviderTimeout: A limit was reached.
            ProviderError: There is no whole reply; its kind is `connection`.
        """
        import aiohttp  # Takes longer to import than most commands take to run.

        limits = aiohttp.ClientTimeout(
            total=request.total_seconds,
            sock_connect=request.connect_seconds,
            sock_read=request.read_seconds,
        )
        try:
            async with self._open().request(
                request.method,
                request.url,
                headers=request.headers,
                data=request.body or None,
                timeout=limits,
                allow_redirects=False,
            ) as response:
                body = await response.read()
                headers = {name.lower(): value for name, value in response.headers.items()}
                return HttpReply(status=response.status, headers=headers, body=body)
        except TimeoutError as error:
            raise ProviderTimeout(_limit_reached(request)) from error
        except (aiohttp.ClientError, ValueError, OSError) as error:
            reason = str(error) or type(error).__name__
            raise ProviderError(f"no answer: {reason}", kind="connection") from error

    def _open(self) -> "aiohttp.ClientSession":
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=True,
            )
        return self._session


async def probe(url: str, *, timeout_seconds: float) -> int:
    """The status of a GET request, redirects followed; the body is not read.

    Raises:
        ProviderTimeout: No answer came in time.
        ProviderError: There was no answer at all; its kind is `connection`.
    """
    import aiohttp

    limit = aiohttp.ClientTimeout(total=timeout_seconds)
    try:
        async with aiohttp.ClientSession(timeout=limit) as session, session.get(url) as response:
            return response.status
    except TimeoutError as error:
        raise ProviderTimeout(f"no answer within {timeout_seconds:g} s") from error
    except (aiohttp.ClientError, ValueError, OSError) as error:
        reason = str(error) or type(error).__name__
        raise ProviderError(f"no answer: {reason}", kind="connection") from error


def _limit_reached(request: HttpRequest) -> str:
    if request.total_seconds is not None:
        return f"no whole answer within {request.total_seconds:g} s"
    return "no answer in time"
