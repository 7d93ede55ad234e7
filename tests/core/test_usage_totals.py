"""What candidates and judges consumed, apart; unknown is never zero."""

import msgspec
from summary_build import plan, row

from agentv.core.summary import summarise
from agentv.model.row_view import EvaluatorView, RowView
from agentv.model.score import Usage
from agentv.model.summary import BudgetUse, CacheUse, RunSummary, UsageSum


def asked(usage: Usage | None = None, **more: object) -> EvaluatorView:
    """A judge's part of a row."""
    told = {"name": "j", "type": "llm_judge", "score": 1.0, "usage": usage, **more}
    return msgspec.convert({"evaluator_provider_request": {"target": "judge"}, **told}, _VIEW)


_VIEW = EvaluatorView
CHECK = EvaluatorView(name="c", type="contains", score=1.0)


def summary(*rows: RowView, budget_usd: float | None = None, cache: bool = False) -> RunSummary:
    manifest = plan({"a.yaml": len(rows)})
    return summarise(msgspec.structs.replace(manifest, budget_usd=budget_usd, cache=cache), rows)


def test_candidates_and_judges_are_added_up_apart() -> None:
    found = summary(
        row(
            "1",
            usage=Usage(input_tokens=10, cached_tokens=4, output_tokens=3, cost_usd=0.5),
            evaluators=(asked(Usage(input_tokens=7, reasoning_tokens=2, cost_usd=0.25)), CHECK),
        ),
        row("2", usage=Usage(input_tokens=1), evaluators=(asked(), asked())),
    )
    assert (found.usage.calls, found.judge_usage.calls) == (2, 3)
    assert found.usage.input_tokens == UsageSum(total=11, unknown=0)
    assert found.usage.cached_tokens == UsageSum(total=4, unknown=1)
    assert found.usage.cost_usd == UsageSum(total=0.5, unknown=1)
    assert found.judge_usage.input_tokens == UsageSum(total=7, unknown=2)
    assert found.judge_usage.reasoning_tokens == UsageSum(total=2, unknown=2)
    assert found.judge_usage.output_tokens == UsageSum(total=None, unknown=3)
    assert found.cost_usd == UsageSum(total=0.75, unknown=3)


def test_an_evaluator_that_asks_nobody_is_no_call() -> None:
    found = summary(row("1", evaluators=(CHECK, CHECK)))
    assert found.judge_usage.calls == 0
    assert found.judge_usage.cost_usd == UsageSum(total=None, unknown=0)


def test_an_evaluator_that_tells_what_it_consumed_is_one() -> None:
    own = msgspec.structs.replace(CHECK, usage=Usage(cost_usd=0.1))
    assert summary(row("1", evaluators=(own,))).judge_usage.cost_usd.total == 0.1


def test_a_failed_call_counts_and_its_cost_may_be_known() -> None:
    found = summary(
        row("1", "error", usage=Usage(input_tokens=5, output_tokens=9, cost_usd=0.1)),
        row("2", "error"),
        row("3", "error", attempts=0),
    )
    assert found.usage.calls == 2
    assert found.cost_usd == UsageSum(total=0.1, unknown=1)


def test_an_answer_from_the_cache_is_a_hit_and_costs_nothing() -> None:
    usage = Usage(input_tokens=10, output_tokens=1, cost_usd=0.5)
    kept = msgspec.structs.replace(row("1", usage=usage, evaluators=(asked(usage),)), cached=True)
    judged_before = row("2", usage=usage, evaluators=(asked(usage, cached=True),))
    found = summary(kept, judged_before, cache=True)
    assert found.cache == CacheUse(hits=2, misses=2)
    assert (found.usage.calls, found.judge_usage.calls) == (1, 1)
    assert found.cost_usd == UsageSum(total=1.0, unknown=0)


def test_without_the_cache_there_is_nothing_to_say_of_it() -> None:
    found = summary(row("1"))
    assert (found.cache, found.budget) == (None, None)


def test_a_rehearsal_consumes_nothing() -> None:
    rehearsed = msgspec.structs.replace(row("1", "skipped"), dry_run=True)
    assert summary(rehearsed).usage.calls == 0


def test_a_budget_is_held_against_what_is_known() -> None:
    usage = Usage(cost_usd=0.4)
    found = summary(row("1", usage=usage, evaluators=(asked(usage),)), row("2"), budget_usd=0.8)
    assert found.budget == BudgetUse(limit_usd=0.8, spent_usd=0.8)
    assert found.budget.is_reached


def test_a_budget_is_reached_whatever_way_a_sum_is_rounded() -> None:
    assert sum([0.1] * 10) < 1.0
    assert BudgetUse(limit_usd=1.0, spent_usd=sum([0.1] * 10)).is_reached
    assert not BudgetUse(limit_usd=1.0, spent_usd=0.999999).is_reached
