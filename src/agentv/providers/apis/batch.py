"""All requests in one batch at half the price: make it, wait for it, hand out what came of it."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from agentv.errors import ProviderError, RunAborted
from agentv.model.request import ProviderRequest
from agentv.protocols import ProviderBuild
from agentv.providers.apis.batch_api import (
    BatchApi,
    BatchClient,
    BatchFailed,
    BatchStatus,
    ItemReply,
)
from agentv.providers.apis.batch_ledger import BatchEntry, Claim, claim
from agentv.providers.apis.batch_plan import BatchPlan, Outcome
from agentv.providers.apis.batch_sender import BatchSender
from agentv.providers.apis.options import ApiOptions
from agentv.providers.apis.provider import ApiProvider
from agentv.providers.apis.wire import Wire

LONGEST_POLL_SECONDS = 30.0
_POLL_GROWTH = 1.5
_GONE = ("http_404", "http_410")


class BatchingApi(ApiProvider):
    """An LLM API that also takes all requests in one batch.

    Args:
        wire: Writes each request and reads each answer, singly or in a batch.
        options: The target's.
        build: Its folder is where batches under way are kept, in `.agentv/batches`.
        batches: From the URL of single requests to the batch endpoints beside it.
    """

    def __init__(
        self,
        wire: Wire,
        options: ApiOptions,
        build: ProviderBuild,
        batches: Callable[[str], BatchApi],
    ) -> None:
        super().__init__(wire, options, build)
        self._batch_wire = wire
        self._batch_options = options
        self._build = build
        self._batches = batches
        self._claims: list[tuple[Claim, BatchPlan]] = []
        self._passing: TemporaryDirectory[str] | None = None

    async def respond_batch(self, requests: Sequence[ProviderRequest]) -> Sequence[Outcome]:
        """Wait for the batch of these requests, whether this run makes it or an earlier one did.

        Returns:
            One outcome a request: an answer; an error that another try would not mend; `None` for
            a request that is to be sent singly, because the service failed or ran out of time.

        Raises:
            ProviderError: There is no batch.
            OSError: There is none, since it could not be noted down.
            RunAborted: There is one, and its answers cannot be had now. They are paid for: sending
                the requests singly would pay for them again.
        """
        plan = BatchPlan(self._batch_wire, self._batch_options, requests)
        if not plan.items:
            return plan.outcomes([], {})
        api = self._batches(plan.url)
        client = BatchSender(
            self._build.http,
            self._batch_wire,
            self._batch_options,
            self._build.rng,
            plan.headers,
            self._build.sleep,
        )
        place = claim(self._ledger(), plan.target, plan.custom_ids, _now())
        self._claims.append((place, plan))
        outcomes = await self._left_behind(plan, place, api, client)
        if outcomes is None:
            outcomes = await self._made(plan, place, api, client)
        singly = sum(outcome is None for outcome in outcomes)
        self._say(
            f"batch answered; {singly} of {len(outcomes)} requests are left to be sent singly"
        )
        return outcomes

    def settle(self) -> None:
        """Every row that the batches were for is written: no other run may have them."""
        for place, plan in self._claims:
            place.use_up(plan.custom_ids)

    async def aclose(self) -> None:
        """Whoever starts this run again may have its batches."""
        for place, _ in self._claims:
            place.release()
        if self._passing is not None:
            self._passing.cleanup()

    def _ledger(self) -> Path:
        """Where batches under way are noted; a replay has nothing to do with those of real runs."""
        if not self._build.replays:
            return self._build.folder / ".agentv" / "batches"
        if self._passing is None:
            self._passing = TemporaryDirectory(prefix="agentv-", ignore_cleanup_errors=True)
        return Path(self._passing.name)

    async def _left_behind(
        self, plan: BatchPlan, place: Claim, api: BatchApi, client: BatchClient
    ) -> list[Outcome] | None:
        """What came of the batch that an interrupted run made; `None` if there is none to use."""
        if place.entry is None:
            return None
        batch_id, made = place.entry.batch_id, place.entry.made
        custom_ids = place.entry.requests
        self._say(f"batch {batch_id} of an interrupted run ({made:%Y-%m-%d %H:%M} UTC) is taken up")
        try:
            replies = await self._replies(batch_id, place, api, client)
        except ProviderError as error:  # it was deleted, or came to nothing
            self._say(f"batch {batch_id} is of no use any more ({error}); a new one is made")
            place.forget()
            return None
        return plan.outcomes(replies, custom_ids)

    async def _made(
        self, plan: BatchPlan, place: Claim, api: BatchApi, client: BatchClient
    ) -> list[Outcome]:
        """What came of a new batch."""
        batch_id = await api.create(plan.items, plan.label, client)
        entry = BatchEntry(
            batch_id=batch_id,
            endpoint=self._batch_wire.endpoint,
            made=_now(),
            requests=plan.custom_ids,
        )
        try:
            place.keep(entry)
        except OSError as error:  # it is paid for: better to wait for it unnoted than to drop it
            self._say(f"batch {batch_id} cannot be noted down ({error}): a crash would lose it")
        self._say(f"batch {batch_id} made of {len(plan.items)} requests")
        replies = await self._replies(batch_id, place, api, client)
        return plan.outcomes(replies, plan.custom_ids)

    async def _replies(
        self, batch_id: str, place: Claim, api: BatchApi, client: BatchClient
    ) -> Iterable[ItemReply]:
        """Wait for the end and fetch the results. Raises `ProviderError` if there are none."""
        limit = self._batch_options.batch_timeout_seconds
        try:
            async with asyncio.timeout(limit):
                return await api.results(await self._end_of(batch_id, api, client), client)
        except BatchFailed as error:
            place.forget()
            raise ProviderError(f"batch {batch_id} failed: {error}", kind="batch") from error
        except ProviderError as error:
            if error.kind in _GONE:
                raise
            raise RunAborted(_kept(batch_id, str(error))) from error
        except TimeoutError as error:
            raise RunAborted(_kept(batch_id, f"it did not end within {limit:g} s")) from error
        except asyncio.CancelledError:
            self._say(_kept(batch_id, "this run was interrupted"))
            raise

    async def _end_of(self, batch_id: str, api: BatchApi, client: BatchClient) -> BatchStatus:
        delay = self._batch_options.batch_poll_seconds
        said = None
        while True:
            status = await api.status(batch_id, client)
            news = f"batch {batch_id}: {status.word}, {status.done} done, {status.failed} failed"
            if news != said:
                self._say(news)
                said = news
            if status.ended:
                return status
            await self._build.sleep(delay)
            delay = max(delay, min(delay * _POLL_GROWTH, LONGEST_POLL_SECONDS))

    def _say(self, line: str) -> None:
        self._build.notify(f"{self._batch_options.name}: {line}")


def _kept(batch_id: str, reason: str) -> str:
    return (
        f"Batch {batch_id} is kept, although {reason}. "
        "Start the same run again within two days to pick its answers up."
    )


def _now() -> datetime:
    return datetime.now(UTC)
