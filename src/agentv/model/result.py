"""What one finished trial leaves: a row of `results.jsonl`."""

from typing import Any, Literal

import msgspec

from agentv.model.base import Record
from agentv.model.request import ChatMessage, PlacedMedia
from agentv.model.score import Usage

Verdict = Literal["pass", "fail", "error", "skipped"]
"""`error`: no answer could be had, or no evaluator could run. Not a score of 0."""


class ErrorInfo(Record, frozen=True, kw_only=True):
    """Why a trial has no answer or no score."""

    kind: str
    message: str
    detail: str | None = None


class RawRequest(Record, frozen=True, kw_only=True):
    """What the candidate was sent."""

    question: str
    guidelines: str
    guideline_paths: tuple[str, ...]
    chat_prompt: tuple[ChatMessage, ...] | msgspec.UnsetType = msgspec.UNSET
    media: tuple[PlacedMedia, ...] | msgspec.UnsetType = msgspec.UNSET
    """Images and PDFs that belong into the question: what they are, never their bytes."""


class EvaluatorResult(Record, frozen=True, kw_only=True):
    """One evaluator's part of a row."""

    name: str
    type: str
    score: float
    weight: float
    hits: tuple[str, ...]
    misses: tuple[str, ...]
    reasoning: str | None = None
    raw_score: float | None = None
    """The score before clamping to [0, 1]."""
    evaluator_provider_request: dict[str, Any] | None = None
    error: str | None = None
    parse_error: str | None = None
    duration_ms: float
    usage: Usage | None = None
    cached: bool | msgspec.UnsetType = msgspec.UNSET
    """`true` when the judge's reply came from the response cache."""
    digest: str | msgspec.UnsetType = msgspec.UNSET
    """What shaped this verdict besides the answer: see `agentv.core.digest`."""
    error_kind: str | msgspec.UnsetType = msgspec.UNSET
    """Of `error`, where a judge did not answer: what an `ErrorInfo` would have."""


class TrialResult(Record, frozen=True, kw_only=True):
    """One row: a trial, whole."""

    eval_id: str
    dataset: str
    suite: str
    conversation_id: str | None
    target: str
    trial: int
    attempts: int
    timestamp: str
    """When the trial ended; UTC, ISO 8601."""
    duration_ms: float
    verdict: Verdict
    score: float | None
    """`None` unless the verdict is `pass` or `fail`: not scored is not zero."""
    hits: tuple[str, ...]
    misses: tuple[str, ...]
    reasoning: str | None
    candidate_answer: str | None
    reference_answer: str
    raw_request: RawRequest | None
    evaluator_results: tuple[EvaluatorResult, ...]
    usage: Usage | None
    trace: list[dict[str, Any]] | None
    error: ErrorInfo | None
    digest: str
    """Identity by content: see `agentv.core.digest`."""
    cached: bool | msgspec.UnsetType = msgspec.UNSET
    """`true` when the answer came from the response cache; `usage` is what it once took."""
    dry_run: bool | msgspec.UnsetType = msgspec.UNSET
    """`true` on a row that rehearsed the run and asked nobody."""
    artifacts: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    """Files that an agent left, by what they are: `log`, `workspace`, `diff`."""
