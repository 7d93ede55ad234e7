"""Every total of a run, computed from its plan and its rows alone.

Rows stream through: what is kept of each is a few numbers, so a run of a million rows fits. The
order of the rows makes no difference.
"""

from collections.abc import Callable, Iterable, Mapping

from agentv.core.statistics import describe
from agentv.core.tally import Details, Tally, verdict_of
from agentv.model.row_view import RowView
from agentv.model.run import RunManifest
from agentv.model.summary import BudgetUse, RunSummary, SuiteSummary, TargetSummary, UsageSum

__all__ = ["RunSummary", "summarise"]


def summarise(
    manifest: RunManifest, rows: Iterable[RowView], *, max_errors: int = 20
) -> RunSummary:
    """Compute every total; `rows` is read once."""
    suites = {plan.path: Tally() for plan in manifest.suites}
    targets: dict[str, Tally] = {}
    whole, details, strangers = Tally(), Details(max_errors), 0
    for row in rows:
        suite = suites.get(row.suite)
        if suite is None:
            strangers += 1
            continue
        target = targets.get(row.target)
        if target is None:
            target = targets[row.target] = Tally()
        verdict = verdict_of(row)
        identity = hash((row.suite, row.eval_id, row.target, row.trial))
        for tally in (whole, suite, target):
            tally.add(row, verdict, identity)
        details.add(row, verdict)
    parts = tuple(
        SuiteSummary(
            path=plan.path,
            dataset=plan.dataset,
            min_pass_rate=plan.min_pass_rate,
            counts=suites[plan.path].counts(plan.trials),
            scores=describe(suites[plan.path].scores),
        )
        for plan in manifest.suites
    )
    cost = details.calls.cost_usd()
    return RunSummary(
        dry_run=manifest.dry_run,
        counts=whole.counts(manifest.trials),
        scores=describe(whole.scores),
        suites=parts,
        targets=tuple(
            TargetSummary(
                name=name,
                counts=targets[name].counts(None),
                scores=describe(targets[name].scores),
            )
            for name in sorted(targets, key=_plan_order(manifest))
        ),
        errors=details.errors.values,
        error_kinds=_by_frequency(details.error_kinds),
        failures=details.failures.values,
        lowest=details.lowest.values,
        clamped=details.clamped,
        parse_errors=details.parse_errors,
        evaluator_errors=details.evaluator_errors,
        attempts=details.attempts,
        retries=details.retries,
        usage=details.calls.candidates.totals(),
        judge_usage=details.calls.judges.totals(),
        cost_usd=cost,
        cache=details.calls.cache() if manifest.cache else None,
        budget=_budget(manifest, cost),
        unplanned=strangers + sum(part.counts.surplus for part in parts),
    )


def _budget(manifest: RunManifest, cost: UsageSum) -> BudgetUse | None:
    if manifest.budget_usd is None:
        return None
    return BudgetUse(limit_usd=manifest.budget_usd, spent_usd=cost.total or 0.0)


def _by_frequency(counted: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def _plan_order(manifest: RunManifest) -> Callable[[str], tuple[int, str]]:
    places = {target.name: place for place, target in enumerate(manifest.targets)}
    return lambda name: (places.get(name, len(places)), name)
