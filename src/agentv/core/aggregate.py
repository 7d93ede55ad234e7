"""From the scores of one answer's evaluators to one score and one verdict."""

import math
from collections.abc import Sequence

from agentv.model.base import Record
from agentv.model.result import Verdict
from agentv.model.score import Score

TOLERANCE = 1e-9
"""A mean of floats may miss a threshold by its rounding alone; such a trial has reached it."""


class Aggregate(Record, frozen=True, kw_only=True):
    """What all evaluators together say."""

    score: float | None
    """In [0, 1]; `None` when no evaluator could run."""
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    reasoning: str | None = None


def aggregate(scores: Sequence[tuple[str, float, Score]]) -> Aggregate:
    """Fold the scores of one answer, given in order as `(name, weight, score)`.

    The score is the weighted mean. An evaluator that could not run counts as 0 in it as long as
    another one ran. Hits and misses are strung together; each reasoning stands under its
    evaluator's name, unless there is only one evaluator.
    """
    return Aggregate(
        score=_mean([(weight, _counted(score)) for _, weight, score in scores])
        if any(score.error is None for _, _, score in scores)
        else None,
        hits=tuple(hit for _, _, score in scores for hit in score.hits),
        misses=tuple(miss for _, _, score in scores for miss in score.misses),
        reasoning=_reasoning([(name, score.reasoning) for name, _, score in scores]),
    )


def verdict(total: Aggregate, scores: Sequence[Score], threshold: float) -> Verdict:
    """`error` if no evaluator could run, `pass` if the threshold is reached, else `fail`.

    A trial with an evaluator that could not run never passes, however good the rest is: what that
    evaluator was there to check has not been checked.
    """
    if total.score is None:
        return "error"
    reached = total.score >= threshold - TOLERANCE
    return "pass" if reached and all(score.error is None for score in scores) else "fail"


def _counted(score: Score) -> float:
    return score.value if score.error is None else 0.0


def _mean(weighted: Sequence[tuple[float, float]]) -> float:
    # Weights are taken relative to the largest, so that no sum of them overflows.
    largest = max(weight for weight, _ in weighted)
    shares = [weight / largest for weight, _ in weighted]
    values = [value for _, value in weighted]
    mean = math.fsum(map(float.__mul__, shares, values)) / math.fsum(shares)
    # Rounding must not carry the mean of equal scores past them: three times 0.8 is 0.8.
    return min(max(mean, min(values)), max(values))


def _reasoning(named: Sequence[tuple[str, str | None]]) -> str | None:
    given = [(name, text) for name, text in named if text]
    if len(named) == 1:
        return given[0][1] if given else None
    return "\n".join(f"{name}: {text}" for name, text in given) or None
