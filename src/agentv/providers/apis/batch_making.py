"""One batch, made once: noted down before it is asked for, and looked for before it is asked again.

No vendor takes a key that would make asking twice harmless. So a batch carries a key of ours where
the vendor lists it, and whoever does not know whether it was made, because the run was killed or
the reply was lost, looks for it in the vendor's list first.
"""

import math
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from typing import Protocol

import msgspec

from agentv.errors import ProviderError, ReplayMiss
from agentv.protocols import now
from agentv.providers.apis.batch_api import Asked, BatchApi, BatchItem, Found, PerhapsMade
from agentv.providers.apis.batch_entry import BatchPart
from agentv.providers.apis.batch_plan import BatchPlan
from agentv.providers.apis.batch_sender import BatchSender
from agentv.providers.apis.batch_telling import Teller

_LOOKS = 10


class Ledger(Protocol):
    """Where a part is kept from one run to the next."""

    def keep_part(self, part: BatchPart) -> None:
        """Raises `OSError` when it cannot be kept."""


class BatchMaker:
    """Makes the batches of one plan, or finds those that were made.

    Args:
        plan: What goes into them.
        sender: To send with.
        ledger: Where they are noted down.
        tell: Takes what people should see.
        others: The ids of batches that are known to be others.
        look_seconds: Between two looks into a list that may not show a new batch yet.
        retries: How often a batch is asked for again when none was made.
        moment: The time at which something is done, by its name.
    """

    def __init__(
        self,
        plan: BatchPlan,
        sender: BatchSender,
        ledger: Ledger,
        tell: Teller,
        *,
        others: Callable[[], Collection[str]],
        look_seconds: float,
        retries: int,
        moment: Callable[[str], datetime] = now,
    ) -> None:
        self._plan = plan
        self._api: BatchApi = plan.api
        self._sender = sender
        self._ledger = ledger
        self._tell = tell
        self._others = others
        self._look_seconds = look_seconds
        self._retries = retries
        self._moment = moment

    async def made(self, part: BatchPart) -> BatchPart:
        """The part with its batch's id.

        Raises:
            ProviderError: There is no batch.
            OSError: There is none, since it could not be noted down.
        """
        if part.batch_id is not None:
            return part
        if part.asked is not None:
            self._tell.news("a batch of an interrupted run may be there: looking for it")
            found = await self._found(part, is_patient=True)
            if found is not None:
                return self._kept(part, found, "was made by an interrupted run: it is taken up")
            self._tell.news("there is none: a new one is made")
        return await self._new(self._plan.left_of(part))

    async def _new(self, part: BatchPart) -> BatchPart:
        items = self._plan.items(part)
        file = await self._api.upload(items, part.key, self._sender)
        part = msgspec.structs.replace(part, asked=self._moment(f"batch {part.key}"), file=file)
        self._ledger.keep_part(part)
        found = await self._asked_for(part, items)
        return self._kept(part, found, f"made of {len(part.requests)} requests")

    async def _asked_for(self, part: BatchPart, items: Iterable[BatchItem]) -> Found:
        """Ask until there is a batch; after each time that may have made one, look first."""
        retry = 0
        while True:
            try:
                batch_id = await self._api.create(items, _asked(part), self._sender)
                return Found(batch_id=batch_id, is_sure=True)
            except ProviderError as failure:
                # A reply that makes no sense may still be a yes.
                if not isinstance(failure, PerhapsMade) and failure.kind != "malformed":
                    raise
                retry += 1
                await self._sender.pause(failure, retry)
                found = await self._found(part)
                if found is not None:
                    return found
                if retry > self._retries:
                    raise

    async def _found(self, part: BatchPart, *, is_patient: bool = False) -> Found | None:
        """The batch that was asked for; a list may take a while to show it.

        Patience is for a service that has been reached before: one that cannot be reached now may
        have made the batch, and will be there again.
        """
        asked = _asked(part)
        looks = self._looks_left(asked) if is_patient else _LOOKS
        outages = 0
        while True:
            try:
                listed = await self._api.find(asked, self._sender)
            except ReplayMiss:
                raise
            except ProviderError as error:
                if is_patient and error.kind == "connection":
                    outages += 1
                    await self._sender.pause(error, outages)
                    continue
                self._tell.warning(
                    f"the service does not list its batches ({error}): "
                    "if one was made unnoticed, it is paid for in vain"
                )
                return None
            not_it = {*self._others(), *part.rejected}
            found = next((each for each in listed if each.batch_id not in not_it), None)
            looks -= 1
            if found is not None or looks <= 0:
                return found
            await self._sender.rest(self._look_seconds)

    def _looks_left(self, asked: Asked) -> int:
        """One at least, however long ago the batch was asked for."""
        seconds = (asked.at - _now()).total_seconds()
        return max(_LOOKS + math.ceil(seconds / self._look_seconds), 1)

    def _kept(self, part: BatchPart, found: Found, what: str) -> BatchPart:
        part = msgspec.structs.replace(part, batch_id=found.batch_id, is_sure=found.is_sure)
        try:
            self._ledger.keep_part(part)
        except OSError as error:  # it is paid for: better to wait for it unnoted than to drop it
            self._tell.warning(
                f"batch {found.batch_id} cannot be noted down ({error}): a crash may lose it"
            )
        self._tell.news(f"batch {found.batch_id} {what}")
        return part


def _asked(part: BatchPart) -> Asked:
    at = part.asked or _now()
    return Asked(key=part.key, at=at.astimezone(UTC), size=len(part.requests), file=part.file)


def _now() -> datetime:
    return datetime.now(UTC)
