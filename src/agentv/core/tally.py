"""What is kept of rows while they stream by."""

from array import array
from collections import Counter
from collections.abc import Mapping

from agentv.core.statistics import Smallest
from agentv.core.usage_totals import CallTally
from agentv.errors import REPLAY_MISS
from agentv.model.result import Verdict
from agentv.model.row_view import RowView
from agentv.model.summary import Counts, ErrorLine, LowScore

LOWEST = 3
FAILURES = 10


def verdict_of(row: RowView) -> Verdict:
    """The row's verdict, save that nothing passes or fails without a score."""
    if row.score is None and row.verdict in ("pass", "fail"):
        return "error"
    return row.verdict


class Tally:
    """Counts and scores of one part of a run."""

    def __init__(self) -> None:
        self.verdicts: Counter[Verdict] = Counter()
        self.scores = array("d")
        # Hashes rather than the names: eight bytes a row tell duplicates apart well enough.
        self.identities = array("q")

    def add(self, row: RowView, verdict: Verdict) -> None:
        self.verdicts[verdict] += 1
        self.identities.append(hash((row.suite, row.eval_id, row.target, row.trial)))
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


def together(
    cells: Mapping[tuple[str, str], Tally], *, suite: str | None = None, target: str | None = None
) -> Tally:
    """The cells of a suite, of a target, or all of them; by these two they are named."""
    whole = Tally()
    for (in_suite, on_target), cell in cells.items():
        if suite in (None, in_suite) and target in (None, on_target):
            whole.verdicts.update(cell.verdicts)
            whole.scores.extend(cell.scores)
            whole.identities.extend(cell.identities)
    return whole


class Details:
    """What is only told of the run as a whole."""

    def __init__(self, max_errors: int) -> None:
        self.errors: Smallest[ErrorLine] = Smallest(max_errors)
        self.error_kinds: Counter[str] = Counter()
        self.lowest: Smallest[LowScore] = Smallest(LOWEST)
        self.failures: Smallest[LowScore] = Smallest(FAILURES)
        self.calls = CallTally()
        self.clamped = self.parse_errors = self.evaluator_errors = self.replay_misses = 0
        self.attempts = self.retries = 0

    def add(self, row: RowView, verdict: Verdict) -> None:
        self.attempts += row.attempts
        self.retries += max(row.attempts - 1, 0)
        self.calls.add(row)
        clamped = False
        for result in row.evaluator_results:
            clamped = clamped or result.raw_score is not None
            self.parse_errors += result.parse_error is not None
            self.evaluator_errors += result.error is not None
            self.replay_misses += result.error_kind == REPLAY_MISS
        self.clamped += clamped
        self.replay_misses += row.error is not None and row.error.kind == REPLAY_MISS
        if verdict == "error":
            line = _error_line(row)
            identity = (line.suite, line.eval_id, line.target, line.trial)
            self.errors.add((*identity, line.kind, line.message), line)
            self.error_kinds[line.kind] += 1
        elif row.score is not None and verdict != "skipped":
            place = (row.score, row.eval_id, row.suite, row.target, row.trial)
            if self.lowest.has_room_for(place):
                self.lowest.add(place, _low_score(row, row.score))
            if verdict == "fail" and self.failures.has_room_for(place):
                self.failures.add(place, _low_score(row, row.score))


def _low_score(row: RowView, score: float) -> LowScore:
    return LowScore(
        suite=row.suite,
        eval_id=row.eval_id,
        target=row.target,
        trial=row.trial,
        score=score,
        miss=next(iter(row.misses), None),
    )


def _error_line(row: RowView) -> ErrorLine:
    kind, message = "unknown", "the row holds no reason"
    if row.error is not None:
        kind, message = row.error.kind, row.error.message
    elif row.verdict != "error":
        kind, message = "unscored", f"the row says '{row.verdict}' but holds no score"
    return ErrorLine(
        suite=row.suite,
        eval_id=row.eval_id,
        target=row.target,
        trial=row.trial,
        kind=kind,
        message=message,
    )
