"""From what happened in a trial to its row."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from agentv.core.aggregate import aggregate, verdict
from agentv.model.result import ErrorInfo, RawRequest, TrialResult, Verdict
from agentv.model.score import Usage
from agentv.model.trial import Trial
from agentv.runner.attempts import Answer
from agentv.runner.scoring import Scored


def row_of(
    trial: Trial,
    answer: Answer,
    scores: Sequence[Scored],
    *,
    ended: datetime,
    duration_ms: float,
    dry_run: bool = False,
) -> TrialResult:
    """The row of a trial.

    Args:
        trial: What was asked.
        answer: What came of asking.
        scores: What evaluators said; none where there was no answer, or nobody was to judge it.
        ended: In UTC.
        duration_ms: From the first attempt to the last score.
        dry_run: Whether the whole run was a rehearsal; a single answer says so itself.
    """
    case, response = trial.case, answer.response
    rehearsed = dry_run or (response is not None and response.dry_run)
    total = aggregate([(s.options.label, s.options.weight, s.score) for s in scores])
    error = _error_of(trial, answer)
    outcome: Verdict = "error" if error else "skipped"
    if scores:
        outcome = verdict(total, [s.score for s in scores], trial.threshold)
        error = _unjudged(scores) if outcome == "error" else None
    judged = outcome in ("pass", "fail")
    return TrialResult(
        eval_id=case.id,
        dataset=trial.dataset,
        suite=trial.suite,
        conversation_id=case.conversation_id,
        target=trial.target,
        trial=trial.number,
        attempts=answer.attempts,
        timestamp=ended.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        duration_ms=duration_ms,
        verdict=outcome,
        score=total.score if judged else None,
        hits=total.hits,
        misses=total.misses,
        reasoning=total.reasoning,
        candidate_answer=response.text if response and not response.dry_run else None,
        reference_answer=trial.reference_answer,
        raw_request=_raw_request(trial) if trial.problem is None else None,
        evaluator_results=tuple(scored.result() for scored in scores),
        usage=_usage_of(answer),
        trace=_trace_of(answer),
        error=error,
        digest=trial.digest,
        cached=True if response and response.cached else msgspec.UNSET,
        dry_run=True if rehearsed else msgspec.UNSET,
    )


def _error_of(trial: Trial, answer: Answer) -> ErrorInfo | None:
    """Why there is no answer, if there is none."""
    error = answer.error
    if trial.problem is not None or error is None:
        return trial.problem
    return ErrorInfo(kind=error.kind, message=str(error), detail=error.detail)


def _usage_of(answer: Answer) -> Usage | None:
    if answer.response is not None:
        return answer.response.usage
    return answer.error.usage if answer.error is not None else None


def with_artifacts(row: TrialResult, artifacts: Mapping[str, str]) -> TrialResult:
    """The row, with what can be looked at besides."""
    return msgspec.structs.replace(row, artifacts=dict(artifacts)) if artifacts else row


def _trace_of(answer: Answer) -> list[dict[str, Any]] | None:
    last = answer.response or answer.error
    return last.trace if last is not None else None


def _unjudged(scores: Sequence[Scored]) -> ErrorInfo:
    reasons = "; ".join(f"{s.options.label}: {s.score.error}" for s in scores)
    return ErrorInfo(kind="evaluator", message=f"no evaluator could run: {reasons}")


def _raw_request(trial: Trial) -> RawRequest:
    prompt = trial.prompt
    return RawRequest(
        question=prompt.question,
        guidelines=prompt.guidelines,
        guideline_paths=prompt.guideline_paths,
        chat_prompt=prompt.chat_prompt if prompt.chat_prompt is not None else msgspec.UNSET,
        media=prompt.media or msgspec.UNSET,
    )
