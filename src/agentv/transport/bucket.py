"""A rate limit that allows short bursts: a token bucket."""

_ROUNDING = 1e-9


class Bucket:
    """Holds back what would exceed a rate.

    Args:
        rate: Amount a second.
        burst: Amount that may go at once after a rest; the bucket starts rested.
    """

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = burst
        self._level = burst
        self._at = 0.0

    @property
    def rate(self) -> float:
        """Amount a second."""
        return self._rate

    def retune(self, now: float, rate: float, burst: float) -> None:
        """Go on at another rate, from the level reached so far."""
        self._level = min(self._filled(now), burst)
        self._at = now
        self._rate = rate
        self._burst = burst

    def wait(self, now: float, amount: float = 1.0) -> float:
        """Seconds until an amount may go; 0 when it may go now.

        More than a burst goes as soon as the bucket is full; what follows waits the longer.
        """
        missing = min(amount, self._burst) - self._filled(now)
        return missing / self._rate if missing > _ROUNDING else 0.0

    def take(self, now: float, amount: float = 1.0) -> None:
        """An amount goes."""
        self._level = self._filled(now) - amount
        self._at = now

    def _filled(self, now: float) -> float:
        return min(self._burst, self._level + max(now - self._at, 0.0) * self._rate)
