"""What a yes-or-no check found, as a score."""

import json

from agentv.model.score import Score

_LONGEST = 60


def score_of(*, found: bool, negate: bool, says: str, denies: str) -> Score:
    """1 or 0, with the finding in words as the hit or the miss.

    Args:
        found: What the check saw.
        negate: Whether seeing nothing is what passes.
        says: The finding when it was seen: `contains "refund"`.
        denies: The finding when it was not: `does not contain "refund"`.
    """
    finding = (says if found else denies,)
    if found != negate:
        return Score(value=1.0, hits=finding)
    return Score(value=0.0, misses=finding)


def quoted(text: str) -> str:
    """A text in quotes on one line, shortened."""
    return json.dumps(shortened(text, _LONGEST), ensure_ascii=False)


def shortened(text: str, longest: int) -> str:
    """The beginning of a text, with `…` when there is more."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
