"""Numbers about scores.

Every one is the same whatever the order of the scores: sums are exact before they are rounded.
"""

import bisect
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Generic, TypeVar

from agentv.model.summary import BINS, ScoreStatistics

_DUST = 1e-9
"""How far floating-point arithmetic may leave a score from the number that was meant."""

T = TypeVar("T")


def describe(scores: Sequence[float]) -> ScoreStatistics:
    """The statistics of finite scores in [0, 1]."""
    if not scores:
        return ScoreStatistics(n=0)
    ordered = sorted(scores)
    n, low, high = len(ordered), ordered[0], ordered[-1]
    # Rounding twice (sum, quotient) could lift the mean of equal scores above them.
    mean = min(max(math.fsum(ordered) / n, low), high)
    return ScoreStatistics(
        n=n,
        mean=mean,
        median=_median(ordered),
        min=low,
        max=high,
        stdev=_stdev(ordered, mean),
        histogram=_histogram(ordered),
    )


class Smallest(Generic[T]):
    """The few smallest of many values, kept while they stream by; equal values in any order."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: list[tuple[Any, T]] = []

    def has_room_for(self, key: Any) -> bool:
        """Whether a value with this key would be kept; asked first where making one costs."""
        return len(self._kept) < self._limit or (bool(self._kept) and key < self._kept[-1][0])

    def add(self, key: Any, value: T) -> None:
        """Consider one more value; values are compared by their keys alone."""
        if not self.has_room_for(key):
            return
        if len(self._kept) == self._limit:
            self._kept.pop()
        bisect.insort_right(self._kept, (key, value), key=lambda pair: pair[0])

    @property
    def values(self) -> tuple[T, ...]:
        """At most `limit` values, the smallest first."""
        return tuple(value for _, value in self._kept)


def _median(ordered: Sequence[float]) -> float:
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def _stdev(scores: Sequence[float], mean: float) -> float | None:
    if len(scores) < 2:
        return None
    return math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / (len(scores) - 1))


def _histogram(ordered: Sequence[float]) -> tuple[int, ...]:
    edges = [index / BINS - _DUST for index in range(1, BINS)]
    starts = [0, *(bisect.bisect_left(ordered, edge) for edge in edges), len(ordered)]
    return tuple(end - start for start, end in pairwise(starts))
