"""One shard of a plan: the same parts with fewer trials."""

import dataclasses
from array import array
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from agentv.assembly.trials import Part, cases_of
from agentv.core.sharding import members, rank_of
from agentv.model.run import SuitePlan
from agentv.model.shard import Shard


def in_shard(parts: Sequence[Part], shard: Shard) -> list[Part]:
    """The parts with the shard's trials alone.

    Nine bytes are held of each trial of the whole plan; cases are read one at a time.
    """
    inside = members(array("Q", _ranks(parts)), shard)
    smaller: list[Part] = []
    start = 0
    for part in parts:
        own = inside[start : start + part.planned]
        start += part.planned
        smaller.append(dataclasses.replace(part, inside=own, planned=sum(own)))
    return smaller


def planned_in(plans: Iterable[SuitePlan], parts: Sequence[Part]) -> Iterator[SuitePlan]:
    """The suites' plans with the numbers of a shard's parts; the whole is kept beside them."""
    for plan in plans:
        own = sum(part.planned for part in parts if part.loaded.suite.shown == plan.path)
        yield msgspec.structs.replace(plan, trials=own, in_all_shards=plan.trials)


def _ranks(parts: Iterable[Part]) -> Iterator[int]:
    for part in parts:
        dataset, target = part.loaded.suite.dataset, part.station.name
        for case in cases_of(part):
            yield rank_of(dataset, case.id, target, 1)
