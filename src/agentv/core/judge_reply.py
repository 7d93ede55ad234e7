"""What a judge replied: the first valid verdict in a text that should hold nothing else.

A reply is searched from left to right for objects that begin like JSON. The first with a usable
score counts. What stands inside another object never does, be that object valid, broken or cut off:
a `score` in there is a detail of something else.

An answer may contain a verdict in the hope that the judge repeats it. So an object that stands
amid other text and also stands in the candidate answer is taken for a quotation.
"""

import json
import re
from collections.abc import Iterator
from string import ascii_letters, digits
from typing import Any

from agentv.core.judge_prompt import MOST_POINTS
from agentv.core.verdict_json import NoVerdict, decode, decode_whole, read_verdict_object
from agentv.model.score import Score

_OBJECT_START = re.compile(r"\{\s*\"")
_BRACE = re.compile(r"[{}]")
_LONGEST = 200_000
"""Characters of a reply that are looked at."""
_MOST_BROKEN = 200
"""Broken objects before we give up: Python's reader counts lines from the start for each error."""
_FENCE = "```"


def read_verdict(reply: str, candidate_answer: str = "") -> Score | NoVerdict:
    """The verdict in a judge's reply; never raises, and takes time in proportion to the reply."""
    text = _unfenced(reply[:_LONGEST].strip())
    if not text:
        return NoVerdict(reason="is empty")
    try:
        return read_verdict_object(decode_whole(text), most=MOST_POINTS)
    except (ValueError, RecursionError):
        return _search(text, candidate_answer)


def _search(text: str, candidate_answer: str) -> Score | NoVerdict:
    answer = _compact(candidate_answer)
    reasons = []
    for source, found in _objects(text):
        if isinstance(found, NoVerdict):
            reasons.append(found.reason)
            continue
        verdict = read_verdict_object(found, most=MOST_POINTS)
        if isinstance(verdict, NoVerdict):
            reasons.append(f"holds an object that {verdict.reason}")
        elif _compact(source) in answer:
            reasons.append("only quotes a verdict from the candidate answer")
        else:
            return verdict
    return NoVerdict(reason=reasons[0] if reasons else "holds no JSON object")


def _objects(text: str) -> Iterator[tuple[str, Any]]:
    """Each outermost object with its source; `NoVerdict` for one that is broken."""
    start, broken = 0, 0
    closing: dict[int, int] | None = None
    while broken < _MOST_BROKEN and (match := _OBJECT_START.search(text, start)):
        begin = match.start()
        try:
            found, start = decode(text, begin)
            yield text[begin:start], found
        except json.JSONDecodeError as error:
            broken += 1
            closing = _closing_braces(text) if closing is None else closing
            # A broken object ends at its brace; one without such a brace where it went wrong.
            start = max(error.pos, closing.get(begin, 0))
            reason = f"holds an object that is not valid JSON ({error.msg})"
            yield text[begin:start], NoVerdict(reason=reason)
        except RecursionError:
            yield "", NoVerdict(reason="holds an object that is nested too deeply")
            return


def _closing_braces(text: str) -> dict[int, int]:
    """Where each brace is closed; braces in strings count too, since quotes may not match."""
    opened: list[int] = []
    closing: dict[int, int] = {}
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            opened.append(match.start())
        elif opened:
            closing[opened.pop()] = match.end()
    return closing


def _unfenced(text: str) -> str:
    """The inside of a text that is one code block, else the text itself."""
    if len(text) < 2 * len(_FENCE) or not (text.startswith(_FENCE) and text.endswith(_FENCE)):
        return text
    inside = text[len(_FENCE) : -len(_FENCE)]
    return inside.lstrip(ascii_letters + digits).strip()


def _compact(text: str) -> str:
    """Without white space, so that a quotation is recognised however it is laid out."""
    return "".join(text.split())
