"""What is noted of the batches of one plan, as it stands on disk."""

from collections.abc import Collection
from datetime import datetime
from typing import Self

import msgspec

from agentv.model.base import Record


class BatchPart(Record, frozen=True, kw_only=True):
    """One batch of a plan: to be made, perhaps made, or made and paid for."""

    key: str
    """No other batch has it."""
    requests: dict[str, str]
    """The custom id of each request, by the request's digest; in the batch's order."""
    asked: datetime | None = None
    """When the vendor was asked for it; UTC."""
    file: str | None = None
    """What was uploaded for it."""
    batch_id: str | None = None
    is_sure: bool = True
    """Whether the batch of that id can be no other."""
    rejected: tuple[str, ...] = ()
    """Batches that turned out to be others, or came to nothing."""


class LedgerEntry(Record, frozen=True, kw_only=True):
    """The batches of one plan."""

    endpoint: str
    """Scheme and host, for people who look into the file."""
    made: datetime
    """UTC."""
    parts: tuple[BatchPart, ...]
    runs: tuple[str, ...] = ()
    """Those that made them or took them up, and have not come to their end."""
    spent: frozenset[str] = frozenset()
    """Digests of requests whose answers have done their service: nobody is to have them again."""

    @property
    def is_asked(self) -> bool:
        """Whether any batch of it may be there."""
        return any(part.asked for part in self.parts)

    def has_of(self, wanted: Collection[str]) -> set[str]:
        """Which of these requests are in it and may be taken."""
        return {key for part in self.parts for key in part.requests.keys() & wanted} - self.spent

    def taken_up_by(self, run: str) -> Self:
        """With one more run that has a hold on it."""
        runs = self.runs if run in self.runs else (*self.runs, run)
        return msgspec.structs.replace(self, runs=runs)

    def without(self, requests: Collection[str], run: str | None = None) -> Self | None:
        """With these requests spent, and a run gone; `None` if nobody wants what is left."""
        runs = tuple(each for each in self.runs if each != run)
        own = {key for part in self.parts for key in part.requests}
        spent = self.spent | (own & set(requests))
        if spent >= own or (run is not None and not runs):
            return None
        return msgspec.structs.replace(self, runs=runs, spent=spent)
