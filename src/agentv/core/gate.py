"""The gate: from a summary to an exit code and one sentence that says why."""

from collections.abc import Sequence

from agentv.core.money import dollars
from agentv.errors import ExitCode
from agentv.model.base import Record
from agentv.model.summary import Counts, RunSummary, SuiteSummary

TOLERANCE = 1e-9
"""How far below the gate a share may lie that only floating-point arithmetic put there."""


class SuiteGate(Record, frozen=True, kw_only=True):
    """One suite held against its own gate."""

    path: str
    holds: bool | None
    """`None`: no trial of this suite was planned, or nothing was to be judged."""
    passed: int
    planned: int
    min_pass_rate: float
    reason: str


class GateDecision(Record, frozen=True, kw_only=True):
    """What a run tells whoever waits for it."""

    exit_code: ExitCode
    holds: bool | None
    """Whether every suite's gate holds on the rows there are; `None` when nothing was judged."""
    reason: str
    """One sentence for a person, with the numbers."""
    suites: tuple[SuiteGate, ...]


def decide(summary: RunSummary, *, interrupted: bool = False) -> GateDecision:
    """Hold every suite against its gate.

    All planned trials count: errors, skipped and missing ones as much against the gate as failed
    ones. Only a run that is complete and contradicts itself nowhere can end with 0.
    """
    gates = tuple(_suite_gate(suite, dry_run=summary.dry_run) for suite in summary.suites)
    verdicts = {gate.holds for gate in gates} - {None}
    code, reason = _outcome(summary, gates, interrupted=interrupted)
    return GateDecision(
        exit_code=code,
        holds=False not in verdicts if verdicts else None,
        reason=reason,
        suites=gates,
    )


def _suite_gate(suite: SuiteSummary, *, dry_run: bool) -> SuiteGate:
    counts, least = suite.counts, suite.min_pass_rate
    holds = None
    if counts.total == 0:
        reason = "no trial was planned"
    elif dry_run:
        reason = "nothing was judged"
    else:
        reason = _compare(counts, least)
        holds = _reaches(counts.passed, counts, least)
    return SuiteGate(
        path=suite.path,
        holds=holds,
        passed=counts.passed,
        planned=counts.total,
        min_pass_rate=least,
        reason=reason,
    )


def _outcome(
    summary: RunSummary, gates: Sequence[SuiteGate], *, interrupted: bool
) -> tuple[ExitCode, str]:
    """The first of these that is so, the graver before the lighter."""
    counts = summary.counts
    missing = sum(suite.counts.missing for suite in summary.suites)
    if interrupted:
        return ExitCode.INTERRUPTED, f"interrupted with rows for {_of(counts.recorded, counts)}"
    if counts.total == 0:
        return ExitCode.NOTHING, "nothing ran: no trial was planned"
    if counts.duplicates or summary.unplanned:
        return ExitCode.ERRORS, _contradiction(summary)
    if missing:
        return ExitCode.ERRORS, f"the run is incomplete: {_why_missing(summary, missing)}"
    if summary.dry_run:
        return _rehearsal(counts)
    if not counts.scored:
        return _unjudged(counts)
    return _judgement(summary, gates)


def _judgement(summary: RunSummary, gates: Sequence[SuiteGate]) -> tuple[ExitCode, str]:
    pairs = zip(summary.suites, gates, strict=True)
    failing = [suite for suite, gate in pairs if gate.holds is False]
    if not failing:
        return ExitCode.OK, _success(summary)
    on_quality = [suite for suite in failing if not _would_hold_without_errors(suite)]
    shown = (on_quality or failing)[0]
    reason = f"{_compare(shown.counts, shown.min_pass_rate)} in suite {shown.path}"
    if len(failing) > 1:
        reason += f" (the gate fails in {len(failing)} of {len(gates)} suites)"
    if on_quality:
        return ExitCode.GATE_FAILED, reason
    errors = sum(suite.counts.errors for suite in failing)
    return ExitCode.ERRORS, f"{reason}, only because {_trials(errors)} ended in error"


def _would_hold_without_errors(suite: SuiteSummary) -> bool:
    counts = suite.counts
    return _reaches(counts.passed + counts.errors, counts, suite.min_pass_rate)


def _success(summary: RunSummary) -> str:
    asked = [suite for suite in summary.suites if suite.counts.total]
    if len(asked) == 1:
        return _compare(summary.counts, asked[0].min_pass_rate)
    rate = f"{summary.counts.pass_rate:.2f} ({summary.counts.passed} of {summary.counts.total})"
    return f"pass rate {rate}; the gate holds in all {len(asked)} suites"


def _why_missing(summary: RunSummary, missing: int) -> str:
    budget = summary.budget
    if budget is None or not budget.is_reached:
        return f"rows for {_of(missing, summary.counts)} are missing"
    have = "has" if missing == 1 else "have"
    limit = dollars(budget.limit_usd)
    return f"budget of {limit} reached, {_of(missing, summary.counts)} {have} no row"


def _rehearsal(counts: Counts) -> tuple[ExitCode, str]:
    if counts.errors:
        reason = f"dry run: {_of(counts.errors, counts)} ended in error; nothing was judged"
        return ExitCode.ERRORS, reason
    return ExitCode.OK, f"dry run: {_trials(counts.total)} rehearsed, nothing was judged"


def _unjudged(counts: Counts) -> tuple[ExitCode, str]:
    if counts.errors:
        reason = f"no trial could be judged: {_of(counts.errors, counts)} ended in error"
        return ExitCode.ERRORS, reason
    return ExitCode.NOTHING, f"nothing was asserted: the run skipped {_of(counts.skipped, counts)}"


def _contradiction(summary: RunSummary) -> str:
    found = []
    if duplicates := summary.counts.duplicates:
        found.append(f"{_trials(duplicates)} recorded more than once")
    if unplanned := summary.unplanned:
        rows = "1 row that was" if unplanned == 1 else f"{unplanned} rows that were"
        found.append(f"{rows} not planned")
    return f"the rows do not fit the plan: {' and '.join(found)}"


def _reaches(passed: int, counts: Counts, least: float) -> bool:
    return passed / counts.total >= least - TOLERANCE


def _compare(counts: Counts, least: float) -> str:
    """The pass rate beside its gate, with as many digits as it takes to tell them apart."""
    rate = counts.passed / counts.total
    holds = _reaches(counts.passed, counts, least)
    digits = 2
    while not holds and digits < 9 and f"{rate:.{digits}f}" == f"{least:.{digits}f}":
        digits += 1
    relation = "meets" if holds else "is below"
    return (
        f"pass rate {rate:.{digits}f} ({counts.passed} of {counts.total}) "
        f"{relation} the gate of {least:.{digits}f}"
    )


def _of(part: int, counts: Counts) -> str:
    return f"{part} of {_trials(counts.total)}"


def _trials(count: int) -> str:
    return "1 trial" if count == 1 else f"{count} trials"
