"""Putting a run's folder in order before it goes on: what stands, and what is set aside.

Each file is written anew beside the old one and then takes its place, so that a crash at any
moment leaves one or the other. What was paid for is always in one of them: answers are among the
steps before their rows go.
"""

import os
import shutil
from array import array
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import msgspec

from agentv.core.json_text import to_json
from agentv.errors import SetupError
from agentv.model.prior import Prior
from agentv.model.result import TrialResult
from agentv.model.step import Answered, Judged, Step, step_key
from agentv.model.trial import Trial
from agentv.storage.durable import sync_folder
from agentv.storage.prior_run import PriorRun
from agentv.storage.run_folder import RunFolder


class Rewriting:
    """Takes the decisions one at a time; `finish` makes them so.

    Raises:
        SetupError: The folder cannot be written; it is as it was then.
    """

    def __init__(self, prior: PriorRun) -> None:
        self._prior = prior
        self._folder: RunFolder = prior.folder
        self._kept = array("q")
        self._renamed: dict[int, Mapping[str, Any]] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._steps = self._stack.enter_context(_Draft(self._folder.steps_path))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def keep(self, place: int, row: TrialResult, trial: Trial) -> None:
        """A row stands; what it belongs to may be called something else by now."""
        self._kept.append(place)
        if names := _changed_names(row, trial):
            self._renamed[place] = names

    def take_over(self, trial: Trial, prior: Prior) -> int:
        """An answer that need not be asked for again; where it can be read afterwards."""
        place = self._steps.size
        key = step_key(trial)
        self._steps.write(
            Answered(
                **key,
                digest=trial.digest,
                attempts=prior.attempts,
                duration_ms=prior.duration_ms,
                response=prior.response,
            )
        )
        for result in prior.verdicts:
            self._steps.write(Judged(**key, result=result))
        return place

    def finish(self) -> int:
        """Make it so; how many rows were set aside."""
        kept = sorted(self._kept)
        aside = sorted(set(self._prior.row_places()).difference(kept))
        self._steps.take_its_place()
        if aside:
            self._set_aside(aside)
        if aside or self._renamed or self._prior.torn or self._prior.doubles:
            self._rewrite(kept)
        return len(aside)

    def _set_aside(self, places: list[int]) -> None:
        path = self._folder.superseded_path
        with _Draft(path) as draft:
            if path.exists():
                draft.add_file(path)
            for place in places:
                draft.add(self._prior.line(place))
            draft.take_its_place()

    def _rewrite(self, places: list[int]) -> None:
        with _Draft(self._folder.journal_path) as draft:
            for place in places:
                line = self._prior.line(place)
                names = self._renamed.get(place)
                draft.add(line if names is None else _called(line, names))
            draft.take_its_place()


class _Draft:
    """A file that takes another's place once it is whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        self._file: IO[bytes] | None = None
        self.size = 0

    def __enter__(self) -> Self:
        try:
            self._file = self._draft.open("wb")
        except OSError as error:
            raise _unwritable(self._path, error) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._file is not None:
            with suppress(OSError):  # what it still wants to write is not wanted any more
                self._file.close()
            self._draft.unlink(missing_ok=True)

    def write(self, step: Step) -> None:
        self.add(to_json(step) + b"\n")

    def add(self, line: bytes) -> None:
        assert self._file is not None  # noqa: S101 - used as a context manager only
        try:
            self._file.write(line)
        except OSError as error:
            raise _unwritable(self._path, error) from error
        self.size += len(line)

    def add_file(self, path: Path) -> None:
        assert self._file is not None  # noqa: S101 - used as a context manager only
        try:
            with path.open("rb") as file:
                shutil.copyfileobj(file, self._file)
        except OSError as error:
            raise _unwritable(self._path, error) from error

    def take_its_place(self) -> None:
        assert self._file is not None  # noqa: S101 - used as a context manager only
        file, self._file = self._file, None
        try:
            with file:
                file.flush()
                os.fsync(file.fileno())
            self._draft.replace(self._path)
            sync_folder(self._path.parent)
        except OSError as error:
            self._draft.unlink(missing_ok=True)
            raise _unwritable(self._path, error) from error


def _changed_names(row: TrialResult, trial: Trial) -> Mapping[str, Any]:
    names = {
        "suite": trial.suite,
        "dataset": trial.dataset,
        "conversation_id": trial.case.conversation_id,
    }
    return {key: name for key, name in names.items() if getattr(row, key) != name}


def _called(line: bytes, names: Mapping[str, Any]) -> bytes:
    return to_json({**msgspec.json.decode(line), **names}) + b"\n"


def _unwritable(path: Path, error: OSError) -> SetupError:
    return SetupError(f"{path} cannot be written: {error.strerror}.")
