"""The exchanges with one target, on their way into a cassette."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from agentv.model.exchange import Asked, Exchange, Reply
from agentv.transport.cassettes.asker import Asker, disguise_for
from agentv.transport.cassettes.disguise import Disguise, Secrets


class Tape(Protocol):
    """Where exchanges are written down."""

    def place(self, target: str, asker: Asker) -> Path:
        """The file for the next exchange of a trial with a target."""

    def write(self, place: Path, exchange: Exchange) -> None:
        """Raises `RunAborted` when it cannot be written."""

    def leave_out(self, target: str, asker: Asker, why: str) -> None:
        """An exchange cannot be kept."""


class Track:
    """Names what is recorded of one target."""

    def __init__(self, tape: Tape, secrets: Secrets, target: str, project: Path) -> None:
        self._tape = tape
        self._secrets = secrets
        self._target = target
        self._project = project

    def disguise(self, asker: Asker) -> Disguise:
        """For an exchange on a trial's behalf."""
        return disguise_for(asker, self._secrets, self._project)

    def begin(self, asker: Asker, request: Asked) -> Callable[[Reply], None]:
        """What to call with the reply, once there is one."""
        place = self._tape.place(self._target, asker)
        began = time.perf_counter()

        def over(reply: Reply) -> None:
            exchange = Exchange(
                target=self._target,
                eval_id=asker.eval_id,
                trial=asker.trial,
                request=request,
                reply=reply,
                duration_ms=round((time.perf_counter() - began) * 1000, 1),
            )
            self._tape.write(place, exchange)

        return over

    def leave_out(self, asker: Asker, why: str) -> None:
        """An exchange is too large to be kept."""
        self._tape.leave_out(self._target, asker, why)
