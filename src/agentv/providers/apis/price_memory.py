"""Prices that were looked up before, in the user's cache folder: a look saves the list's import.

What is remembered counts only for the very list it came from. Nothing depends on it: a file that is
not there, cannot be read or cannot be written costs a tenth of a second.
"""

import os
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import msgspec

from agentv.model.base import Record
from agentv.providers.apis.price_list import Price

_MOST = 500


class _Remembered(Record, frozen=True, kw_only=True):
    source: str
    """Which list it came from."""
    prices: dict[str, Price | None]
    """`None` for a model that the list does not know."""


def recall(key: str) -> tuple[bool, Price | None]:
    """Whether a price is remembered, and which."""
    prices = _read().prices
    return key in prices, prices.get(key)


def remember(key: str, price: Price | None) -> None:
    """Keep a price for other runs."""
    known = _read()
    kept = known.prices if len(known.prices) < _MOST else {}
    text = msgspec.json.encode(_Remembered(source=known.source, prices={**kept, key: price}))
    path = _path()
    draft = path.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(text)
        draft.replace(path)


def _read() -> _Remembered:
    source = _source()
    with suppress(OSError, msgspec.MsgspecError):
        found = msgspec.json.decode(_path().read_bytes(), type=_Remembered)
        if found.source == source:
            return found
    return _Remembered(source=source, prices={})


def _path() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home).expanduser() / "agentv" / "prices.json"


def _source() -> str:
    """Changes with every version of the list; found without importing it."""
    spec = find_spec("genai_prices")
    if spec is None or spec.origin is None:
        return ""
    state = Path(spec.origin).with_name("data.py").stat()
    return f"{spec.origin} {state.st_mtime_ns} {state.st_size}"
