"""Waits for one batch and fetches what came of it."""

from agentv.errors import ProviderError
from agentv.providers.apis.batch_api import BatchApi, BatchFailed, BatchStatus, Results
from agentv.providers.apis.batch_sender import BatchSender
from agentv.providers.apis.batch_telling import Teller

LONGEST_POLL_SECONDS = 30.0
_POLL_GROWTH = 1.5
_GONE = ("http_404", "http_410")
_LOOKS_UNTIL_GONE = 3
_FETCHES = 3


class BatchGone(ProviderError):  # noqa: N818 - says what happened to the batch
    """The service does not know the batch: it was deleted."""


class BatchWatcher:
    """Watches batches of one target.

    Args:
        api: Where they are.
        sender: To ask with.
        tell: Takes how far they are.
        poll_seconds: How soon after the first look the next one follows; each pause is longer.
    """

    def __init__(
        self, api: BatchApi, sender: BatchSender, tell: Teller, poll_seconds: float
    ) -> None:
        self._api = api
        self._sender = sender
        self._tell = tell
        self._poll_seconds = poll_seconds

    async def results(self, batch_id: str, total: int) -> Results:
        """Wait for the end, then fetch the results.

        Raises:
            BatchFailed: There are none.
            BatchGone: There is no such batch any more.
            ProviderError: The service refused to tell.
        """
        fetch = 1
        while True:
            ended = await self._end_of(batch_id, total)
            results = await self._fetched(batch_id, ended)
            there = len(results.replies) + results.unreadable
            if there >= min(total, ended.done + ended.failed) or fetch == _FETCHES:
                return results
            # A file that was cut off between two lines looks whole; one that was just closed may
            # not be.
            cut = ProviderError(f"batch {batch_id}: {there} of {total} results came")
            await self._sender.pause(cut, fetch)
            fetch += 1

    async def _fetched(self, batch_id: str, ended: BatchStatus) -> Results:
        try:
            return await self._api.results(ended, self._sender)
        except ProviderError as error:
            if error.kind not in _GONE:
                raise
            reason = f"the results of batch {batch_id} are gone ({error})"
            raise BatchGone(reason) from error

    async def _end_of(self, batch_id: str, total: int) -> BatchStatus:
        delay = self._poll_seconds
        missed = 0
        while True:
            try:
                status = await self._api.status(batch_id, self._sender)
            except BatchFailed as error:
                self._over(batch_id, "failed", total)
                raise BatchFailed(f"batch {batch_id} failed: {error}") from error
            except ProviderError as error:
                missed += 1
                if error.kind not in _GONE:
                    raise
                if missed == _LOOKS_UNTIL_GONE:
                    self._over(batch_id, "gone", total)
                    raise BatchGone(f"batch {batch_id} is gone ({error})") from error
            else:
                missed = 0
                self._tell.looked(batch_id, status, total, None if status.ended else delay)
                if status.ended:
                    return status
            await self._sender.rest(delay)
            delay = max(delay, min(delay * _POLL_GROWTH, LONGEST_POLL_SECONDS))

    def _over(self, batch_id: str, word: str, total: int) -> None:
        nothing = BatchStatus(ended=True, word=word, done=0, failed=total, reply={})
        self._tell.looked(batch_id, nothing, total, None)
