"""An LLM API that takes all requests in batches, at half the price and within a day."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from agentv.errors import ProviderError, RunAborted
from agentv.model.request import ProviderRequest
from agentv.protocols import ProviderBuild
from agentv.providers.apis.batch_api import BatchApi
from agentv.providers.apis.batch_claims import Planned, Taken, claims, forget_answers, settle_all
from agentv.providers.apis.batch_hold import BatchHold
from agentv.providers.apis.batch_job import BatchJob
from agentv.providers.apis.batch_jobs import answers_of
from agentv.providers.apis.batch_ledger import Claim, Ledger
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
        self._run = ""
        self._is_alone = False
        self._passing: TemporaryDirectory[str] | None = None

    def begin(self, run: str, again: Iterable[ProviderRequest], *, alone: bool) -> None:
        """Know whose batches are taken up."""
        self._run, self._is_alone = run, alone
        if requests := list(again):
            ledger = self._ledger()
            try:
                forget_answers(ledger, run, self._planned(requests))
            except OSError as error:
                raise RunAborted(f"{ledger.folder} cannot be written: {_why(error)}") from error

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
        plan = self._plan(requests)
        if plan.too_large:
            self._tell.news(f"requests too large for any batch: {plan.too_large}, sent singly")
        if not plan.digests:
            return plan.outcomes({})
        ledger = self._ledger()
        places = self._claimed(ledger, plan)
        jobs = [self._job(plan.among(taken.requests), taken.place, ledger) for taken in places]
        try:
            return plan.outcomes(await answers_of(jobs, self._tell))
        except OSError as error:
            raise _unnoted(ledger, error) from error

    def settle(self, planned: Iterable[ProviderRequest]) -> None:
        """Every row that the batches were for is written: no other run may have them."""
        ledger = self._ledger()
        held = [hold.place for hold in self._holds]
        try:
            settle_all(ledger, self._run, held, cache(lambda: self._planned([*planned])))
        except OSError as error:
            self._tell.warning(
                f"{ledger.folder} cannot be written ({_why(error)}): "
                "the next run of the same cases may be given the answers of this one"
            )

    async def aclose(self) -> None:
        """Whoever starts this run again may have its batches, and is told so."""
        for hold in self._holds:
            hold.close()
        if self._passing is not None:
            self._passing.cleanup()

    def _plan(self, requests: Sequence[ProviderRequest]) -> BatchPlan:
        return BatchPlan(
            self._batch_wire, self._batch_options, requests, self._batches, self._build.token
        )

    def _planned(self, requests: Sequence[ProviderRequest]) -> Planned:
        try:
            plan = self._plan(requests)
        except ProviderError:  # the target goes elsewhere now, where there are no batches
            return Planned(target="", requests=())
        return Planned(target=plan.target, requests=set(plan.digests))

    def _ledger(self) -> Ledger:
        return Ledger(self._folder(), datetime.now(UTC), self._tell.warning)

    def _folder(self) -> Path:
        """Where batches under way are noted; a replay has nothing to do with those of real runs."""
        if not self._build.replays:
            return self._build.folder / ".agentv" / "batches"
        if self._passing is None:
            self._passing = TemporaryDirectory(prefix="agentv-", ignore_cleanup_errors=True)
        return Path(self._passing.name)

    def _claimed(self, ledger: Ledger, plan: BatchPlan) -> list[Taken]:
        try:
            found = claims(ledger, plan.target, plan.digests, self._run, alone=self._is_alone)
        except OSError as error:
            if any(entry.has_of(plan.digests) for entry in ledger.entries(plan.target)):
                raise RunAborted(
                    f"batches of these cases are noted in {ledger.folder}, and cannot be taken up "
                    f"({_why(error)}): they are paid for"
                ) from error
            raise _unnoted(ledger, error) from error
        self._holds += [BatchHold(taken.place, self._tell) for taken in found.taken]
        if found.has_rival:
            self._tell.warning(
                "a run with batches of the same cases goes on; this one pays for its own"
            )
        return found.taken

    def _job(self, plan: BatchPlan, place: Claim, ledger: Ledger) -> BatchJob:
        build, options, tell = self._build, self._batch_options, self._tell
        [hold] = [each for each in self._holds if each.place is place]
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
            others=ledger.known_batches,
            look_seconds=options.batch_poll_seconds,
            retries=options.retry_settings().max_retries,
            moment=build.moment,
        )
        watcher = BatchWatcher(plan.api, sender, tell, options.batch_poll_seconds)
        return BatchJob(self._batch_wire, options, plan, self._run, hold, maker, watcher, tell)


def _unnoted(ledger: Ledger, error: OSError) -> ProviderError:
    return ProviderError(f"it cannot be noted down in {ledger.folder}: {_why(error)}", kind="batch")


def _why(error: OSError) -> str:
    return error.strerror or str(error)
