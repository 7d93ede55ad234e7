"""The name an author probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache

_LONGEST = 100
"""A longer name is no typo of anything, and comparing it would take long."""


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like `name`, or `None` when nothing is near.

    Case, `-` and `_` do not count, so `judgeTarget` finds `judge_target`.
    """
    return _nearest(name, tuple(candidates))


# The same slip is often made in every case of a suite.
@lru_cache(maxsize=1_024)
def _nearest(name: str, candidates: tuple[str, ...]) -> str | None:
    plain = _plain(name)
    if len(name) > _LONGEST or not plain:
        return None
    spellings = {_plain(known): known for known in candidates}
    if plain in spellings:
        return spellings[plain]
    close = get_close_matches(plain, spellings, n=1)
    return spellings[close[0]] if close else None


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """`did you mean 'assert'?`, or an empty text when nothing is near."""
    found = nearest(name, candidates)
    return f"did you mean '{found}'?" if found else ""


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
