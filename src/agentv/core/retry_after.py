"""How long a service asks us to wait, in every standard form."""

from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime


def retry_after_seconds(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds from now; `None` when the reply does not say.

    Args:
        headers: Of the reply, names in lower case.
        now: Seconds since the epoch; dates are held against it.

    `retry-after-ms` (milliseconds) wins over `retry-after`, which is seconds or an HTTP date.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = headers.get("retry-after")
    if given is None:
        return None
    seconds = _number(given)
    return seconds if seconds is not None else _until(given, now)


def _until(date: str, now: float) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(moment.timestamp() - now, 0.0)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None
