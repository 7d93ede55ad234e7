"""A run in numbers: what is computed from its rows, and never stored."""

from agentv.model.base import Record

BINS = 5


class ScoreStatistics(Record, frozen=True, kw_only=True):
    """What scores look like together; `None` where there are too few to say."""

    n: int
    """How many scores stand behind every number here."""
    mean: float | None = None
    median: float | None = None
    min: float | None = None
    max: float | None = None
    stdev: float | None = None
    """Of the sample (n - 1), so it needs two scores."""
    histogram: tuple[int, ...] = (0,) * BINS
    """Scores in [0, 0.2), [0.2, 0.4), [0.4, 0.6), [0.6, 0.8) and [0.8, 1]."""


class UsageSum(Record, frozen=True, kw_only=True):
    """What calls together consumed of one thing."""

    total: int | float | None
    """Of the calls that told; `None` if none did."""
    unknown: int
    """Calls that did not tell; `total` is then a lower bound."""


class UsageTotals(Record, frozen=True, kw_only=True):
    """What calls consumed. An answer from the response cache is no call: it cost nothing."""

    calls: int
    """How many there were."""
    input_tokens: UsageSum
    output_tokens: UsageSum
    cached_tokens: UsageSum
    """Input that a vendor had in its own cache."""
    reasoning_tokens: UsageSum
    cost_usd: UsageSum


class CacheUse(Record, frozen=True, kw_only=True):
    """What the response cache was good for."""

    hits: int
    misses: int
    """Calls that were made because the answer was not there."""


class BudgetUse(Record, frozen=True, kw_only=True):
    """What is known to be spent, held against a budget; both in US dollars."""

    limit_usd: float
    spent_usd: float

    @property
    def is_reached(self) -> bool:
        """Whether nothing is left, save what only floating-point arithmetic left over."""
        return self.spent_usd >= self.limit_usd * (1 - 1e-9)


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
        return max(self.total - self._distinct, 0)

    @property
    def surplus(self) -> int:
        """Trials with a row that the plan has no room for."""
        return max(self._distinct - self.total, 0)

    @property
    def pass_rate(self) -> float | None:
        """Passed of `total`: whatever did not pass counts against it. The gate looks at this."""
        return self.passed / self.total if self.total else None

    @property
    def pass_rate_of_scored(self) -> float | None:
        """Passed of `scored`: how good the answers were, where there was one to judge."""
        return self.passed / self.scored if self.scored else None

    @property
    def _distinct(self) -> int:
        return self.total if self.planned is None else self.recorded - self.duplicates


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
    miss: str | None = None
    """The first thing that the answer missed."""


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
    error_kinds: dict[str, int]
    """How many errors there are of each kind, the most frequent first."""
    failures: tuple[LowScore, ...]
    """Failed trials, the lowest scores first; `counts.failed` says how many there are."""
    lowest: tuple[LowScore, ...]
    """The lowest three, the lowest first."""
    clamped: int
    """Rows in which some evaluator said a score outside [0, 1]."""
    parse_errors: int
    """Evaluator results whose reply held no valid verdict, and so count as 0."""
    evaluator_errors: int
    """Evaluator results of evaluators that could not run."""
    replay_misses: int
    """Answers and verdicts that a replay had no recording of."""
    attempts: int
    retries: int
    """Attempts beyond each trial's first."""
    usage: UsageTotals
    """Of candidates."""
    judge_usage: UsageTotals
    cost_usd: UsageSum
    """Of candidates and judges together."""
    cache: CacheUse | None
    """`None` for a run without the response cache."""
    budget: BudgetUse | None
    unplanned: int
    """Rows that the plan has no place for; those of an unknown suite are in no other number."""

    @property
    def is_complete(self) -> bool:
        """Whether every planned trial has its row."""
        return not any(suite.counts.missing for suite in self.suites)
