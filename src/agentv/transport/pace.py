"""How fast requests may start, learned from what a service answers.

A service that is overloaded and one that refuses now and then must be told apart: slowing down
helps the first, and only costs time with the second. So a pace begins *open*, and a refusal alone
concerns nobody but the request that got it. The replies are counted in short stretches of time:

- If many are refused, or most of those that were sent once more, that is overload. Everybody
  pauses, and then goes on at the rate at which requests were accepted.
- If some are refused for a while, slowing down is tried. If their share stays what it was, the pace
  is open again for some time, unless many more are refused (`doubt.py`).
- If nothing is accepted any more, the pauses grow, and little is sent between them (`outage.py`).

A pace that is kept is cut a little by each refusal. It grows back steeply, lingers about the rate
at which it was last refused, and then grows ever faster, as the congestion control CUBIC does
(RFC 9438): most of the time is spent close below what the service allows.
"""

from math import inf

import msgspec

from agentv.transport.bucket import Bucket
from agentv.transport.doubt import Doubt
from agentv.transport.outage import Outage
from agentv.transport.stretch import Stretch

_REST_SECONDS = 2.0
_REST_REQUESTS = 3
"""A lane that starts nothing for so long was idle."""
_CUT = 0.05
_CUT_EVERY_SECONDS = 1.0
_GROWTH = 0.1
"""How steeply a pace grows beyond the rate at which it was last refused."""
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
_GUESSED_SHARE = 0.1
_GUESSED_RATE = 1.0
"""Where nothing was accepted: so much of the rate that was too high, and at least so much."""
_OPEN_AT = 10.0
"""Times the rate that is made use of: then it is no limit any more."""
_SUSPICIOUS = 2
"""Stretches with refusals, before an open pace is slowed down."""
_BURST_SECONDS = 0.1
"""What may be caught up: timers are late, and a slot that was missed would be lost."""
_SLOWEST = 0.05


class _Pause(msgspec.Struct, frozen=True):
    """Nothing is sent meanwhile."""

    began: float
    until: float
    is_told: bool
    """Whether the service said how long."""


class Pace:
    """The rate at which requests start. Times are seconds on any clock that only goes forward."""

    def __init__(self) -> None:
        self._stretch = Stretch()
        self._previous: Stretch | None = None
        """The one that ended when this one began."""
        self._last_start = -inf
        self._pause: _Pause | None = None
        self._limit: float | None = None
        """Requests a second at which refusals began; `None` while the pace is open."""
        self._limit_is_guessed = False
        self._cut_at = -inf
        self._bucket = Bucket(1.0, 1.0)
        self._doubt = Doubt()
        self._outage = Outage()

    def rate(self, now: float) -> float | None:
        """Requests a second; `None` when the pace is open."""
        if self._limit is None:
            return None
        since = now - self._cut_at
        if self._limit_is_guessed:
            return self._limit * 2 ** min(since / _DOUBLING_SECONDS, _DOUBLINGS)
        shortest, longest = _PLATEAU_SECONDS
        plateau = min(max(_PLATEAU_REQUESTS / self._limit, shortest), longest)
        beyond = since / plateau - 1
        steepness = _CUT if beyond < 0 else _GROWTH
        return max(self._limit * (1 + steepness * beyond**3), _SLOWEST)

    def wait(self, now: float) -> float:
        """Seconds until the next request may start; 0 when it may start now."""
        self._resume(now)
        if self._pause is not None:
            return self._pause.until - now
        return 0.0 if self._limit is None else self._tuned(now).wait(now)

    def start(self, now: float, *, again: bool = False) -> None:
        """A request starts, perhaps one that has been sent before."""
        rest = _REST_SECONDS
        if self._limit is not None:
            bucket = self._tuned(now)
            bucket.take(now)
            rest = max(rest, _REST_REQUESTS / bucket.rate)
        if now - self._last_start > rest:
            self._begin_stretch(now)  # in an idle lane time passes without successes
        self._stretch.started += 1
        self._stretch.started_again += again
        self._last_start = now

    def succeeded(self, now: float) -> None:
        """A request was answered."""
        self._resume(now)
        self._outage.accepted()
        self._stretch.succeeded += 1
        if self._pause is None:
            self._conclude(now)

    def refused(self, now: float, wait_seconds: float | None, *, again: bool = False) -> None:
        """A request was too much; the service asked for a wait, or did not say.

        Args:
            now: The time.
            wait_seconds: How long it asked us to wait.
            again: Whether the request had been sent before.
        """
        self._resume(now)
        self._stretch.refused += 1
        self._stretch.refused_again += again
        if self._pause is not None:
            return  # it was sent before the pause
        is_told = wait_seconds is not None
        self._outage.refused(now, is_told=is_told)
        if self._outage.goes_on(now) or self._is_overload(now):
            seconds = self._outage.pause_seconds if wait_seconds is None else wait_seconds
            self._pause = _Pause(began=now, until=now + seconds, is_told=is_told)
            return
        rate = self.rate(now)
        if rate is not None and now - self._cut_at >= _CUT_EVERY_SECONDS:
            self._slow_down(now, rate)
            self._open_if_in_doubt(now, self._stretch)
        self._conclude(now)

    def _is_overload(self, now: float) -> bool:
        return self._stretch.has_many_refusals() and not self._doubt.is_usual(now, self._stretch)

    def _resume(self, now: float) -> None:
        """After a pause: go on at the rate at which requests were accepted before it."""
        pause, before = self._pause, self._stretch
        if pause is None or now < pause.until:
            return
        known = self.rate(pause.began)
        accepted, began = before.accepted, before.began
        if known is None and self._previous is not None:
            accepted, began = accepted + self._previous.accepted, self._previous.began
        # A pace that was open may have sent a whole second's worth at once.
        seconds = max(pause.began - began, 1.0 if known is None else 0.1)
        if accepted:
            self._slow_down(pause.until, accepted / seconds)
        elif known is not None or self._outage.is_known:
            too_high = known or before.started / seconds
            self._slow_down(pause.until, max(too_high * _GUESSED_SHARE, _GUESSED_RATE))
        if not accepted and not pause.is_told:
            self._outage.paused()
        self._limit_is_guessed = accepted < _EVIDENCE
        self._pause = None
        self._begin_stretch(pause.until)
        self._doubt.refusals(before, accepted / seconds)
        self._open_if_in_doubt(now, before)

    def _conclude(self, now: float) -> None:
        """At the end of a stretch: does the pace fit?"""
        stretch = self._stretch
        if not stretch.is_over(now):
            return
        self._begin_stretch(now, after=stretch)
        succeeded = stretch.succeeded / (now - stretch.began)
        rate = self.rate(now)
        if stretch.has_some_refusals() and not self._doubt.is_usual(now, stretch):
            self._doubt.refusals(stretch, succeeded)
            if rate is not None or self._doubt.stretches >= _SUSPICIOUS:
                self._slow_down(now, succeeded)
                self._open_if_in_doubt(now, stretch)
        elif stretch.has_hardly_any():
            self._doubt.hardly_any()
            if rate is not None and rate > _OPEN_AT * succeeded:
                self._limit = None

    def _begin_stretch(self, now: float, *, after: Stretch | None = None) -> None:
        self._stretch, self._previous = Stretch(now), after

    def _slow_down(self, at: float, limit: float) -> None:
        self._limit = limit
        self._limit_is_guessed = False
        self._cut_at = at

    def _open_if_in_doubt(self, now: float, stretch: Stretch) -> None:
        if self._limit is not None and self._doubt.is_justified(stretch, self._limit):
            self._limit = None
            self._doubt.put_up(now, stretch)

    def _tuned(self, now: float) -> Bucket:
        rate = self.rate(now) or 1.0
        self._bucket.retune(now, rate, max(rate * _BURST_SECONDS, 1.0))
        return self._bucket
