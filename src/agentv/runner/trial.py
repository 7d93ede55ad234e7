"""The story of one trial, from its question to its row."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from agentv.core.aggregate import aggregate, verdict
from agentv.errors import ProviderError
from agentv.model.case import Message
from agentv.model.event import AttemptFailed, Event
from agentv.model.options import EvaluatorOptions
from agentv.model.request import GuidelineSegment, ProviderRequest, ProviderResponse, TextSegment
from agentv.model.result import ErrorInfo, EvaluatorResult, RawRequest, TrialResult, Verdict
from agentv.model.score import EvaluationContext, Usage
from agentv.model.trial import Trial
from agentv.protocols import Evaluator, Provider
from agentv.runner.attempts import Answer, AttemptPolicy, ask
from agentv.runner.scoring import Scored, score_once


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Where trials of one target are run."""

    provider: Provider
    policy: AttemptPolicy
    build_evaluator: Callable[[EvaluatorOptions], Evaluator]
    emit: Callable[[Event], None]
    now: Callable[[], datetime]
    dry_run: bool = False
    """Ask the stand-in provider, score nothing."""


async def run_trial(trial: Trial, bench: Bench) -> TrialResult:
    """Ask, score, conclude. Whatever goes wrong with this trial becomes its row.

    Raises:
        RunAborted: The whole run cannot go on.
    """
    started = time.perf_counter()
    answer = await _obtain_answer(trial, bench)
    if answer.response is None:
        return _row(trial, bench, started, answer, error=_error_of(trial, answer))
    if bench.dry_run:
        return _row(trial, bench, started, answer)
    context = _context(trial, answer.response)
    evaluators = trial.case.evaluators
    scores = [await score_once(options, context, bench.build_evaluator) for options in evaluators]
    return _row(trial, bench, started, answer, scores=scores)


async def _obtain_answer(trial: Trial, bench: Bench) -> Answer:
    if trial.problem is not None:
        return Answer(attempts=0)

    def tell(attempt: int, error: Exception) -> None:
        bench.emit(
            AttemptFailed(
                eval_id=trial.case.id, target=trial.target, attempt=attempt, message=str(error)
            )
        )

    answer = await ask(bench.provider, request_of(trial), bench.policy, tell)
    if answer.response is not None and not answer.response.text.strip():
        # Blank text would satisfy every negated check: it is no answer at all.
        empty = ProviderError("the answer is empty", kind="empty", usage=answer.response.usage)
        return Answer(attempts=answer.attempts, error=empty)
    return answer


def request_of(trial: Trial) -> ProviderRequest:
    """What the candidate is sent on the first attempt."""
    prompt = trial.prompt
    return ProviderRequest(
        eval_id=trial.case.id,
        suite=trial.suite,
        question=prompt.question,
        guidelines=prompt.guidelines,
        guideline_paths=prompt.guideline_paths,
        input_files=prompt.input_files,
        chat_prompt=prompt.chat_prompt,
        trial=trial.number,
    )


def _row(
    trial: Trial,
    bench: Bench,
    started: float,
    answer: Answer,
    *,
    scores: Sequence[Scored] = (),
    error: ErrorInfo | None = None,
) -> TrialResult:
    case, response = trial.case, answer.response
    total = aggregate([(s.options.label, s.options.weight, s.score) for s in scores])
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
        timestamp=bench.now().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        duration_ms=_since(started),
        verdict=outcome,
        score=total.score if judged else None,
        hits=total.hits,
        misses=total.misses,
        reasoning=total.reasoning,
        candidate_answer=response.text if response else None,
        reference_answer=trial.reference_answer,
        raw_request=_raw_request(trial) if trial.problem is None else None,
        evaluator_results=tuple(map(_evaluator_result, scores)),
        usage=_usage_of(answer),
        trace=response.trace if response else None,
        error=error,
        digest=trial.digest,
        cached=True if response and response.cached else msgspec.UNSET,
        dry_run=True if bench.dry_run else msgspec.UNSET,
    )


def _evaluator_result(scored: Scored) -> EvaluatorResult:
    options, score = scored.options, scored.score
    return EvaluatorResult(
        name=options.label,
        type=options.type,
        score=score.value,
        weight=options.weight,
        hits=score.hits,
        misses=score.misses,
        reasoning=score.reasoning,
        raw_score=score.raw_value,
        evaluator_provider_request=score.provider_request,
        error=score.error,
        parse_error=score.parse_error,
        duration_ms=scored.duration_ms,
        usage=score.usage,
        cached=True if score.cached else msgspec.UNSET,
    )


def _error_of(trial: Trial, answer: Answer) -> ErrorInfo:
    if trial.problem is not None:
        return trial.problem
    error = answer.error
    if error is None:
        return ErrorInfo(kind="provider", message="no answer")
    return ErrorInfo(kind=error.kind, message=str(error), detail=error.detail)


def _usage_of(answer: Answer) -> Usage | None:
    if answer.response is not None:
        return answer.response.usage
    return answer.error.usage if answer.error is not None else None


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
    )


def _context(trial: Trial, response: ProviderResponse) -> EvaluationContext:
    case, prompt = trial.case, trial.prompt
    return EvaluationContext(
        eval_id=case.id,
        question=prompt.question,
        expected_outcome=case.expected_outcome,
        reference_answer=trial.reference_answer,
        candidate_answer=response.text,
        guideline_paths=prompt.guideline_paths,
        input_files=prompt.input_files,
        input_segments=_segments(trial),
        input_messages=_plain(case.input_messages),
        output_messages=_plain(case.expected_messages),
        target=trial.target,
        trial=trial.number,
        trace=response.trace,
    )


def _segments(trial: Trial) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for turn in trial.turns:
        for segment in turn.segments:
            if isinstance(segment, TextSegment):
                found.append({"type": "text", "value": segment.value, "role": turn.role})
            else:
                found.append(
                    {
                        "type": "file",
                        "path": segment.path,
                        "resolved_path": segment.resolved_path,
                        "text": segment.text,
                        "guideline": isinstance(segment, GuidelineSegment),
                        "role": turn.role,
                    }
                )
    return found


def _plain(messages: Sequence[Message]) -> list[dict[str, Any]]:
    return [msgspec.to_builtins(message) for message in messages]


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
