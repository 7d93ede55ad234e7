"""The slim side of a row: what totals are computed from, without answers, prompts and traces."""

import msgspec

from agentv.model.base import Record
from agentv.model.result import Verdict
from agentv.model.score import Usage


class ErrorView(Record, frozen=True, kw_only=True, gc=False):
    """`ErrorInfo` without its detail."""

    kind: str
    message: str


class AskedView(Record, frozen=True, kw_only=True, gc=False):
    """That a judge was asked, and which."""

    target: str | None = None


class EvaluatorView(Record, frozen=True, kw_only=True, gc=False):
    """`EvaluatorResult` without its texts."""

    name: str
    type: str
    score: float
    raw_score: float | None = None
    error: str | None = None
    error_kind: str | msgspec.UnsetType = msgspec.UNSET
    parse_error: str | None = None
    evaluator_provider_request: AskedView | None = None
    usage: Usage | None = None
    cached: bool | msgspec.UnsetType = msgspec.UNSET


class RowView(Record, frozen=True, kw_only=True, gc=False):
    """`TrialResult` as far as a summary looks at it; the rest of the line is skipped unread."""

    eval_id: str
    dataset: str
    suite: str
    target: str
    trial: int
    verdict: Verdict
    score: float | None
    misses: tuple[str, ...] = ()
    duration_ms: float
    attempts: int
    error: ErrorView | None = None
    evaluator_results: tuple[EvaluatorView, ...] = ()
    usage: Usage | None = None
    cached: bool | msgspec.UnsetType = msgspec.UNSET
    dry_run: bool | msgspec.UnsetType = msgspec.UNSET
