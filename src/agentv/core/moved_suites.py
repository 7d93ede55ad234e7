"""Which suite of a run that goes on was which suite then: files move, and are called otherwise.

Pure. A suite is the one of the same path. Of what is left on both sides, those belong together
that have the same content or the same dataset, the ones alike in most first.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Protocol


class SuiteName(Protocol):
    """What a suite is known by."""

    @property
    def path(self) -> str:
        """As rows show it."""

    @property
    def dataset(self) -> str:
        """The author's name for it."""

    @property
    def digest(self) -> str:
        """Of its content."""


def moved_suites(then: Sequence[SuiteName], now: Sequence[SuiteName]) -> Mapping[str, str]:
    """The old path of every suite that was there then, by its path now.

    No two suites have one old path: a copy of a suite is a new suite.
    """
    stayed = {suite.path for suite in then} & {suite.path for suite in now}
    places = {path: path for path in stayed}
    for old, new in _alike_first(
        [suite for suite in then if suite.path not in stayed],
        [suite for suite in now if suite.path not in stayed],
    ):
        if new.path not in places and old.path not in places.values():
            places[new.path] = old.path
    return places


def _alike_first(
    then: Sequence[SuiteName], now: Sequence[SuiteName]
) -> Iterator[tuple[SuiteName, SuiteName]]:
    pairs = [(old, new) for old in then for new in now if _may_be_one(old, new)]
    # Sorting keeps the order of what is equally alike: the plan's own.
    yield from sorted(pairs, key=lambda pair: _likeness(*pair), reverse=True)


def _may_be_one(old: SuiteName, new: SuiteName) -> bool:
    return old.digest == new.digest or old.dataset == new.dataset


def _likeness(old: SuiteName, new: SuiteName) -> tuple[bool, int, bool]:
    pairs = zip(reversed(old.path.split("/")), reversed(new.path.split("/")), strict=False)
    same_end = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return old.digest == new.digest, same_end, old.dataset == new.dataset
