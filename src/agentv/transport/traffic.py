"""Politeness towards services: one lane for each endpoint and model."""

from agentv.model.event import LaneState
from agentv.transport.lane import PacedLane


class Traffic:
    """Hands out lanes (see `agentv.protocols.TrafficControl`)."""

    def __init__(self) -> None:
        self._lanes: dict[tuple[str, str], PacedLane] = {}

    def lane(
        self, endpoint: str, model: str, *, rpm: float | None = None, tpm: float | None = None
    ) -> PacedLane:
        """The lane of an endpoint and model; the tightest limits given to it hold."""
        lane = self._lanes.setdefault((endpoint, model), PacedLane(endpoint, model))
        lane.tighten(rpm, tpm)
        return lane

    def waiting(self) -> list[LaneState]:
        """The lanes in which something waits, for a progress display; on the event loop only."""
        states = [lane.state() for lane in self._lanes.values()]
        return [state for state in states if state.waiting]
