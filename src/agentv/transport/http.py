"""The border to HTTP services."""

from agentv.errors import ProviderError, ProviderTimeout


async def probe(url: str, *, timeout_seconds: float) -> int:
    """The status of a GET request, redirects followed; the body is not read.

    Raises:
        ProviderTimeout: No answer came in time.
        ProviderError: There was no answer at all; its kind is `connection`.
    """
    import aiohttp  # Takes longer to import than most commands take to run.

    limit = aiohttp.ClientTimeout(total=timeout_seconds)
    try:
        async with aiohttp.ClientSession(timeout=limit) as session, session.get(url) as response:
            return response.status
    except TimeoutError as error:
        raise ProviderTimeout(f"no answer within {timeout_seconds:g} s") from error
    except (aiohttp.ClientError, ValueError, OSError) as error:
        reason = str(error) or type(error).__name__
        raise ProviderError(f"no answer: {reason}", kind="connection") from error
