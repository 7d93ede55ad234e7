"""Every total of a run, computed from its plan and its rows alone.

Rows stream through: what is kept of each is a few numbers, so a run of a million rows fits. The
order of the rows makes no difference.
"""

from collections.abc import Callable, Iterable, Mapping

from agentv.core.statistics import describe
from agentv.core.tally import Details, Tally, together, verdict_of
from agentv.model.row_view import RowView
from agentv.model.run import RunManifest
from agentv.model.summary import BudgetUse, RunSummary, SuiteSummary, TargetSummary, UsageSum

__all__ = ["RunSummary", "summarise"]


def summarise(
    manifest: RunManifest, rows: Iterable[RowView], *, max_errors: int = 20
) -> RunSummary:
    """Compute every total; `rows` is read once."""
    cells: dict[tuple[str, str], Tally] = {}  # each suite on each target
    planned = {plan.path for plan in manifest.suites}
    details, strangers = Details(max_errors), 0
    for row in rows:
        place = row.suite, row.target
        cell = cells.get(place)
        if cell is None:
            if row.suite not in planned:
                strangers += 1
                continue
            cell = cells[place] = Tally()
        verdict = verdict_of(row)
        cell.add(row, verdict)
        details.add(row, verdict)
    suites = {path: together(cells, suite=path) for path in planned}
    targets = {name: together(cells, target=name) for _, name in cells}
    whole = together(cells)
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
        replay_misses=details.replay_misses,
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
