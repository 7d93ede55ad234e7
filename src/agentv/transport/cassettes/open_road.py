"""The way to a service that is not there: nobody has to wait."""

from agentv.model.score import Usage


class OpenRoad:
    """Lanes without a pace (see `agentv.protocols.TrafficControl`): recordings take any rate."""

    def lane(
        self, endpoint: str, model: str, *, rpm: float | None = None, tpm: float | None = None
    ) -> "OpenRoad":
        """The same for all."""
        del endpoint, model, rpm, tpm
        return self

    async def enter(self, tokens: int, *, after: float | None = None) -> None:
        """At once, whatever wait the service asked for when it was recorded."""
        del tokens, after

    def left(self) -> None:
        """See `agentv.protocols.Lane`."""

    def succeeded(self) -> None:
        """See `agentv.protocols.Lane`."""

    def used(self, usage: Usage | None, tokens: int) -> None:
        """See `agentv.protocols.Lane`."""

    def refused(self, wait_seconds: float | None, *, again: bool = False) -> None:
        """See `agentv.protocols.Lane`."""
