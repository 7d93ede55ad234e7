"""A service that accepts nothing for a while, and does not say for how long.

Its quota of a minute is used up, say. Each request that asks after it costs one of its retries, so
the pauses grow, and few are sent in between.
"""

from math import inf

_REFUSALS = 20
_SECONDS = 2.0
"""So many in a row, over so long, are not by chance."""
_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 30.0


class Outage:
    """Watches for refusals without an end; those that say how long to wait have one."""

    def __init__(self) -> None:
        self._in_a_row = 0
        self._began = inf
        self._pauses = 0
        """In a row, with nothing accepted between them."""

    @property
    def pause_seconds(self) -> float:
        """How long to pause now."""
        return min(_PAUSE_SECONDS * 2.0 ** min(self._pauses, 10), _LONGEST_PAUSE_SECONDS)

    @property
    def is_known(self) -> bool:
        """Whether nothing was accepted after a pause, either."""
        return self._pauses > 0

    def accepted(self) -> None:
        """The service is there."""
        self._in_a_row = self._pauses = 0

    def refused(self, now: float, *, is_told: bool) -> None:
        """A request was refused; the service said how long to wait, or did not."""
        self._began = now if is_told or not self._in_a_row else self._began
        self._in_a_row = 0 if is_told else self._in_a_row + 1

    def paused(self) -> None:
        """A pause is over before which nothing was accepted."""
        self._pauses += 1

    def goes_on(self, now: float) -> bool:
        """Whether one more refusal is a reason to pause (again)."""
        if self._pauses:
            return True
        return self._in_a_row >= _REFUSALS and now - self._began >= _SECONDS
