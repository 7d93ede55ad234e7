"""What a run is of: of each suite on each target all cases, or those of a shard, or chosen ones.

Targets that nothing is asked of are not built, so this is settled before they are. Nine bytes are
held of each trial of a plan that is split, and one of each that is chosen from; cases are read one
at a time.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from agentv.assembly.choosing import Chosen
from agentv.assembly.options import CustomTarget
from agentv.assembly.trials import cases_on
from agentv.core.sharding import members, rank_of
from agentv.loading.suites import LoadedSuite
from agentv.loading.workspace import Workspace
from agentv.model.base import Record
from agentv.model.case import EvalCase
from agentv.model.shard import Shard


class Lot(Record, frozen=True, kw_only=True):
    """One suite on one target."""

    loaded: LoadedSuite
    target: str
    takes_all: bool
    """Whether cases that name a target of their own are run here all the same."""
    whole: int
    """How many cases it has, run or not."""
    inside: bytes | None = None
    """For each case 1 if it is run; `None` when all of them are."""

    @property
    def planned(self) -> int:
        """How many cases are run."""
        return self.whole if self.inside is None else sum(self.inside)

    def cases(self) -> Iterator[EvalCase]:
        """All its cases, in file order."""
        return cases_on(self.loaded, self.target, takes_all=self.takes_all)


def planned_lots(
    workspace: Workspace, custom: CustomTarget | None, shard: Shard | None, chosen: Chosen | None
) -> list[Lot]:
    """What is run, suite by suite.

    Args:
        workspace: Loaded without errors.
        custom: A program's own target, in place of those the suites name.
        shard: The part of the plan that is run.
        chosen: Which trials of that are; a lot without any is left out.
    """
    lots = [lot for loaded in workspace.suites for lot in _lots_of(loaded, custom)]
    if shard is not None:
        lots = _in_shard(lots, shard)
    if chosen is not None:
        narrowed = (_chosen(lot, chosen) for lot in lots)
        lots = [lot for lot in narrowed if lot.planned]
    return lots


def _lots_of(loaded: LoadedSuite, custom: CustomTarget | None) -> Iterator[Lot]:
    for target, number in _targets_of(loaded, custom).items():
        if number:
            yield Lot(loaded=loaded, target=target, takes_all=custom is not None, whole=number)


def _targets_of(loaded: LoadedSuite, custom: CustomTarget | None) -> dict[str, int]:
    """The targets of a suite, each with its number of trials."""
    cases = len(loaded.suite.cases)
    if custom is not None:
        return {custom.name: cases}
    pinned = loaded.case_targets
    shared = cases - sum(pinned.values())
    counts = dict.fromkeys(loaded.target_names, shared)
    for name, number in pinned.items():
        counts[name] = counts.get(name, 0) + number
    return counts


def _in_shard(lots: Sequence[Lot], shard: Shard) -> list[Lot]:
    inside = members(array("Q", _ranks(lots)), shard)
    smaller: list[Lot] = []
    start = 0
    for lot in lots:
        smaller.append(msgspec.structs.replace(lot, inside=inside[start : start + lot.whole]))
        start += lot.whole
    return smaller


def _ranks(lots: Iterable[Lot]) -> Iterator[int]:
    for lot in lots:
        for case in lot.cases():
            yield rank_of(lot.loaded.suite.dataset, case.id, lot.target, 1)


def _chosen(lot: Lot, chosen: Chosen) -> Lot:
    path = lot.loaded.suite.shown
    taken = (chosen.has((path, case.id, lot.target, 1)) for case in lot.cases())
    if lot.inside is None:
        return msgspec.structs.replace(lot, inside=bytes(taken))
    both = (1 if mine and theirs else 0 for mine, theirs in zip(lot.inside, taken, strict=True))
    return msgspec.structs.replace(lot, inside=bytes(both))
