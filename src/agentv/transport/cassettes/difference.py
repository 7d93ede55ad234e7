"""What a request is like, and how it differs from a recording, for a person."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher, unified_diff
from typing import Any

import msgspec

from agentv.model.exchange import Asked, Content, HttpAsked
from agentv.transport.cassettes.content import bytes_of

_MOST_LINES = 30
_LONGEST_LINE = 160
_BEFORE = 40
"""Characters that are shown before the first that differs."""
_COMPARED = 4000
_TITLE = 120


def title_of(asked: Asked) -> str:
    """A request in a few words."""
    if isinstance(asked, HttpAsked):
        return f"{asked.method} {asked.url}"
    words = asked.run if isinstance(asked.run, str) else " ".join(asked.run)
    return f"command `{_cut(' '.join(words.split()), _TITLE)}`"


def likeness(one: Asked, other: Asked) -> float:
    """How like two requests are, from 0 to 1."""
    texts = ["\n".join(_lines_of(asked))[:_COMPARED] for asked in (one, other)]
    return SequenceMatcher(a=texts[0], b=texts[1], autojunk=False).quick_ratio()


def difference(recorded: Asked, asked: Asked) -> tuple[str, ...]:
    """The lines that were recorded (`-`) and those that are asked (`+`), as far as they differ."""
    lines = list(unified_diff(list(_lines_of(recorded)), list(_lines_of(asked)), lineterm="", n=1))[
        2:
    ]
    shown = [line for line in _focused(lines) if not line.startswith("@@")]
    if len(shown) <= _MOST_LINES:
        return tuple(shown)
    return *shown[:_MOST_LINES], f"… {len(shown) - _MOST_LINES} more lines"


def _lines_of(asked: Asked) -> Iterator[str]:
    """Everything that matters of a request, a line each: text that has several has several."""
    if isinstance(asked, HttpAsked):
        yield f"{asked.method} {asked.url}"
        yield from _content_lines("", asked.body)
        return
    parts = (asked.run,) if isinstance(asked.run, str) else asked.run
    for part in parts:
        yield from part.split("\n")
    if asked.cwd is not None:
        yield f"cwd: {asked.cwd}"
    yield from _content_lines("stdin", asked.stdin)
    for name, digest in asked.files.items():
        yield f"{name}: {digest[:16]}"


def _content_lines(name: str, content: Content) -> Iterator[str]:
    if content.json is not msgspec.UNSET:
        yield from _json_lines(name, content.json)
    elif data := bytes_of(content):
        yield from _text_lines(name, data.decode("utf-8", "replace"))


def _json_lines(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key in sorted(value):
            yield from _json_lines(f"{name}.{key}" if name else key, value[key])
    elif isinstance(value, list) and value:
        for number, item in enumerate(value):
            yield from _json_lines(f"{name}[{number}]", item)
    elif isinstance(value, str):
        yield from _text_lines(name, value)
    else:
        yield f"{name}: {msgspec.json.encode(value).decode()}"


def _text_lines(name: str, text: str) -> Iterator[str]:
    lines = re.split(r"\r?\n", text)
    if len(lines) == 1:
        yield f"{name}: {text}"
        return
    yield f"{name}:"
    yield from (f"  {line}" for line in lines)


def _focused(lines: Sequence[str]) -> Iterator[str]:
    """Long lines, cut to where they differ from their counterpart."""
    for number, line in enumerate(lines):
        other = _counterpart(lines, number)
        at = _first_difference(line[1:], other[1:]) if other else 0
        begin = max(at - _BEFORE, 0) if len(line) > _LONGEST_LINE else 0
        yield line[0] + ("…" if begin else "") + _cut(line[1 + begin :], _LONGEST_LINE)


def _counterpart(lines: Sequence[str], number: int) -> str | None:
    """The line that stands for the same thing on the other side, where there is just one."""
    sign, step = lines[number][0], {"-": 1, "+": -1}.get(lines[number][0], 0)
    beside = number + step
    if not step or not 0 <= beside < len(lines):
        return None
    return lines[beside] if lines[beside][0] in "+-" and lines[beside][0] != sign else None


def _first_difference(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
