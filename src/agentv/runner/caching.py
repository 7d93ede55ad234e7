"""Answers that need not be asked for again."""

from collections.abc import Callable

import msgspec

from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.protocols import Provider, ResponseCache


class CachingProvider:
    """A provider that is asked only for what the cache does not have.

    Errors are not kept, nor answers without text: whatever was wrong may be gone the next time.

    Args:
        provider: The one that is asked.
        cache: Where answers are kept.
        key_of: Tells two requests apart that may be answered differently.
    """

    def __init__(
        self, provider: Provider, cache: ResponseCache, key_of: Callable[[ProviderRequest], str]
    ) -> None:
        self._provider = provider
        self._cache = cache
        self._key_of = key_of

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        """The answer that was kept, which then says so, or the provider's own."""
        key = self._key_of(request)
        kept = self._cache.get(key)
        if kept is not None:
            return msgspec.structs.replace(kept, cached=True)
        response = await self._provider.respond(request)
        if response.text.strip():
            self._cache.put(key, response)
        return response
