"""Filling the folder of a new run with what an earlier one knows."""

from contextlib import ExitStack
from types import TracebackType
from typing import Self

from agentv.model.prior import Prior
from agentv.model.result import TrialResult
from agentv.model.trial import Trial
from agentv.storage.draft import Draft
from agentv.storage.run_folder import RunFolder


class Filling:
    """Takes answers and rows one at a time; the files are there once it is finished.

    Raises:
        SetupError: The folder cannot be written.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._steps = self._stack.enter_context(Draft(self._folder.steps_path))
        self._rows = self._stack.enter_context(Draft(self._folder.journal_path))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def take_over(self, trial: Trial, prior: Prior) -> int:
        """An answer that is to be judged; where it can be read afterwards."""
        return self._steps.write_answer(trial, prior)

    def keep(self, row: TrialResult) -> None:
        """A row that stands as it is."""
        self._rows.write(row)

    def finish(self) -> None:
        """Nothing more comes."""
        self._steps.take_its_place()
        self._rows.take_its_place()
