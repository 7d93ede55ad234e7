"""Sums of what trials consumed, that never take unknown for zero."""

import math
from array import array

from agentv.model.row_view import RowView
from agentv.model.score import Usage
from agentv.model.summary import UsageSum, UsageTotals


class UsageTally:
    """Takes rows one at a time, in any order."""

    def __init__(self) -> None:
        self._asked = 0
        self._known = {name: array("d") for name in Usage.__struct_fields__}

    def add(self, row: RowView) -> None:
        """Count one row; a trial that was never asked consumed nothing, which is known."""
        if row.attempts < 1:
            return
        self._asked += 1
        if row.usage is None:
            return
        for name, amounts in self._known.items():
            amount = getattr(row.usage, name)
            if amount is not None:
                amounts.append(amount)

    def totals(self) -> UsageTotals:
        """The sums over all rows so far."""
        return UsageTotals(
            input_tokens=self._sum("input_tokens"),
            output_tokens=self._sum("output_tokens"),
            cached_tokens=self._sum("cached_tokens"),
            cost_usd=self._sum("cost_usd"),
        )

    def _sum(self, name: str) -> UsageSum:
        amounts = self._known[name]
        # Exact before it is rounded, so that the order of the rows cannot show.
        total = math.fsum(amounts)
        unknown = self._asked - len(amounts)
        if not amounts:
            return UsageSum(total=None, unknown=unknown)
        return UsageSum(total=total if name == "cost_usd" else int(total), unknown=unknown)
