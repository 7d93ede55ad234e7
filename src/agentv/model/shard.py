"""A part of a plan that is run on its own."""

import re

from agentv.model.base import Record

_WRITTEN = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})", re.ASCII)


class Shard(Record, frozen=True, kw_only=True):
    """Which part, of how many."""

    number: int
    """From 1 to `of`."""
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def parse_shard(text: str) -> Shard:
    """`2/5`; raises `ValueError` where that says no shard, with what would."""
    written = _WRITTEN.fullmatch(text.strip())
    if written is None:
        raise ValueError(f"'{text}' is no shard; say which of how many, as in 2/5")
    shard = Shard(number=int(written[1]), of=int(written[2]))
    if shard.number > shard.of:
        raise ValueError(f"'{text}' is no shard: of {shard.of} shards the last is {shard.of}")
    return shard
