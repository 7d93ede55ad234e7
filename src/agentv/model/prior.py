"""What is known of a trial from before: from a run that was cut short, or from another run."""

from agentv.model.base import Record
from agentv.model.request import ProviderResponse
from agentv.model.result import EvaluatorResult


class Prior(Record, frozen=True, kw_only=True):
    """An answer that was had, and what evaluators said of it."""

    response: ProviderResponse
    attempts: int
    duration_ms: float
    """What it took until the answer was there."""
    verdicts: tuple[EvaluatorResult, ...] = ()
    """Those that still hold are taken over; the others are left out of account."""
