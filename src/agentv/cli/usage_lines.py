"""What a run consumed, in lines of its summary. What is unknown is said to be."""

from collections.abc import Iterator

from agentv.core.money import dollars
from agentv.model.summary import BudgetUse, RunSummary, UsageSum, UsageTotals


def usage_lines(summary: RunSummary) -> Iterator[str]:
    """Tokens and money, where anything is known of them, the budget, and the cache's use."""
    candidates, judges = summary.usage, summary.judge_usage
    if _is_known(candidates) or _is_known(judges):
        judged = f"; judges {_tokens(judges)}" if judges.calls else ""
        yield f"  tokens      {_tokens(candidates)}{judged}"
        yield f"  cost        {_cost(summary)}"
    if summary.budget is not None and not summary.dry_run:
        yield f"  budget      {_budget(summary.budget, summary.cost_usd)}"
    if summary.cache is not None:
        yield f"  cache       {_count(summary.cache.hits, 'hit')}, {_misses(summary.cache.misses)}"


def _is_known(usage: UsageTotals) -> bool:
    sums = (usage.input_tokens, usage.output_tokens, usage.cost_usd)
    return any(sum_.total is not None for sum_ in sums)


def _tokens(usage: UsageTotals) -> str:
    """`12,345 in (1,000 cached), 2,345 out (of 95 of 100 calls; 5 unknown)`."""
    sums = (usage.input_tokens, usage.output_tokens)
    if all(sum_.total is None for sum_ in sums):
        return "unknown" if usage.calls else "none"
    read = _amount(usage.input_tokens, "in", usage.cached_tokens, "cached")
    written = _amount(usage.output_tokens, "out", usage.reasoning_tokens, "reasoning")
    return f"{read}, {written}{_gap(max(sum_.unknown for sum_ in sums), usage.calls)}"


def _amount(whole: UsageSum, way: str, part: UsageSum, kind: str) -> str:
    if whole.total is None:
        return f"unknown {way}"
    of_which = f" ({part.total:,} {kind})" if part.total else ""
    return f"{whole.total:,} {way}{of_which}"


def _cost(summary: RunSummary) -> str:
    """`$0.1234, of which judges $0.02 (of 95 of 100 calls; 5 unknown)`."""
    cost, judges = summary.cost_usd, summary.judge_usage
    calls = summary.usage.calls + judges.calls
    if cost.total is None:
        return "unknown" if calls else "none"
    share = judges.cost_usd.total
    of_which = f", of which judges {dollars(share)}" if share else ""
    return f"{dollars(cost.total)}{of_which}{_gap(cost.unknown, calls)}"


def _budget(budget: BudgetUse, cost: UsageSum) -> str:
    """`$1.24 spent of $5.00`, and how many calls that sum leaves out."""
    use = f"{dollars(budget.spent_usd)} spent of {dollars(budget.limit_usd)}"
    unseen = f"; the cost of {_count(cost.unknown, 'call')} is unknown" if cost.unknown else ""
    return f"{use}{unseen}"


def _gap(unknown: int, calls: int) -> str:
    if not unknown:
        return ""
    return f" (of {calls - unknown:,} of {_count(calls, 'call')}; {unknown:,} unknown)"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _misses(number: int) -> str:
    return f"{number:,} miss{'' if number == 1 else 'es'}"
