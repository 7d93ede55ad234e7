"""On whose behalf the borders are crossed."""

from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path

import msgspec

from agentv.transport.cassettes.disguise import Disguise, Secrets


class Asker(msgspec.Struct, kw_only=True):
    """A trial: what its candidate and its judges ask belongs together."""

    eval_id: str = ""
    trial: int = 1
    places: dict[str, Path] = {}
    """Folders that were made for it; its judge is told of them, too."""


_CURRENT: ContextVar[Asker | None] = ContextVar("agentv_asker", default=None)


def ask_for(eval_id: str, trial: int) -> None:
    """What this task asks from here on is asked for a trial.

    A judge asks in the task of its candidate, so it goes on with what is known of the trial.
    """
    asker = _CURRENT.get()
    if asker is None or (asker.eval_id, asker.trial) != (eval_id, trial):
        _CURRENT.set(Asker(eval_id=eval_id, trial=trial))


def current_asker(places: Mapping[str, Path] | None = None) -> Asker:
    """Who asks; nobody in particular for what belongs to no trial.

    Args:
        places: Folders that were made for this request.
    """
    asker = _CURRENT.get() or Asker()
    asker.places.update(places or {})
    return asker


def disguise_for(asker: Asker, secrets: Secrets, project: Path) -> Disguise:
    """Hides the project's folder, and those that were made for a trial."""
    return Disguise(secrets=secrets, places={**asker.places, "project": project.absolute()})
