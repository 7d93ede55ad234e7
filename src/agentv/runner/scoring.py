"""What evaluators say of one answer; none of them can end more than itself."""

import asyncio
import math
import time
from collections.abc import Callable
from typing import Any

import msgspec

from agentv.errors import RunAborted
from agentv.model.base import Record
from agentv.model.options import EvaluatorOptions
from agentv.model.result import EvaluatorResult
from agentv.model.score import EvaluationContext, Score
from agentv.protocols import Evaluator
from agentv.runner.cancelling import is_being_cancelled


class Scored(Record, frozen=True, kw_only=True):
    """A score, by which evaluator, and the time it took."""

    options: EvaluatorOptions
    score: Score
    duration_ms: float
    digest: str
    """What shaped it: see `agentv.core.digest`."""

    def result(self) -> EvaluatorResult:
        """Its part of a row."""
        options, score = self.options, self.score
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
            duration_ms=self.duration_ms,
            usage=score.usage,
            cached=True if score.cached else msgspec.UNSET,
            digest=self.digest,
            error_kind=score.error_kind or msgspec.UNSET,
        )


def taken_over(options: EvaluatorOptions, said: EvaluatorResult, digest: str) -> Scored:
    """A verdict from before, under the name and the weight that the evaluator has now."""
    score = Score(
        value=said.score,
        hits=said.hits,
        misses=said.misses,
        reasoning=said.reasoning,
        raw_value=said.raw_score,
        provider_request=said.evaluator_provider_request,
        error=said.error,
        error_kind=said.error_kind or None,
        parse_error=said.parse_error,
        usage=said.usage,
        cached=said.cached is True,
    )
    return Scored(options=options, score=score, duration_ms=said.duration_ms, digest=digest)


async def score_once(
    options: EvaluatorOptions,
    context: EvaluationContext,
    build: Callable[[EvaluatorOptions], Evaluator],
    digest: str,
) -> Scored:
    """Ask one evaluator. One that crashes, or returns no `Score`, could not run.

    Raises:
        RunAborted: The whole run cannot go on.
    """
    started = time.perf_counter()
    try:
        score = sound(await build(options).evaluate(context))
    except RunAborted:
        raise
    except asyncio.CancelledError:
        if is_being_cancelled():
            raise
        score = _not_run("something inside the evaluator was cancelled")
    except Exception as error:  # noqa: BLE001 - an evaluator that crashes is a row, not the end
        score = _not_run(f"{type(error).__name__}: {error}")
    duration_ms = round((time.perf_counter() - started) * 1000, 3)
    return Scored(options=options, score=score, duration_ms=duration_ms, digest=digest)


def sound(score: Any) -> Score:
    """A score that keeps its record's promises, whoever gave it.

    A value outside [0, 1] is clamped and kept as `raw_value`; one that is not finite is a reply
    without a verdict.

    Raises:
        TypeError: It is no `Score`, or (as a `ValidationError`) some field of it has a wrong type.
    """
    if not isinstance(score, Score):
        raise TypeError(f"the evaluator returned {type(score).__name__}, not a Score")
    checked = msgspec.convert(msgspec.to_builtins(score), Score)
    if not math.isfinite(checked.value):
        reason = f"the score is {checked.value}, which is no number from 0 to 1"
        return msgspec.structs.replace(
            checked, value=0.0, raw_value=None, parse_error=reason, misses=(reason,)
        )
    value = min(max(checked.value, 0.0), 1.0)
    if value == checked.value:
        return checked
    return msgspec.structs.replace(checked, value=value, raw_value=checked.value)


def _not_run(reason: str) -> Score:
    return Score(value=0.0, misses=(f"Evaluator failed: {reason}",), error=reason)
