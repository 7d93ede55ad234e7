"""The client of HTTP services, over aiohttp.

Importing it takes longer than most commands take to run: see `agentv.transport.http`.
"""

from typing import Any

import aiohttp
from aiohttp.helpers import get_env_proxy_for_url
from yarl import URL

from agentv.errors import ProviderError, ProviderTimeout
from agentv.model.http import HttpReply, HttpRequest

_NEVER_ROUNDED = float("inf")
"""Time limits of more than 5 s would be rounded up to a whole second."""
_LONGEST_REASON = 500


class HttpClient:
    """Connections are kept and shared; made where an event loop runs.

    How many there are is up to whoever sends: workers bound the work, so the pool has no limit of
    its own.
    """

    def __init__(self) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, timeout_ceil_threshold=_NEVER_ROUNDED),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        self._proxies: dict[tuple[str, str | None], dict[str, Any]] = {}

    async def close(self) -> None:
        """Let go of every connection."""
        await self._session.close()

    async def send(self, request: HttpRequest) -> HttpReply:
        """See `agentv.transport.http.Http`."""
        try:
            url = URL(request.url)
            async with self._session.request(
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

    def _proxy(self, url: URL) -> dict[str, Any]:
        """The proxy that the environment names for a host, found once.

        The library's own `trust_env` would look it up in a thread for each request, and would also
        send what `.netrc` says of the host in place of our key.
        """
        origin = (url.scheme, url.host)
        if origin not in self._proxies:
            try:
                proxy, auth = get_env_proxy_for_url(url)
                self._proxies[origin] = {"proxy": proxy, "proxy_auth": auth}
            except LookupError:
                self._proxies[origin] = {}
        return self._proxies[origin]


async def status_of(url: str, *, timeout_seconds: float) -> int:
    """See `agentv.transport.http.probe`."""
    limit = aiohttp.ClientTimeout(total=timeout_seconds)
    try:
        async with aiohttp.ClientSession(timeout=limit) as session, session.get(url) as response:
            return response.status
    except TimeoutError as error:
        raise ProviderTimeout(f"no answer within {timeout_seconds:g} s") from error
    except (aiohttp.ClientError, ValueError, OSError) as error:
        raise _no_reply(error) from error


def _no_reply(error: Exception) -> ProviderError:
    # What it says of a reply that is no HTTP has several lines, with a status that nobody sent.
    said = error.message if isinstance(error, aiohttp.ClientResponseError) else str(error)
    reason = " ".join(said.split())[:_LONGEST_REASON] or type(error).__name__
    return ProviderError(f"no answer: {reason}", kind="connection")


def _limit_reached(error: TimeoutError, request: HttpRequest) -> str:
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return f"no connection within {request.connect_seconds:g} s"
    if isinstance(error, aiohttp.SocketTimeoutError):
        return f"nothing came for {request.read_seconds:g} s"
    return f"no whole answer within {request.total_seconds:g} s"
