"""The JSON object in which judges and scripts state a score: `score, hits, misses, reasoning`."""

import json
import math
from collections.abc import Mapping
from typing import Any

from agentv.model.base import Record
from agentv.model.score import Score

_LONGEST_NUMBER = 400
"""Digits; beyond it a number is too large for a float anyway, and slow to convert."""


class NoVerdict(Record, frozen=True, kw_only=True):
    """There is no score to be had from a text."""

    reason: str
    """What is wrong with it, as the rest of a sentence that begins with its name."""


def decode(text: str, start: int = 0) -> tuple[Any, int]:
    """The JSON value that begins at `start`, and where it ends.

    Raises:
        ValueError: There is none. `NaN` and infinities, which Python's own reader lets pass, are
            put in as `nan`, so that the end of the object around them is still found.
        RecursionError: It is nested too deeply.
    """
    return _DECODER.raw_decode(text, start)


def decode_whole(text: str) -> Any:
    """The one JSON value that a text is, white space around it aside.

    Raises:
        ValueError: It is not one.
        RecursionError: It is nested too deeply.
    """
    return _DECODER.decode(text)


def read_verdict_object(found: Any, *, most: int | None = None) -> Score | NoVerdict:
    """The score that a JSON value states, clamped to [0, 1].

    Args:
        found: Any JSON value; keys other than ours are ignored.
        most: How many hits, and as many misses, are kept; all when `None`.
    """
    if not isinstance(found, Mapping):
        return NoVerdict(reason="is JSON but not an object")
    if "score" not in found:
        return NoVerdict(reason="has no `score`")
    stated = _number(found["score"])
    if stated is None:
        return NoVerdict(reason=f"has a `score` that is not a number: {_shown(found['score'])}")
    value = min(max(0.0, stated), 1.0)
    reasoning = found.get("reasoning")
    return Score(
        value=value,
        raw_value=stated if stated != value else None,
        hits=_texts(found.get("hits"))[:most],
        misses=_texts(found.get("misses"))[:most],
        reasoning=reasoning if isinstance(reasoning, str) else None,
    )


def _number(found: Any) -> float | None:
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        number = float(found)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _texts(found: Any) -> tuple[str, ...]:
    if not isinstance(found, list):
        return ()
    return tuple(text.strip() for text in found if isinstance(text, str) and text.strip())


def _shown(found: Any) -> str:
    if isinstance(found, Mapping | list):
        return "an object" if isinstance(found, Mapping) else "a list"
    text = json.dumps(found, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else math.inf


_DECODER = json.JSONDecoder(parse_int=_integer)
