"""Telling everybody who wants to know what happens in a run."""

from collections.abc import Sequence

import msgspec

from agentv.core.redaction import Redactor
from agentv.model.event import AttemptFailed, Event, Notice
from agentv.protocols import Sink


class Broadcast:
    """Hands events to every sink, with secrets taken out of what they say.

    Rows come from the journal, which has done that already.
    """

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = sinks
        self.redactor = Redactor({})

    def __call__(self, event: Event) -> None:
        """Tell all."""
        if isinstance(event, AttemptFailed | Notice):
            event = msgspec.structs.replace(event, message=self.redactor.text(event.message))
        for sink in self._sinks:
            sink.handle(event)

    def warn(self, message: str) -> None:
        """Tell all of something that was perhaps not meant so."""
        self(Notice(level="warning", message=message))
