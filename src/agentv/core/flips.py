"""Which verdicts flipped from one judgement of the same answers to the next, and why.

Pure: from pairs of rows to a report. Pairs stream through; only the first few changes are kept.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from agentv.core.statistics import Smallest
from agentv.model.flips import (
    EvaluatorChange,
    FlipCount,
    FlipReport,
    JudgedView,
    OpinionView,
    TrialChange,
)
from agentv.model.result import Verdict

MAX_CHANGES = 1000
"""How many changes a report lists; the others are counted."""

_DUST = 1e-9
"""How far apart two scores may be that only floating-point arithmetic tells apart."""

_RANK: dict[Verdict, int] = {"pass": 0, "fail": 1, "error": 2, "skipped": 3}
"""The greater the worse."""

Thresholds = tuple[float | None, float | None]
"""At which score a trial passed before, and passes now."""


class FlipTally:
    """Takes trials one at a time, in any order."""

    def __init__(self, max_changes: int = MAX_CHANGES) -> None:
        self._changes: Smallest[TrialChange] = Smallest(max_changes)
        self._flips: Counter[tuple[Verdict, Verdict]] = Counter()
        self._compared = self._rescored = self._only_after = 0

    def add(self, before: JudgedView | None, after: JudgedView, thresholds: Thresholds) -> None:
        """A row, and the one that the trial had in the earlier run."""
        if before is None:
            self._only_after += 1
            return
        self._compared += 1
        change = change_of(before, after, thresholds)
        if change is None:
            return
        if change.is_flip:
            self._flips[change.verdict_before, change.verdict_after] += 1
        else:
            self._rescored += 1
        self._changes.add(_place(change), change)

    def report(self, rows_before: int) -> FlipReport:
        """What it came to.

        Args:
            rows_before: How many trials have a row in the earlier run.
        """
        flipped = self._flips.total()
        ordered = sorted(self._flips.items(), key=lambda item: _direction(*item[0]))
        return FlipReport(
            compared=self._compared,
            flipped=flipped,
            flips=tuple(FlipCount(before=a, after=b, trials=number) for (a, b), number in ordered),
            rescored=self._rescored,
            same=self._compared - flipped - self._rescored,
            only_before=rows_before - self._compared,
            only_after=self._only_after,
            changes=self._changes.values,
        )


def change_of(before: JudgedView, after: JudgedView, thresholds: Thresholds) -> TrialChange | None:
    """What changed of a trial; `None` if it has the verdict and the score that it had."""
    if before.verdict == after.verdict and _same(before.score, after.score):
        return None
    return TrialChange(
        suite=after.suite,
        eval_id=after.eval_id,
        target=after.target,
        trial=after.trial,
        verdict_before=before.verdict,
        verdict_after=after.verdict,
        score_before=before.score,
        score_after=after.score,
        threshold_before=thresholds[0],
        threshold_after=thresholds[1],
        evaluators=tuple(_opinions(before.evaluator_results, after.evaluator_results)),
    )


def _opinions(
    before: Sequence[OpinionView], after: Sequence[OpinionView]
) -> Iterator[EvaluatorChange]:
    """Of the evaluators as they are now, then of those that are gone.

    They are known by their names; one that is new under its name, and shaped like one that is
    gone, is that one renamed.
    """
    then_by_name = {said.name: said for said in before}
    gone = {said.name: said for said in before if said.name not in {now.name for now in after}}
    for now in after:
        then = then_by_name.get(now.name)
        if then is None and now.digest:
            then = next((said for said in gone.values() if said.digest == now.digest), None)
            gone.pop(then.name if then else "", None)
        if then is None or not _agree(then, now):
            yield _change(then, now)
    for said in gone.values():
        yield _change(said, None)


def _agree(then: OpinionView, now: OpinionView) -> bool:
    alike = (then.weight, then.error) == (now.weight, now.error)
    return alike and _same(then.score, now.score)


def _change(then: OpinionView | None, now: OpinionView | None) -> EvaluatorChange:
    told = now or then
    assert told is not None  # noqa: S101 - one of them is there
    return EvaluatorChange(
        name=told.name,
        type=told.type,
        before=then.score if then else None,
        after=now.score if now else None,
        weight_before=then.weight if then else None,
        weight_after=now.weight if now else None,
        why=_why(then, now) if now else None,
    )


def _why(then: OpinionView | None, now: OpinionView) -> str | None:
    """In the evaluator's words: what is missed now and was not before, or the other way round."""
    missed = then.misses if then else ()
    new = [miss for miss in now.misses if miss not in missed]
    gone = [f"no longer: {miss}" for miss in missed if miss and miss not in now.misses]
    said = [now.error, now.parse_error, *new, now.reasoning, *gone, *now.misses]
    return next((text for text in said if text), None)


def _same(before: float | None, after: float | None) -> bool:
    if before is None or after is None:
        return before is after
    return abs(before - after) <= _DUST


def _direction(before: Verdict, after: Verdict) -> tuple[int, int, int]:
    """What got worse comes first, and the worst of that before the rest."""
    return _RANK[before] - _RANK[after], _RANK[before], _RANK[after]


def _place(change: TrialChange) -> tuple[object, ...]:
    key = change.suite, change.eval_id, change.target, change.trial
    if change.is_flip:
        return 0, *_direction(change.verdict_before, change.verdict_after), *key
    return 1, 0, 0, 0, *key
