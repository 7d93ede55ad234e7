"""How fast requests may start, learned from what a service answers.

A service that is overloaded and one that refuses now and then must be told apart: slowing down
helps the first, and only costs time with the second. So a pace begins *open*, and a refusal alone
concerns nobody but the request that got it. The replies are counted in short stretches of time:

- If many are refused, that is overload. Everybody pauses, and then goes on at the rate at which
  requests were accepted.
- If some are refused for a while, slowing down is tried. If that does not help, the pace is open
  again for some time.

A pace that is kept is cut a little by each refusal. It grows back steeply, lingers about the rate
at which it was last refused, and then grows ever faster, as the congestion control CUBIC does
(RFC 9438): most of the time is spent close below what the service allows.
"""

from dataclasses import dataclass
from math import inf

from agentv.transport.bucket import Bucket

_STRETCH_SECONDS = 2.0
_STRETCH_REPLIES = 20
_REST_REQUESTS = 3
_MANY = 10
_MANY_SHARE = 1 / 3
_SOME = 2
_SOME_SHARE = 0.04
_HARDLY_ANY_SHARE = 0.02
_PAUSE_SECONDS = 1.0
"""For services that do not say how long."""
_CUT = 0.1
_CUT_EVERY_SECONDS = 1.0
_PLATEAU_REQUESTS = 200
"""From a cut until the old rate is reached again: each probe beyond it may cost a refusal."""
_PLATEAU_SECONDS = (10.0, 60.0)
"""At least and at most that long."""
_EVIDENCE = 10
"""Accepted requests that make a rate; with fewer it is a guess, and grows …"""
_DOUBLING_SECONDS = 2.0
"""… this quickly until it is refused, …"""
_DOUBLINGS = 20
"""… so often at most."""
_OPEN_AT = 10.0
"""Times the rate that is made use of: then it is no limit any more."""
_SUSPICIOUS = 2
_FUTILE = 4
"""Stretches in a row with refusals: each time the pace was set below what had been accepted."""
_UNMOVED_SECONDS = 30.0
"""How long refusals are then put up with; the next time twice as long."""
_BURST_SECONDS = 0.1
"""What may be caught up: timers are late, and a slot that was missed would be lost."""
_SLOWEST = 0.05


@dataclass
class _Stretch:
    """What happened since a moment."""

    began: float = inf
    """Infinity until the first request starts."""
    started: int = 0
    succeeded: int = 0
    refused: int = 0

    @property
    def replies(self) -> int:
        return self.succeeded + self.refused

    @property
    def accepted(self) -> int:
        """Requests that succeeded or will: a refusal comes at once, an answer takes its time."""
        return max(self.succeeded, self.started - self.refused)

    def is_over(self, now: float) -> bool:
        return now - self.began >= _STRETCH_SECONDS and self.replies >= _STRETCH_REPLIES

    def has_many_refusals(self) -> bool:
        """Held against all that was sent, as the answers are still to come."""
        return self.refused >= max(_MANY, _MANY_SHARE * max(self.started, self.replies))

    def has_some_refusals(self) -> bool:
        return self.refused >= max(_SOME, _SOME_SHARE * self.replies)

    def has_hardly_any(self) -> bool:
        return self.refused <= _HARDLY_ANY_SHARE * self.replies


class Pace:
    """The rate at which requests start. Times are seconds on any clock that only goes forward."""

    def __init__(self) -> None:
        self._stretch = _Stretch()
        self._last_start = -inf
        self._pause: _Pause | None = None
        self._limit: float | None = None
        """Requests a second at which refusals began; `None` while the pace is open."""
        self._limit_is_guessed = False
        self._cut_at = -inf
        self._bucket = Bucket(1.0, 1.0)
        self._troubled = 0
        """Stretches with refusals, since the last one with hardly any."""
        self._unmoved_until = -inf
        """Until then, refusals are taken for what cannot be helped."""
        self._unmoved_seconds = _UNMOVED_SECONDS

    def rate(self, now: float) -> float | None:
        """Requests a second; `None` when the pace is open."""
        if self._limit is None:
            return None
        since = now - self._cut_at
        if self._limit_is_guessed:
            return self._limit * 2 ** min(since / _DOUBLING_SECONDS, _DOUBLINGS)
        shortest, longest = _PLATEAU_SECONDS
        plateau = min(max(_PLATEAU_REQUESTS / self._limit, shortest), longest)
        return max(self._limit * (1 + _CUT * (since / plateau - 1) ** 3), _SLOWEST)

    def wait(self, now: float) -> float:
        """Seconds until the next request may start; 0 when it may start now."""
        self._resume(now)
        if self._pause is not None:
            return self._pause.until - now
        return 0.0 if self._limit is None else self._tuned(now).wait(now)

    def start(self, now: float) -> None:
        """A request starts."""
        rest = _STRETCH_SECONDS
        if self._limit is not None:
            bucket = self._tuned(now)
            bucket.take(now)
            rest = max(rest, _REST_REQUESTS / bucket.rate)
        if now - self._last_start > rest:
            self._stretch = _Stretch(now)  # in an idle lane time passes without successes
        self._stretch.started += 1
        self._last_start = now

    def succeeded(self, now: float) -> None:
        """A request was answered."""
        self._resume(now)
        self._stretch.succeeded += 1
        if self._pause is None:
            self._conclude(now)

    def refused(self, now: float, wait_seconds: float | None) -> None:
        """A request was too much; the service asked for a wait, or did not say."""
        self._resume(now)
        self._stretch.refused += 1
        if self._pause is not None:
            return  # it was sent before the pause
        if self._stretch.has_many_refusals() and now >= self._unmoved_until:
            seconds = _PAUSE_SECONDS if wait_seconds is None else wait_seconds
            self._pause = _Pause(began=now, until=now + seconds)
            return
        rate = self.rate(now)
        if rate is not None and now - self._cut_at >= _CUT_EVERY_SECONDS:
            self._slow_down(now, rate)
        self._conclude(now)

    def _resume(self, now: float) -> None:
        """After a pause: go on at the rate at which requests were accepted before it."""
        pause, before = self._pause, self._stretch
        if pause is None or now < pause.until:
            return
        known = self.rate(pause.began)
        # A pace that was open may have sent a whole second's worth at once.
        seconds = max(pause.began - before.began, 1.0 if known is None else 0.1)
        if before.accepted:
            self._slow_down(pause.until, before.accepted / seconds)
        elif known is not None:
            self._slow_down(pause.until, known / 2)
        self._limit_is_guessed = before.accepted < _EVIDENCE
        self._pause = None
        self._stretch = _Stretch(pause.until)
        self._troubled += 1
        self._give_up_if_futile(now)

    def _slow_down(self, at: float, limit: float) -> None:
        self._limit = limit
        self._limit_is_guessed = False
        self._cut_at = at

    def _conclude(self, now: float) -> None:
        """At the end of a stretch: does the pace fit?"""
        stretch = self._stretch
        if not stretch.is_over(now):
            return
        self._stretch = _Stretch(now)
        succeeded = stretch.succeeded / (now - stretch.began)
        rate = self.rate(now)
        if stretch.has_some_refusals() and now >= self._unmoved_until:
            self._troubled += 1
            if rate is not None or self._troubled >= _SUSPICIOUS:
                self._slow_down(now, succeeded)
                self._give_up_if_futile(now)
        elif stretch.has_hardly_any():
            self._troubled = 0
            if rate is not None and rate > _OPEN_AT * succeeded:
                self._limit = None

    def _give_up_if_futile(self, now: float) -> None:
        if self._troubled > _FUTILE:
            self._limit = None
            self._troubled = 0
            self._unmoved_until = now + self._unmoved_seconds
            self._unmoved_seconds *= 2

    def _tuned(self, now: float) -> Bucket:
        rate = self.rate(now) or 1.0
        self._bucket.retune(now, rate, max(rate * _BURST_SECONDS, 1.0))
        return self._bucket


@dataclass(frozen=True)
class _Pause:
    """Nothing is sent meanwhile."""

    began: float
    until: float
