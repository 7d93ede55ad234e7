"""When to try again: the retry policy of LLM APIs, as functions of what came back."""

from agentv.model.base import Record

DEFAULT_STATUS_CODES = frozenset({408, 429, 500, 502, 503, 504})
NEVER_RETRIED = frozenset({401, 403})
JITTER = (0.75, 1.25)


class RetrySettings(Record, frozen=True, kw_only=True):
    """How often and how soon a failed request is repeated."""

    max_retries: int = 3
    initial_delay_ms: float = 1000.0
    max_delay_ms: float = 60_000.0
    backoff_factor: float = 2.0
    status_codes: frozenset[int] = DEFAULT_STATUS_CODES
    max_retry_after_seconds: float = 900.0
    """A service that asks for a longer wait gets no retry."""

    def retries_status(self, status: int) -> bool:
        """Whether a reply with this status is worth another try; a wrong key never is."""
        return status in self.status_codes and status not in NEVER_RETRIED

    def bears(self, wait_seconds: float | None) -> bool:
        """Whether a wait that a service asks for is waited; none is asked for with `None`."""
        return wait_seconds is None or wait_seconds <= self.max_retry_after_seconds


def backoff_seconds(settings: RetrySettings, retry: int, chance: float) -> float:
    """The pause before a retry that the service did not time itself.

    Args:
        settings: The policy.
        retry: 1 for the first.
        chance: In [0, 1); spreads clients that failed together.
    """
    grown = settings.initial_delay_ms * settings.backoff_factor ** (retry - 1)
    low, high = JITTER
    jittered = min(grown, settings.max_delay_ms) * (low + (high - low) * chance)
    return min(jittered, settings.max_delay_ms) / 1000
