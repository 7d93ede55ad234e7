"""US dollars."""

import math

from agentv.model.score import Usage


def known_cost(usage: Usage | None) -> float | None:
    """What a call cost; `None` when it is unknown, or said as something that is no cost."""
    cost = usage.cost_usd if usage is not None else None
    return cost if cost is not None and math.isfinite(cost) and cost >= 0 else None


def dollars(amount: float) -> str:
    """`$12.50`, `$0.1234`; of less than a hundredth of a cent the first two digits: `$0.000012`."""
    if 0 < amount < 0.0001:
        places = 1 - math.floor(math.log10(amount))
        return f"${amount:.{places}f}"
    whole, _, fraction = f"{amount:,.4f}".partition(".")
    return f"${whole}.{fraction[:2]}{fraction[2:].rstrip('0')}"
