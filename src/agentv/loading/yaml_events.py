"""YAML text as a stream of parser events, from libyaml where it is installed.

Both parsers read YAML 1.1, in which U+0085, U+2028 and U+2029 break lines, and so change texts
that hold them. They are ordinary characters in 1.2: stand-ins take their places while parsing.
"""

from collections.abc import Callable
from itertools import chain
from typing import Any

import yaml
from yaml.events import ScalarEvent

Event = Any
"""An event of PyYAML; typed loosely because the parsing loop must be quick."""

PURE = not yaml.__with_libyaml__
"""Whether only the parser in Python is at hand; it reads the same, but slowly."""

INVALID_ESCAPE = "found invalid Unicode character escape code"
_BREAKS_NO_MORE = "\x85\u2028\u2029"
_PRIVATE_USE = (range(0xE000, 0xF900), range(0xF0000, 0xFFFFE))


def open_events(text: str, *, pure: bool = PURE) -> Callable[[], Event]:
    """A function that gives the next event.

    It and opening raise `yaml.YAMLError` or `ValueError` for a text that is not YAML;
    `agentv.loading.yaml_syntax` turns these into mistakes.
    """
    stand_ins = _stand_ins(text)
    back = {ord(stand_in): break_ for break_, stand_in in stand_ins.items()}
    for break_, stand_in in stand_ins.items():
        text = text.replace(break_, stand_in)
    # Of the loader only its parser is used; nothing is constructed.
    loader = yaml.SafeLoader(text) if pure else yaml.CSafeLoader(text)
    next_event = loader.get_event
    return _mended(next_event, back) if pure or back else next_event


def _stand_ins(text: str) -> dict[str, str]:
    present = [char for char in _BREAKS_NO_MORE if not text.isascii() and char in text]
    if not present:
        return {}
    used = set(text)
    free = (chr(code) for code in chain(*_PRIVATE_USE) if chr(code) not in used)
    return dict(zip(present, free, strict=False))


def _mended(next_event: Callable[[], Event], back: dict[int, str]) -> Callable[[], Event]:
    def mended() -> Event:
        event = next_event()
        if event.__class__ is ScalarEvent and not event.value.isascii():
            event.value = event.value.translate(back)
            # libyaml refuses such escapes by itself, PyYAML's own parser lets them pass.
            if any("\ud800" <= char <= "\udfff" for char in event.value):
                mark: Any = event.start_mark
                raise yaml.MarkedYAMLError(None, None, INVALID_ESCAPE, mark)
        return event

    return mended
