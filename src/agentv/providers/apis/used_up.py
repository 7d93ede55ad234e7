"""Refusals that no waiting mends, although their status says "too many requests".

What is used up is not a minute's share but money, or what a day or a month allows. Vendors say so
in codes, save where only their words tell.
"""

from typing import Any

from agentv.providers.apis.wire import Json, ReplyError

_CODES = frozenset(
    [
        # OpenAI: https://developers.openai.com/api/docs/guides/error-codes
        *("insufficient_quota", "credit_balance_exhausted", "organization_usage_limit_exceeded"),
        *("organization_spend_limit_exceeded", "project_spend_limit_exceeded"),
        *("billing_hard_limit_reached", "billing_not_active"),
        # Anthropic: https://platform.claude.com/docs/en/api/errors
        "enforced_spend_limit_reached",
    ]
)
_WORDS = (
    "monthly spend limit",  # Anthropic
    *("credits are depleted", "monthly spending cap"),  # Google
    "request too large for",  # OpenAI: it alone is more than a minute's tokens
)
_DAILY = "PerDay"
"""In the names of Google's quotas. Its `retryDelay` is short all the same, until the next minute
begins; the quota is there again at midnight."""


def is_used_up(said: ReplyError, reply: Json) -> bool:
    """Whether somebody must pay, raise a limit, or come back another day.

    Args:
        said: The error as its vendor's adapter reads it.
        reply: The whole body.
    """
    error = reply.get("error")
    details = error.get("details") if isinstance(error, dict) else None
    type_ = error.get("type") if isinstance(error, dict) else None
    codes = (said.code, type_, *_codes(details))
    if any(isinstance(code, str) and code in _CODES for code in codes):
        return True
    words = said.message.lower()
    return any(sign in words for sign in _WORDS) or any(map(_is_daily, _violations(details)))


def _codes(details: Any) -> list[Any]:
    """Anthropic's `details: {error_code}`."""
    return [details.get("error_code")] if isinstance(details, dict) else []


def _violations(details: Any) -> list[Any]:
    """Those of each `QuotaFailure` among Google's details."""
    found: list[Any] = []
    for detail in details if isinstance(details, list) else ():
        violations = detail.get("violations") if isinstance(detail, dict) else None
        found += violations if isinstance(violations, list) else []
    return found


def _is_daily(violation: Any) -> bool:
    return isinstance(violation, dict) and _DAILY in str(violation.get("quotaId"))
