"""Two judgements of the same answers, held against each other: computed from rows, never stored."""

from agentv.model.base import Record
from agentv.model.result import Verdict
from agentv.model.row_view import ErrorView


class OpinionView(Record, frozen=True, kw_only=True, gc=False):
    """`EvaluatorResult` as far as a comparison looks at it."""

    name: str
    type: str
    score: float
    weight: float = 1.0
    misses: tuple[str, ...] = ()
    reasoning: str | None = None
    error: str | None = None
    parse_error: str | None = None
    digest: str | None = None


class JudgedView(Record, frozen=True, kw_only=True, gc=False):
    """`TrialResult` as far as a comparison looks at it."""

    suite: str
    dataset: str
    eval_id: str
    target: str
    trial: int
    verdict: Verdict
    score: float | None
    error: ErrorView | None = None
    evaluator_results: tuple[OpinionView, ...] = ()


class EvaluatorChange(Record, frozen=True, kw_only=True):
    """What one evaluator says of a trial, before and after."""

    name: str
    type: str
    before: float | None
    """`None`: it was not asked then."""
    after: float | None
    """`None`: it is not asked any more."""
    weight_before: float | None
    weight_after: float | None
    why: str | None
    """In the evaluator's words: its error, its first new miss, its reasoning, or a miss that is
    gone."""


class TrialChange(Record, frozen=True, kw_only=True):
    """A trial whose verdict or score is another one now."""

    suite: str
    eval_id: str
    target: str
    trial: int
    verdict_before: Verdict
    verdict_after: Verdict
    score_before: float | None
    score_after: float | None
    threshold_before: float | None
    """`None`: it is not known."""
    threshold_after: float | None
    evaluators: tuple[EvaluatorChange, ...]
    """Those that say something else now, are new, or are gone."""

    @property
    def is_flip(self) -> bool:
        """Whether the verdict is another one."""
        return self.verdict_before != self.verdict_after


class FlipCount(Record, frozen=True, kw_only=True):
    """How many trials went from one verdict to another."""

    before: Verdict
    after: Verdict
    trials: int


class FlipReport(Record, frozen=True, kw_only=True):
    """What changed from one judgement of the answers to the other."""

    compared: int
    """Trials that have a row in both runs."""
    flipped: int
    flips: tuple[FlipCount, ...]
    """By direction, what got worse first."""
    rescored: int
    """Trials whose score changed and whose verdict did not."""
    same: int
    """Trials with the verdict and the score that they had."""
    only_before: int
    """Rows of the earlier run without a counterpart: their case changed, or is gone."""
    only_after: int
    """Rows of trials that were answered in the earlier run, and not judged to the end."""
    changes: tuple[TrialChange, ...]
    """The first of them: flips before other changes, what got worse before what got better."""

    @property
    def not_listed(self) -> int:
        """Changed trials that are only counted."""
        return self.flipped + self.rescored - len(self.changes)
