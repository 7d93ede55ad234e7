"""On whose behalf the borders are crossed."""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import reduce
from pathlib import Path
from typing import Any

import msgspec

from agentv.model.base import Record
from agentv.transport.cassettes.disguise import Disguise, Secrets

_OF_CANDIDATE = "candidate-"
"""Begins the words for the candidate's places, as its judge is told of them."""


class TrialName(Record, frozen=True, kw_only=True):
    """A trial: what its candidate and its judges ask belongs together."""

    dataset: str = ""
    eval_id: str = ""
    target: str = ""
    """The one under test."""
    number: int = 1


NO_TRIAL = TrialName()
"""What belongs to none: batches."""


class Asker(Record, frozen=True, kw_only=True):
    """A trial's candidate, or one of its judges."""

    of: TrialName = NO_TRIAL
    is_judge: bool = False
    is_anew: bool = True
    """Whether the whole trial is asked; else its answer was there before."""
    known: frozenset[str] = frozenset()
    """What judges were asked whose verdicts were there before."""
    repeats_known: bool = False
    """Whether a judge was asked the very same before, and that verdict stays."""
    places: dict[str, Path] = {}
    """Folders that were made for the candidate."""
    moves: list[Callable[[str], str]] = []
    """Take a text from where folders were made when it was recorded to where they are now."""

    def note_move(self, recorded: Mapping[str, str], now: Disguise) -> None:
        """Folders have been made for a recorded command."""
        places = {word: Path(place) for word, place in recorded.items() if word in now.places}
        then = Disguise(secrets=Secrets(), places=places)
        if places:
            self.moves.append(lambda text: now.show(then.hide(text)))

    def moved(self, value: Any) -> Any:
        """A JSON value with the folders that were made for a recording where they are now.

        What a program says as a whole has been taken there already. Some say it in pieces, and no
        piece holds the path.
        """
        if isinstance(value, str):
            return reduce(lambda text, move: move(text), self.moves, value)
        if isinstance(value, list):
            return [self.moved(item) for item in value]
        if isinstance(value, dict):
            return {key: self.moved(item) for key, item in value.items()}
        return value


_CURRENT: ContextVar[Asker | None] = ContextVar("agentv_asker", default=None)


def ask_for(trial: TrialName, *, is_anew: bool = True, known: frozenset[str] = frozenset()) -> None:
    """What this task asks from here on is asked for a trial.

    Args:
        trial: Which.
        is_anew: Whether it begins with its candidate.
        known: What judges were asked whose verdicts are taken over.
    """
    _CURRENT.set(Asker(of=trial, is_anew=is_anew, known=known))


def speak_as_candidate() -> None:
    """What this task asks from here on is what the trial's candidate asks."""
    _CURRENT.set(msgspec.structs.replace(current_asker(), is_judge=False, repeats_known=False))


def speak_as_judge(question: str) -> None:
    """What this task asks from here on is what a judge asks.

    Args:
        question: What the judge itself is asked.
    """
    asker = current_asker()
    _CURRENT.set(
        msgspec.structs.replace(asker, is_judge=True, repeats_known=question in asker.known)
    )


def current_asker() -> Asker:
    """Who asks; nobody in particular for what belongs to no trial."""
    return _CURRENT.get() or Asker()


def disguise_for(
    asker: Asker, secrets: Secrets, project: Path, made: Mapping[str, Path]
) -> Disguise:
    """Hides the project's folder, and those that were made for a trial.

    A judge may have folders of its own, and be told of the candidate's: they have other words.

    Args:
        asker: Who asks.
        secrets: What else is hidden.
        project: The folder of the targets file.
        made: Folders that were made for this request.
    """
    if asker.is_judge:
        made = {**made, **{f"{_OF_CANDIDATE}{word}": at for word, at in asker.places.items()}}
    else:
        asker.places.update(made)
    return Disguise(secrets=secrets, places={**made, "project": project.absolute()})
