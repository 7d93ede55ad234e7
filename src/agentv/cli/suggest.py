"""The nearest name to a mistyped one."""

from collections.abc import Sequence
from difflib import get_close_matches


def did_you_mean(name: str, candidates: Sequence[str]) -> str:
    """` Did you mean 'eval'?`, or nothing."""
    near = get_close_matches(name, candidates, n=1)
    return f" Did you mean '{near[0]}'?" if near else ""
