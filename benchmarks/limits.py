"""Rate limits as services have them: each says of a request that comes now whether it may."""

from collections import Counter, deque
from collections.abc import Callable

Allow = Callable[[float], bool]
"""Takes the time in seconds."""


def bucket(rate: int) -> Allow:
    """A rest of a second is made up for by as many requests at once."""
    return _bucket(rate, rate)


def even(rate: int) -> Allow:
    """Not sooner after the last one than an even spread would have it, as `limit_req` of nginx."""
    return _bucket(rate, 1)


def window(rate: int) -> Allow:
    """So many in each second by the clock."""
    seconds: Counter[int] = Counter()

    def allow(now: float) -> bool:
        seconds[int(now)] += 1
        return seconds[int(now)] <= rate

    return allow


def sliding(rate: int) -> Allow:
    """So many in any second."""
    times: deque[float] = deque(maxlen=rate)

    def allow(now: float) -> bool:
        allowed = len(times) < rate or times[0] <= now - 1
        if allowed:
            times.append(now)
        return allowed

    return allow


def _bucket(rate: int, burst: int) -> Allow:
    level, at = float(burst), 0.0

    def allow(now: float) -> bool:
        nonlocal level, at
        level, at = min(burst, level + (now - at) * rate), now
        allowed = level >= 1
        level -= allowed
        return allowed

    return allow


LIMITS = {limit.__name__: limit for limit in (bucket, even, window, sliding)}
