"""Putting a run's folder in order before it goes on: what stands, and what is set aside.

Each file is written anew beside the old one and then takes its place, so that a crash at any
moment leaves one or the other. What was paid for is always in one of them: answers are among the
steps before their rows go.
"""

from array import array
from collections.abc import Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from agentv.model.prior import Prior
from agentv.model.result import TrialResult
from agentv.model.trial import Trial
from agentv.storage.draft import Draft
from agentv.storage.lines import called
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
        self._replaced = array("q")
        self._renamed: dict[int, Mapping[str, Any]] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._steps = self._stack.enter_context(Draft(self._folder.steps_path))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def let_go(self, place: int) -> None:
        """A row does not stand, and another one of the same trial will take its place."""
        self._replaced.append(place)

    def keep(self, place: int, row: TrialResult, trial: Trial) -> None:
        """A row stands; what it belongs to may be called something else by now."""
        self._kept.append(place)
        if names := _changed_names(row, trial):
            self._renamed[place] = names

    def take_over(self, trial: Trial, prior: Prior) -> int:
        """An answer that need not be asked for again; where it can be read afterwards."""
        return self._steps.write_answer(trial, prior)

    @property
    def gone(self) -> list[int]:
        """Where the rows begin of trials that were not decided on: they are not planned."""
        decided = {*self._kept, *self._replaced}
        return sorted(set(self._prior.row_places()) - decided)

    def finish(self) -> int:
        """Make it so; how many rows were set aside."""
        kept = sorted(self._kept)
        aside = sorted({*self._replaced, *self.gone, *self._prior.repeated})
        self._steps.take_its_place()
        if aside:
            self._set_aside(aside)
        if aside or self._renamed or self._prior.torn:
            self._rewrite(kept)
        return len(aside)

    def _set_aside(self, places: list[int]) -> None:
        path = self._folder.superseded_path
        with Draft(path) as draft:
            if path.exists():
                draft.add_file(path)
            for place in places:
                draft.add(self._prior.line(place))
            draft.take_its_place()

    def _rewrite(self, places: list[int]) -> None:
        with Draft(self._folder.journal_path) as draft:
            for place in places:
                line = self._prior.line(place)
                names = self._renamed.get(place)
                draft.add(line if names is None else called(line, names))
            draft.take_its_place()


def _changed_names(row: TrialResult, trial: Trial) -> Mapping[str, Any]:
    names = {
        "suite": trial.suite,
        "dataset": trial.dataset,
        "conversation_id": trial.case.conversation_id,
    }
    return {key: name for key, name in names.items() if getattr(row, key) != name}
