"""When a used-up rate limit is there again, by the `x-ratelimit-…` headers of a refusal."""

import re
from collections.abc import Mapping

_BUDGETS = ("requests", "tokens")
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")
_IN_SECONDS = (3600.0, 60.0, 1.0, 0.001)


def reset_seconds(headers: Mapping[str, str], refused_for: str | None) -> float | None:
    """Seconds until all that is used up is there again; `None` when the headers do not say.

    Args:
        headers: Of the reply, names in lower case.
        refused_for: The budget that the error names, `requests` or `tokens`; otherwise every one
            counts that has, or may have, nothing left.
    """
    used_up = [
        name for name in _BUDGETS if headers.get(f"x-ratelimit-remaining-{name}", "0") == "0"
    ]
    names = [refused_for] if refused_for in _BUDGETS else used_up
    resets = [headers.get(f"x-ratelimit-reset-{name}", "") for name in names]
    waits = [wait for reset in resets if (wait := duration_seconds(reset)) is not None]
    return max(waits, default=None)


def duration_seconds(text: str) -> float | None:
    """`1s`, `6m0s`, `120ms`, `1h2m3.5s`, or plain seconds; `None` for anything else."""
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    found = _DURATION.fullmatch(text)
    if not text or found is None:
        return None
    return sum(float(n) * unit for n, unit in zip(found.groups("0"), _IN_SECONDS, strict=True))
