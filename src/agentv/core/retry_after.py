"""How long a service asks us to wait, in every standard form."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_CLOCKS_AGREE = (-2.0, 1.0)
"""Seconds by which a reply's `Date` may precede its request, and follow our clock, before one of
the clocks counts as wrong. A `Date` is in whole seconds, and some servers renew it now and then."""


def service_time(headers: Mapping[str, str], *, asked: float, now: float) -> float:
    """What time it is where a reply comes from: by our clock, as long as the reply's agrees.

    Args:
        headers: Of the reply, names in lower case.
        asked: When the request was sent, in seconds since the epoch.
        now: Seconds since the epoch.

    Returns:
        Seconds since the epoch, to hold the reply's dates against. By a clock that is not ours
        they are never too late, so that a wait is at most a second too long and never too short.
    """
    date = _moment(headers.get("date", ""))
    before, after = _CLOCKS_AGREE
    if date is None or asked + before <= date <= now + after:
        return now
    return date


def retry_after_seconds(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds from now; `None` when the reply does not say.

    Args:
        headers: Of the reply, names in lower case.
        now: Seconds since the epoch; dates are held against it (see `service_time`).

    `retry-after-ms` (milliseconds) wins over `retry-after`, which is seconds or an HTTP date.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = headers.get("retry-after")
    if given is None:
        return None
    seconds = _number(given)
    if seconds is not None:
        return seconds
    moment = _moment(given)
    return None if moment is None else max(moment - now, 0.0)


def _moment(date: str) -> float | None:
    """Seconds since the epoch, of an HTTP date in any of its three forms."""
    try:
        parsed: datetime = parsedate_to_datetime(date)
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None
