"""Whether refusals come from going too fast at all.

Some services refuse by chance, or each request once. Slowing down changes nothing then, and a pace
that is cut by each refusal would come to a standstill.
"""

from math import inf

from agentv.transport.stretch import Stretch

_STRETCHES = 4
"""In a row with refusals: each time the pace was set below what had been accepted."""
_SLOW_RATE = 0.25
_SLOW_REPLIES = 8
"""Or a pace this much slower than before, which so many replies tell."""
_UNHELPED_SHARE = 0.5
"""Of the share of refusals that there was: with less, slowing down has helped."""
_UNUSUAL = 3.0
"""Times the usual share: more refusals are overload all the same."""
_SECONDS = 30.0
"""How long refusals are then put up with; the next time twice as long."""


class Doubt:
    """Compares refusals before and after slowing down."""

    def __init__(self) -> None:
        self.stretches = 0
        """With refusals, since the last one with hardly any."""
        self._first_share = 0.0
        """Of refusals, in the first of these."""
        self._rate = 0.0
        """The highest of these."""
        self._usual_share = 0.0
        """Of refusals that slowing down has not helped against, …"""
        self._until = -inf
        """… which are put up with until then."""
        self._seconds = _SECONDS

    def refusals(self, stretch: Stretch, rate: float) -> None:
        """A stretch had refusals, at so many requests a second."""
        self.stretches += 1
        if self.stretches == 1:
            self._first_share, self._rate = stretch.refused_new_share, 0.0
        self._rate = max(self._rate, rate)

    def hardly_any(self) -> None:
        """A stretch had none to speak of."""
        self.stretches = 0

    def is_justified(self, stretch: Stretch, limit: float) -> bool:
        """Whether slowing down has not helped, at so many requests a second now."""
        is_slow = limit < _SLOW_RATE * self._rate and stretch.replies >= _SLOW_REPLIES
        is_tried = self.stretches > _STRETCHES or (self.stretches > 0 and is_slow)
        return is_tried and stretch.refused_new_share >= _UNHELPED_SHARE * self._first_share

    def put_up(self, now: float, stretch: Stretch) -> None:
        """From now on such a share of refusals is usual, for some time."""
        self.stretches = 0
        self._usual_share = stretch.refused_share
        self._until = now + self._seconds
        self._seconds *= 2

    def is_usual(self, now: float, stretch: Stretch) -> bool:
        """Whether there are no more refusals than there are in any case."""
        return now < self._until and stretch.refused_share <= _UNUSUAL * self._usual_share
