"""Sums of what calls consumed, that never take unknown for zero."""

import math
from array import array
from collections.abc import Sequence
from itertools import chain
from operator import attrgetter

from agentv.core.money import known_cost
from agentv.model.row_view import EvaluatorView, RowView
from agentv.model.score import Usage
from agentv.model.summary import CacheUse, UsageSum, UsageTotals

_TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
_counts_of = attrgetter(*_TOKENS)


class UsageTally:
    """Takes calls one at a time, in any order."""

    def __init__(self) -> None:
        self.calls = 0
        self._tokens = dict.fromkeys(_TOKENS, 0)
        self._tellers = dict.fromkeys(_TOKENS, 0)
        self._costs = array("d")

    def add(self, usage: Usage | None) -> None:
        """Count one call."""
        self.calls += 1
        if usage is None:
            return
        for name, count in zip(_TOKENS, _counts_of(usage), strict=True):
            if count is not None:
                self._tokens[name] += count
                self._tellers[name] += 1
        cost = known_cost(usage)
        if cost is not None:
            self._costs.append(cost)

    def totals(self) -> UsageTotals:
        """The sums over all calls so far."""
        tokens = {name: self._sum_of(name) for name in _TOKENS}
        return UsageTotals(calls=self.calls, cost_usd=cost_of(self), **tokens)

    def _sum_of(self, name: str) -> UsageSum:
        tellers = self._tellers[name]
        total = self._tokens[name] if tellers else None
        return UsageSum(total=total, unknown=self.calls - tellers)

    @property
    def costs(self) -> Sequence[float]:
        """Of the calls whose cost is known."""
        return self._costs


class CallTally:
    """What candidates and judges consumed, apart, and how many answers the cache had."""

    def __init__(self) -> None:
        self.candidates = UsageTally()
        self.judges = UsageTally()
        self._hits = 0

    def add(self, row: RowView) -> None:
        """Count the calls of one row; a trial that was never asked made none."""
        if row.dry_run is True:
            return
        if row.attempts:
            self._count(self.candidates, row.usage, cached=row.cached is True)
        for result in row.evaluator_results:
            if _asked_somebody(result):
                self._count(self.judges, result.usage, cached=result.cached is True)

    def cost_usd(self) -> UsageSum:
        """The money for everybody together."""
        return cost_of(self.candidates, self.judges)

    def cache(self) -> CacheUse:
        """Hits, and calls that were made."""
        return CacheUse(hits=self._hits, misses=self.candidates.calls + self.judges.calls)

    def _count(self, tally: UsageTally, usage: Usage | None, *, cached: bool) -> None:
        if cached:
            self._hits += 1
        else:
            tally.add(usage)


def cost_of(*tallies: UsageTally) -> UsageSum:
    """The money that calls cost, as far as it is known."""
    # Exact before it is rounded, so that the order of the rows cannot show.
    total = math.fsum(chain.from_iterable(tally.costs for tally in tallies))
    known = sum(len(tally.costs) for tally in tallies)
    calls = sum(tally.calls for tally in tallies)
    return UsageSum(total=total if known else None, unknown=calls - known)


def _asked_somebody(result: EvaluatorView) -> bool:
    return result.evaluator_provider_request is not None or result.usage is not None
