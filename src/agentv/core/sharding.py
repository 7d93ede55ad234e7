"""Splitting a plan: the same trial lands in the same shard on every machine.

Trials are put in the order of a digest of their names, which is as good as a shuffle and the same
everywhere, and each shard takes a block of that order. So sizes differ by at most one, and neither
the order of a file nor the place of a repository matters. With blocks, a case that is added or
taken out moves at most one trial across each border; dealing the trials out one by one would move
nearly all that follow.
"""

import hashlib
from collections.abc import Sequence

from agentv.model.shard import Shard


def rank_of(dataset: str, eval_id: str, target: str, number: int) -> int:
    """Where a trial stands in the order that is cut into shards; 64 bits."""
    # Lengths, so that no two sets of names make the same text.
    names = (dataset, eval_id, target, str(number))
    text = "".join(f"{len(name)}:{name}" for name in names)
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])


def members(ranks: Sequence[int], shard: Shard) -> bytes:
    """For each rank 1 if its trial is in the shard, else 0.

    Args:
        ranks: Of all trials of the plan; equal ones keep their order.
        shard: Which one.
    """
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    first, last = (len(order) * border // shard.of for border in (shard.number - 1, shard.number))
    inside = bytearray(len(order))
    for place in order[first:last]:
        inside[place] = 1
    return bytes(inside)
