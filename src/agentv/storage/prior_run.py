"""A run as it was left: which trials have rows, and what is known of the others.

What is held of each is a hash and a place in a file, so a run of any size fits; a line is read
when its trial is asked for.
"""

from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from agentv.core.resuming import Known
from agentv.errors import SetupError
from agentv.model.base import Record
from agentv.model.prior import Prior
from agentv.model.result import EvaluatorResult, TrialResult
from agentv.model.step import Answered, Asked, Judged, Step, decode_step
from agentv.storage.run_folder import RunFolder

Key = tuple[str, str, str, int]
"""Suite, case, target, trial."""


class _Head(Record, frozen=True, kw_only=True):
    suite: str
    eval_id: str
    target: str
    trial: int

    @property
    def key(self) -> Key:
        return self.suite, self.eval_id, self.target, self.trial


class PriorRun:
    """Reads what a run left; a context manager, since it holds files open.

    Raises:
        SetupError: A file cannot be read, or a line that is not the last is not what it should be.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self._rows = _Lines(folder.journal_path, "a result row")
        self._steps = _Lines(folder.steps_path, "a step")
        self._row_at: dict[int, int] = {}
        self._steps_at: dict[int, list[int]] = {}
        self.doubles = 0
        """Rows that repeat the trial of another; the last one counts."""

    def __enter__(self) -> Self:
        for place, head in self._rows.heads():
            self.doubles += hash(head.key) in self._row_at
            self._row_at[hash(head.key)] = place
        for place, head in self._steps.heads():
            if hash(head.key) not in self._row_at:
                self._steps_at.setdefault(hash(head.key), []).append(place)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._rows.close()
        self._steps.close()

    @property
    def torn(self) -> bool:
        """Whether the last line of a file was cut off in the middle."""
        return self._rows.torn or self._steps.torn

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

    def knows(self, key: Key) -> bool:
        """Whether anything was recorded of a trial."""
        return hash(key) in self._row_at or hash(key) in self._steps_at

    def place(self, key: Key) -> int | None:
        """Where a trial's row begins; `None` if it has none."""
        return self._row_at.get(hash(key))

    def row_places(self) -> Iterable[int]:
        """Where the rows that count begin."""
        return self._row_at.values()

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


class _Lines:
    """The whole lines of a file, each known by where it begins."""

    def __init__(self, path: Path, what: str) -> None:
        self._path = path
        self._what = what
        self._file: BufferedReader | None = None
        self.torn = False

    def heads(self) -> Iterator[tuple[int, _Head]]:
        """Where each line begins, and whose it is."""
        decode = msgspec.json.Decoder(_Head).decode
        try:
            self._file = self._path.open("rb")
        except FileNotFoundError:
            return
        except OSError as error:
            raise SetupError(f"{self._path} cannot be read: {error.strerror}.") from error
        place = 0
        for number, line in enumerate(self._file, 1):
            try:
                head = decode(line) if line.endswith(b"\n") else None
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                if self._file.peek(1):
                    raise self._mistake(number, error) from error
                head = None
            if head is None:
                self.torn = True
                return
            yield place, head
            place += len(line)

    def read(self, place: int, type_: type[Any]) -> Any:
        """The line that begins at a place."""
        try:
            return msgspec.json.decode(self.line(place), type=type_)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._misfit(place, error) from error

    def line(self, place: int) -> bytes:
        """The line that begins at a place, as it is."""
        assert self._file is not None  # noqa: S101 - places come from `heads`
        self._file.seek(place)
        return self._file.readline()

    def step(self, place: int) -> Step:
        """The step whose line begins at a place."""
        try:
            step: Step = decode_step(self.line(place))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._misfit(place, error) from error
        return step

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def _misfit(self, place: int, error: Exception) -> SetupError:
        return SetupError(f"{self._path}: the line at byte {place} is not {self._what} ({error}).")

    def _mistake(self, number: int, error: Exception) -> SetupError:
        return SetupError(
            f"{self._path}:{number}: this line is not {self._what} ({error}). Something other than "
            "AgentV changed the file; restore it, or take the line out to go on without it."
        )


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
