"""A run as it was left: which trials have rows, and what is known of the others.

What is held of each is a hash and a place in a file, so a run of any size fits; a line is read
when its trial is asked for.
"""

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from agentv.core.resuming import Known
from agentv.errors import SetupError
from agentv.model.prior import Prior
from agentv.model.result import EvaluatorResult, TrialResult
from agentv.model.step import Answered, Asked, Judged, Step, decode_step
from agentv.storage.lines import Key, Lines, TrialKey
from agentv.storage.run_folder import RunFolder

T = TypeVar("T")


class PriorRun:
    """Reads what a run left; a context manager, since it holds files open.

    Raises:
        SetupError: A file cannot be read, or a line that is not the last is not what it should be.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self._rows = Lines(folder.journal_path, "a result row")
        self._steps = Lines(folder.steps_path, "a step")
        self._superseded = Lines(folder.superseded_path, "a result row")
        self._row_at: dict[int, int] = {}
        self._steps_at: dict[int, list[int]] = {}
        self._superseded_at: dict[int, list[int]] = {}
        self.repeated = array("q")
        """Where rows begin that have a later one of the same trial, which counts."""

    def __enter__(self) -> Self:
        for place, head in self._rows.heads():
            trial = hash(head.key)
            if trial in self._row_at:
                self.repeated.append(self._row_at[trial])
            self._row_at[trial] = place
        for place, head in self._steps.heads():
            if hash(head.key) not in self._row_at:
                self._steps_at.setdefault(hash(head.key), []).append(place)
        for place, head in self._superseded.heads():
            self._superseded_at.setdefault(hash(head.key), []).append(place)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._rows.close()
        self._steps.close()
        self._superseded.close()

    @property
    def rows(self) -> int:
        """How many trials have a row."""
        return len(self._row_at)

    @property
    def torn(self) -> tuple[str, ...]:
        """The files whose last line was cut off in the middle, by name."""
        return tuple(lines.name for lines in (self._rows, self._steps) if lines.torn)

    def known(self, key: Key) -> Known:
        """What was recorded of a trial."""
        place = self.place(key)
        if place is not None:
            row: TrialResult = self._rows.read(place, TrialResult)
            # Two keys may have one hash, once in some billion runs.
            if (row.suite, row.eval_id, row.target, row.trial) == key:
                return Known(row=row)
        steps = (self._steps.step(at) for at in self._steps_at.get(hash(key), ()))
        return _known([step for step in steps if _key(step) == key])

    def superseded(self, key: Key, digest: str) -> TrialResult | None:
        """The last row of a trial that was set aside and has an answer of this digest."""
        for place in reversed(self._superseded_at.get(hash(key), ())):
            row: TrialResult = self._superseded.read(place, TrialResult)
            is_it = (row.suite, row.eval_id, row.target, row.trial) == key
            if is_it and row.digest == digest and row.candidate_answer is not None:
                return row
        return None

    def knows(self, key: Key) -> bool:
        """Whether anything was recorded of a trial."""
        return hash(key) in self._row_at or hash(key) in self._steps_at

    def view(self, key: Key, type_: type[T]) -> T | None:
        """As much of a trial's row as a type asks for; `None` if it has none."""
        place = self.place(key)
        if place is None:
            return None
        found: T = self._rows.read(place, type_)
        return found

    def place(self, key: Key) -> int | None:
        """Where a trial's row begins; `None` if it has none."""
        return self._row_at.get(hash(key))

    def row_places(self) -> Iterable[int]:
        """Where the rows that count begin."""
        return self._row_at.values()

    def case_at(self, place: int) -> str:
        """The id of the case whose row begins at a place."""
        head: TrialKey = self._rows.read(place, TrialKey)
        return head.eval_id

    def line(self, place: int) -> bytes:
        """The row that begins at a place, as it was written."""
        return self._rows.line(place)


def read_prior(steps: Path, place: int) -> Prior:
    """The answer that begins at a place of the steps, with the verdicts that follow it.

    Raises:
        SetupError: It cannot be read.
    """
    try:
        with steps.open("rb") as file:
            file.seek(place)
            answered = decode_step(file.readline())
            if not isinstance(answered, Answered):
                raise SetupError(f"{steps}: there is no answer at byte {place}.")
            return Prior(
                response=answered.response,
                attempts=answered.attempts,
                duration_ms=answered.duration_ms,
                verdicts=tuple(_verdicts_of(answered, file)),
            )
    except (OSError, ValueError) as error:
        raise SetupError(f"{steps} cannot be read at byte {place}: {error}.") from error


def _verdicts_of(answered: Answered, lines: Iterable[bytes]) -> Iterator[EvaluatorResult]:
    for line in lines:
        step = decode_step(line)
        if not isinstance(step, Judged) or _key(step) != _key(answered):
            return
        yield step.result


def _key(step: Step) -> Key:
    return step.suite, step.eval_id, step.target, step.trial


def _known(steps: list[Step]) -> Known:
    answered: Answered | None = None
    judged: list[EvaluatorResult] = []
    for step in steps:
        if isinstance(step, Answered):
            answered, judged = step, []
        elif isinstance(step, Judged):
            judged.append(step.result)
    asked = any(isinstance(step, Asked) for step in steps)
    return Known(answered=answered, judged=tuple(judged), asked=asked)
