"""The border to HTTP services."""

from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from agentv.errors import ProviderError, ProviderTimeout
from agentv.model.http import HttpReply, HttpRequest

if TYPE_CHECKING:
    import aiohttp
    from yarl import URL

_NEVER_ROUNDED = float("inf")
"""Time limits of more than 5 s would be rounded up to a whole second."""
_LONGEST_REASON = 500


class Http:
    """Sends requests (see `agentv.protocols.HttpSender`); an async context manager.

    Connections are kept and shared. How many there are is up to whoever sends: workers bound the
    work, so the pool has no limit of its own.
    """

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None
        self._proxies: dict[tuple[str, str | None], dict[str, Any]] = {}

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
        from yarl import URL

        try:
            url = URL(request.url)
            async with self._open().request(
                request.method,
                url,
                headers=request.headers,
                data=request.body or None,
                timeout=aiohttp.ClientTimeout(
                    total=request.total_seconds,
                    connect=request.connect_seconds,
                    sock_read=request.read_seconds,
                    ceil_threshold=_NEVER_ROUNDED,
                ),
                allow_redirects=False,
                **self._proxy(url),
            ) as response:
                body = await response.read()
                headers = {name.lower(): value for name, value in response.headers.items()}
                return HttpReply(status=response.status, headers=headers, body=body)
        except TimeoutError as error:
            raise ProviderTimeout(_limit_reached(error, request)) from error
        except (aiohttp.ClientError, ValueError, OSError) as error:
            raise _no_reply(error) from error

    def _open(self) -> "aiohttp.ClientSession":
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, timeout_ceil_threshold=_NEVER_ROUNDED),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    def _proxy(self, url: "URL") -> dict[str, Any]:
        """The proxy that the environment names for a host, found once.

        The library's own `trust_env` would look it up in a thread for each request, and would also
        send what `.netrc` says of the host in place of our key.
        """
        from aiohttp.helpers import get_env_proxy_for_url

        origin = (url.scheme, url.host)
        if origin not in self._proxies:
            try:
                proxy, auth = get_env_proxy_for_url(url)
                self._proxies[origin] = {"proxy": proxy, "proxy_auth": auth}
            except LookupError:
                self._proxies[origin] = {}
        return self._proxies[origin]


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
        raise _no_reply(error) from error


def _no_reply(error: Exception) -> ProviderError:
    import aiohttp

    # What it says of a reply that is no HTTP has several lines, with a status that nobody sent.
    said = error.message if isinstance(error, aiohttp.ClientResponseError) else str(error)
    reason = " ".join(said.split())[:_LONGEST_REASON] or type(error).__name__
    return ProviderError(f"no answer: {reason}", kind="connection")


def _limit_reached(error: TimeoutError, request: HttpRequest) -> str:
    import aiohttp

    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return f"no connection within {request.connect_seconds:g} s"
    if isinstance(error, aiohttp.SocketTimeoutError):
        return f"nothing came for {request.read_seconds:g} s"
    return f"no whole answer within {request.total_seconds:g} s"
