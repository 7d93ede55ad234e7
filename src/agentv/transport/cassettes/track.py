"""The exchanges with one target, on their way into a cassette."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from agentv.model.exchange import Asked, Exchange, NoReply, Reply
from agentv.transport.cassettes.asker import Asker, TrialName, disguise_for
from agentv.transport.cassettes.disguise import Disguise, Secrets

_LOST = NoReply(kind="connection", message="the reply was lost: the recording was cut short")


class Tape(Protocol):
    """Where exchanges are written down."""

    def places(self, trial: TrialName) -> Mapping[str, Path]:
        """Folders that were made for a candidate whose answer was there before."""

    def reserve(self, asker: Asker, lost: Exchange) -> Path | None:
        """Called before anything is asked.

        Args:
            asker: Who asks.
            lost: What is to be replayed if the run is killed before there is a reply.

        Returns:
            Where the exchange belongs, if that is known already.

        Raises:
            RunAborted: Nothing can be written.
        """

    def write(self, asker: Asker, exchange: Exchange, place: Path | None) -> None:
        """Called with what came of it; raises `RunAborted` when it cannot be written."""

    def leave_out(self, target: str, asker: Asker, why: str) -> None:
        """An exchange cannot be kept."""


class Track:
    """Names what is recorded of one target."""

    def __init__(self, tape: Tape, secrets: Secrets, target: str, project: Path) -> None:
        self._tape = tape
        self._secrets = secrets
        self._target = target
        self._project = project

    def disguise(self, asker: Asker, made: Mapping[str, Path] | None = None) -> Disguise:
        """For an exchange on a trial's behalf.

        Args:
            asker: Who asks.
            made: Folders that were made for this request.
        """
        if asker.is_judge and not asker.is_anew and not asker.places:
            asker.places.update(self._tape.places(asker.of))
        return disguise_for(asker, self._secrets, self._project, made or {})

    def begin(
        self, asker: Asker, request: Asked, made: Mapping[str, Path] | None = None
    ) -> Callable[[Reply], None]:
        """What to call with the reply, once there is one."""
        began = time.perf_counter()

        def exchange(reply: Reply) -> Exchange:
            return Exchange(
                target=self._target,
                dataset=asker.of.dataset,
                eval_id=asker.of.eval_id,
                trial=asker.of.number,
                about=asker.of.target if asker.is_judge else "",
                places={word: str(place) for word, place in (made or {}).items()},
                request=request,
                reply=reply,
                duration_ms=round((time.perf_counter() - began) * 1000, 1),
            )

        place = self._tape.reserve(asker, exchange(_LOST))
        return lambda reply: self._tape.write(asker, exchange(reply), place)

    def leave_out(self, asker: Asker, why: str) -> None:
        """An exchange is too large to be kept."""
        self._tape.leave_out(self._target, asker, why)
