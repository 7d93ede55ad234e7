"""An LLM API that takes all requests in batches, at half the price and within a day."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from agentv.errors import ProviderError
from agentv.model.request import ProviderRequest
from agentv.protocols import ProviderBuild
from agentv.providers.apis.batch_api import BatchApi
from agentv.providers.apis.batch_hold import BatchHold
from agentv.providers.apis.batch_job import BatchJob
from agentv.providers.apis.batch_ledger import claim, known_batches
from agentv.providers.apis.batch_making import BatchMaker
from agentv.providers.apis.batch_plan import BatchPlan, Outcome
from agentv.providers.apis.batch_sender import BatchSender
from agentv.providers.apis.batch_telling import Teller
from agentv.providers.apis.batch_watching import BatchWatcher
from agentv.providers.apis.options import ApiOptions
from agentv.providers.apis.provider import ApiProvider
from agentv.providers.apis.wire import Wire


class BatchingApi(ApiProvider):
    """An LLM API that also takes all requests in batches.

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
        self._tell = Teller(f"{options.provider}/{wire.model}", build.emit)
        self._holds: list[BatchHold] = []
        self._passing: TemporaryDirectory[str] | None = None

    async def respond_batch(self, requests: Sequence[ProviderRequest]) -> Sequence[Outcome]:
        """Wait for the batches of these requests, whether this run makes them or one before did.

        Returns:
            One outcome a request: an answer; a refusal of the model; `None` for a request that is
            to be sent singly, because no batch has an answer to it.

        Raises:
            ProviderError: There is no batch, or none that could be noted down.
            RunAborted: There is one, and its answers cannot be had now. They are paid for: sending
                the requests singly would pay for them again.
        """
        plan = BatchPlan(
            self._batch_wire, self._batch_options, requests, self._batches, self._build.token
        )
        if plan.too_large:
            self._tell.news(f"requests too large for any batch: {plan.too_large}, sent singly")
        if not plan.digests:
            return plan.outcomes({})
        folder = self._ledger()
        try:
            return plan.outcomes(await self._job(plan, folder).answers())
        except OSError as error:
            reason = f"it cannot be noted down in {folder}: {error.strerror or error}"
            raise ProviderError(reason, kind="batch") from error

    def settle(self) -> None:
        """Every row that the batches were for is written: no other run may have them."""
        for hold in self._holds:
            hold.settle()

    async def aclose(self) -> None:
        """Whoever starts this run again may have its batches, and is told so."""
        for hold in self._holds:
            hold.close()
        if self._passing is not None:
            self._passing.cleanup()

    def _ledger(self) -> Path:
        """Where batches under way are noted; a replay has nothing to do with those of real runs."""
        if not self._build.replays:
            return self._build.folder / ".agentv" / "batches"
        if self._passing is None:
            self._passing = TemporaryDirectory(prefix="agentv-", ignore_cleanup_errors=True)
        return Path(self._passing.name)

    def _job(self, plan: BatchPlan, folder: Path) -> BatchJob:
        build, options, tell = self._build, self._batch_options, self._tell
        place = claim(folder, plan.target, plan.digests, datetime.now(UTC))
        if place.has_rival:
            tell.warning("a run with batches of the same cases goes on; this one pays for its own")
        hold = BatchHold(place, tell)
        self._holds.append(hold)
        sender = BatchSender(
            build.http,
            self._batch_wire,
            options,
            build.rng,
            plan.headers,
            tell,
            sleep=build.sleep,
        )
        maker = BatchMaker(
            plan,
            sender,
            place,
            tell,
            others=lambda: known_batches(folder),
            look_seconds=options.batch_poll_seconds,
            retries=options.retry_settings().max_retries,
            moment=build.moment,
        )
        watcher = BatchWatcher(plan.api, sender, tell, options.batch_poll_seconds)
        return BatchJob(self._batch_wire, options, plan, hold, maker, watcher, tell)
