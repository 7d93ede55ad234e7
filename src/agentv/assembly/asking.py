"""How a run asks its stations: the response cache first, then the provider, on the budget."""

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec

from agentv.assembly.options import RunOptions, Surroundings
from agentv.assembly.stations import Station
from agentv.core.answer_key import answer_key
from agentv.model.base import Record
from agentv.model.request import ProviderRequest
from agentv.protocols import Provider, ResponseCache
from agentv.runner.attributing import AttributedProvider
from agentv.runner.budget import Budget, MeteredProvider
from agentv.runner.caching import CachingProvider
from agentv.runner.crews import Job


class FileDigests:
    """Digests of files' contents; a file is read again only once it has changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, int], str]] = {}

    def of(self, path: str) -> str | None:
        """The digest of a file; `None` if it cannot be read."""
        try:
            state = Path(path).stat()
            version = state.st_mtime_ns, state.st_size
            known = self._known.get(path)
            if known is None or known[0] != version:
                with Path(path).open("rb") as file:
                    known = version, hashlib.file_digest(file, "sha256").hexdigest()
                self._known[path] = known
        except OSError:
            return None
        return known[1]


class Asking(Record, frozen=True, kw_only=True):
    """What stands between the trials of a run and its providers."""

    dry_run: bool
    """Nobody is asked, so nothing is kept and nothing is spent."""
    cache: ResponseCache | None
    budget: Budget | None
    is_on_cassette: bool = False
    """Whether exchanges are recorded or replayed, each for its trial."""
    files: FileDigests = msgspec.field(default_factory=FileDigests)

    def provider(
        self, station: Station, own: Provider | None = None, *, judges: bool = False
    ) -> Provider:
        """What trials and judges ask in place of a station's provider.

        Args:
            station: Whose name pays, and whose setup tells its answers from others.
            own: Asked instead of the station's provider: one that has a batch's answers.
            judges: Whether it is asked as a judge.
        """
        provider = own or station.provider
        if self.is_on_cassette:
            provider = AttributedProvider(provider, judges=judges)
        if self.budget is not None:
            provider = MeteredProvider(provider, station.name, self.budget)
        if self.cache is not None and station.setup is not None:
            provider = CachingProvider(provider, self.cache, self._key_of(station.setup))
        return provider

    def unanswered(
        self, station: Station, requests: list[ProviderRequest]
    ) -> list[ProviderRequest]:
        """The requests whose answers the cache does not have."""
        if self.cache is None or station.setup is None:
            return requests
        key_of = self._key_of(station.setup)
        return [request for request in requests if self.cache.get(key_of(request)) is None]

    def within_budget(self, jobs: Iterator[Job]) -> Iterator[Job]:
        """The jobs, as long as there is money for another."""
        return jobs if self.budget is None else self.budget.within(jobs)

    def _key_of(self, setup: str) -> Callable[[ProviderRequest], str]:
        return partial(self._key, setup)

    def _key(self, setup: str, request: ProviderRequest) -> str:
        files = [(Path(path).name, self.files.of(path)) for path in request.input_files]
        return answer_key(setup, request, files)


def asking_of(options: RunOptions, around: Surroundings) -> Asking:
    """As the run was told; a rehearsal asks nobody."""
    budget = None
    if options.budget_usd is not None and not options.dry_run:
        budget = Budget(options.budget_usd, around.emit)
    return Asking(
        dry_run=options.dry_run,
        cache=None if options.dry_run else around.cache,
        budget=budget,
        is_on_cassette=around.cassette is not None,
    )
