"""Every total of a run, computed from its plan and its rows alone.

Rows stream through: what is kept of each is a number or two, so a run of a million rows fits. The
order of the rows makes no difference.
"""

from array import array
from collections import Counter
from collections.abc import Iterable

from agentv.core.statistics import ScoreStatistics, Smallest, describe
from agentv.core.usage_totals import UsageTally, UsageTotals
from agentv.model.base import Record
from agentv.model.result import Verdict
from agentv.model.row_view import RowView
from agentv.model.run import RunManifest, SuitePlan

LOWEST = 3


class Counts(Record, frozen=True, kw_only=True):
    """How trials ended."""

    planned: int | None
    """`None` where the plan does not say: it names each suite's share, but no target's."""
    recorded: int
    """Rows, duplicates included."""
    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    duplicates: int = 0
    """Rows beyond the first of the same trial."""

    @property
    def total(self) -> int:
        """The denominator of `pass_rate`: planned trials where known, else recorded ones."""
        return self.recorded if self.planned is None else self.planned

    @property
    def scored(self) -> int:
        """Trials that were judged, and so stand behind every score."""
        return self.passed + self.failed

    @property
    def missing(self) -> int:
        """Planned trials without a row."""
        return max(self.total - (self.recorded - self.duplicates), 0)

    @property
    def surplus(self) -> int:
        """Trials with a row that the plan has no room for."""
        return max(self.recorded - self.duplicates - self.total, 0)

    @property
    def pass_rate(self) -> float | None:
        """Passed of `total`: whatever did not pass counts against it. The gate looks at this."""
        return self.passed / self.total if self.total else None

    @property
    def pass_rate_of_scored(self) -> float | None:
        """Passed of `scored`: how good the answers were, where there was one to judge."""
        return self.passed / self.scored if self.scored else None


class SuiteSummary(Record, frozen=True, kw_only=True):
    """One suite's part of the run."""

    path: str
    dataset: str
    min_pass_rate: float
    counts: Counts
    scores: ScoreStatistics


class TargetSummary(Record, frozen=True, kw_only=True):
    """One target's part of the run."""

    name: str
    counts: Counts
    scores: ScoreStatistics


class ErrorLine(Record, frozen=True, kw_only=True):
    """A trial that ended in `error`."""

    suite: str
    eval_id: str
    target: str
    trial: int
    kind: str
    message: str


class LowScore(Record, frozen=True, kw_only=True):
    """A trial at the bottom of the scores."""

    suite: str
    eval_id: str
    target: str
    trial: int
    score: float


class RunSummary(Record, frozen=True, kw_only=True):
    """A whole run in numbers."""

    dry_run: bool
    counts: Counts
    scores: ScoreStatistics
    """Over scored trials only."""
    suites: tuple[SuiteSummary, ...]
    """All that were planned, in the plan's order."""
    targets: tuple[TargetSummary, ...]
    """Those that have rows; in the plan's order."""
    errors: tuple[ErrorLine, ...]
    """The first by suite and id; `counts.errors` says how many there are."""
    lowest: tuple[LowScore, ...]
    """The lowest three, the lowest first."""
    clamped: int
    """Rows in which some evaluator said a score outside [0, 1]."""
    parse_errors: int
    """Evaluator results whose reply held no valid verdict, and so count as 0."""
    evaluator_errors: int
    """Evaluator results of evaluators that could not run."""
    attempts: int
    retries: int
    """Attempts beyond each trial's first."""
    usage: UsageTotals
    unplanned: int
    """Rows that the plan has no place for; those of an unknown suite are in no other number."""


def summarise(
    manifest: RunManifest, rows: Iterable[RowView], *, max_errors: int = 20
) -> RunSummary:
    """Compute every total; `rows` is read once."""
    suites = {plan.path: _Tally() for plan in manifest.suites}
    targets: dict[str, _Tally] = {}
    whole, details, strangers = _Tally(), _Details(max_errors), 0
    for row in rows:
        suite = suites.get(row.suite)
        if suite is None:
            strangers += 1
            continue
        target = targets.setdefault(row.target, _Tally())
        verdict = _verdict(row)
        identity = hash((row.suite, row.eval_id, row.target, row.trial))
        for tally in (whole, suite, target):
            tally.add(row, verdict, identity)
        details.add(row, verdict)
    parts = tuple(_suite_summary(plan, suites[plan.path]) for plan in manifest.suites)
    return RunSummary(
        dry_run=manifest.dry_run,
        counts=whole.counts(manifest.trials),
        scores=describe(whole.scores),
        suites=parts,
        targets=tuple(
            TargetSummary(name=name, counts=tally.counts(None), scores=describe(tally.scores))
            for name, tally in sorted(targets.items(), key=_order_of(manifest))
        ),
        errors=details.errors.values,
        lowest=details.lowest.values,
        clamped=details.clamped,
        parse_errors=details.parse_errors,
        evaluator_errors=details.evaluator_errors,
        attempts=details.attempts,
        retries=details.retries,
        usage=details.usage.totals(),
        unplanned=strangers + sum(part.counts.surplus for part in parts),
    )


def _verdict(row: RowView) -> Verdict:
    """The row's verdict, save that nothing passes or fails without a score."""
    if row.score is None and row.verdict in ("pass", "fail"):
        return "error"
    return row.verdict


class _Tally:
    """Counts and scores of one part of a run."""

    def __init__(self) -> None:
        self.verdicts: Counter[Verdict] = Counter()
        self.scores = array("d")
        # Hashes rather than the names: eight bytes a row tell duplicates apart well enough.
        self.identities = array("q")

    def add(self, row: RowView, verdict: Verdict, identity: int) -> None:
        self.verdicts[verdict] += 1
        self.identities.append(identity)
        if row.score is not None and verdict in ("pass", "fail"):
            self.scores.append(row.score)

    def counts(self, planned: int | None) -> Counts:
        return Counts(
            planned=planned,
            recorded=len(self.identities),
            passed=self.verdicts["pass"],
            failed=self.verdicts["fail"],
            errors=self.verdicts["error"],
            skipped=self.verdicts["skipped"],
            duplicates=len(self.identities) - len(set(self.identities)),
        )


class _Details:
    """What is only told of the run as a whole."""

    def __init__(self, max_errors: int) -> None:
        self.errors: Smallest[ErrorLine] = Smallest(max_errors)
        self.lowest: Smallest[LowScore] = Smallest(LOWEST)
        self.usage = UsageTally()
        self.clamped = self.parse_errors = self.evaluator_errors = 0
        self.attempts = self.retries = 0

    def add(self, row: RowView, verdict: Verdict) -> None:
        self.attempts += row.attempts
        self.retries += max(row.attempts - 1, 0)
        self.usage.add(row)
        results = row.evaluator_results
        self.clamped += any(result.raw_score is not None for result in results)
        self.parse_errors += sum(result.parse_error is not None for result in results)
        self.evaluator_errors += sum(result.error is not None for result in results)
        if verdict == "error":
            line = _error_line(row)
            place = (line.suite, line.eval_id, line.target, line.trial)
            self.errors.add((*place, line.kind, line.message), line)
        elif row.score is not None and verdict != "skipped":
            low = LowScore(
                suite=row.suite,
                eval_id=row.eval_id,
                target=row.target,
                trial=row.trial,
                score=row.score,
            )
            self.lowest.add((row.score, row.eval_id, row.suite, row.target, row.trial), low)


def _error_line(row: RowView) -> ErrorLine:
    kind, message = "unscored", f"the row says '{row.verdict}' but holds no score"
    if row.error is not None:
        kind, message = row.error.kind, row.error.message
    return ErrorLine(
        suite=row.suite,
        eval_id=row.eval_id,
        target=row.target,
        trial=row.trial,
        kind=kind,
        message=message,
    )
