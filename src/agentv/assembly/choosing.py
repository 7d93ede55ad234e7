"""What of its suites a run is of: all trials, or some that an earlier run chose."""

from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatchcase

from agentv.core.moved_suites import SuiteName, moved_suites
from agentv.core.tally import verdict_of
from agentv.model.base import Record
from agentv.model.run import RerunLink, RunManifest, TargetRecord
from agentv.storage.chosen import read_chosen
from agentv.storage.lines import Key
from agentv.storage.rows import open_rows
from agentv.storage.run_folder import RunFolder


class Chosen:
    """Which trials take part in a run, by suite, case, target and number; a hash is held of each.

    Args:
        places: What suites were called when the trials were chosen, by what they are called now.
        hashes: Of the trials' keys.
        matches: Tells by its id whether a case takes part besides these.
        among: What they were chosen from; everything when `None`.
    """

    def __init__(
        self,
        places: Mapping[str, str],
        hashes: Collection[int] = (),
        matches: Callable[[str], bool] = lambda _id: False,
        among: "Chosen | None" = None,
    ) -> None:
        self._places = places
        self._hashes = hashes
        self._matches = matches
        self._among = among

    @property
    def has_moved(self) -> bool:
        """Whether a suite was called otherwise when the trials were chosen."""
        return any(now != then for now, then in self._places.items())

    def has(self, key: Key) -> bool:
        """Whether a trial takes part, whose suite may have been moved since."""
        if self._among is not None and not self._among.has(key):
            return False
        # A run that was moved and then cut short may know of the move already.
        then = self._places.get(key[0], key[0]), *key[1:]
        return hash(key) in self._hashes or hash(then) in self._hashes or self._matches(key[1])


class Scope(Record, frozen=True, kw_only=True):
    """What of the suites is run, and whether their targets are asked."""

    chosen: Chosen | None = None
    """The trials that take part; all of them when `None`."""
    answered: Mapping[str, TargetRecord] | None = None
    """The targets as they were when they gave the answers that are there; `None` if candidates
    are asked in this run, else none of them can be."""

    @property
    def asks_nobody(self) -> bool:
        """Whether no candidate may be asked."""
        return self.answered is not None


def chosen_before(
    folder: RunFolder, manifest: RunManifest, suites: Sequence[SuiteName]
) -> Chosen | None:
    """The trials that a run was of; `None` if these were all of its suites."""
    if not folder.chosen_path.exists():
        return None
    hashes = frozenset(map(hash, read_chosen(folder.chosen_path)))
    return Chosen(moved_suites(manifest.suites, suites), hashes)


def choose(
    folder: RunFolder, manifest: RunManifest, link: RerunLink, suites: Sequence[SuiteName]
) -> Chosen | None:
    """The trials of a run that are meant; `None` if these are all of its suites.

    Those of a shard are the ones that have rows: which shard a trial is in may be another by now.
    """
    before = chosen_before(folder, manifest, suites)
    if before is None and manifest.shard is not None:
        before = Chosen(moved_suites(manifest.suites, suites), _with_rows(folder))
    if not link.chooses:
        return before
    return Chosen(
        moved_suites(manifest.suites, suites),
        _by_verdict(folder, link),
        lambda id_: any(id_ == glob or fnmatchcase(id_, glob) for glob in link.eval_ids),
        among=before,
    )


def _with_rows(folder: RunFolder) -> set[int]:
    rows = open_rows(folder.journal_path)
    return {hash((row.suite, row.eval_id, row.target, row.trial)) for row in rows}


def _by_verdict(folder: RunFolder, link: RerunLink) -> set[int]:
    wanted = {"fail": link.failed, "error": link.errors}
    if not any(wanted.values()):
        return set()
    found: set[int] = set()
    for row in open_rows(folder.journal_path):
        key = hash((row.suite, row.eval_id, row.target, row.trial))
        # Of two rows of one trial the later one counts.
        if wanted.get(verdict_of(row), False):
            found.add(key)
        else:
            found.discard(key)
    return found
