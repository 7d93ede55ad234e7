"""Requests that say on whose behalf they are made."""

from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.protocols import Provider
from agentv.transport.cassettes.asker import ask_for


class AttributedProvider:
    """A provider whose exchanges are recorded as its trial's, and found again as such."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        """Ask, in the name of the request's trial."""
        ask_for(request.eval_id, request.trial)
        return await self._provider.respond(request)
