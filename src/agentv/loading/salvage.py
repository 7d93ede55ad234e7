"""What can still be looked at in a tree that is not well formed.

All the mistakes of a file are reported at once, so a typo in one key must not hide a missing file
in the next. Salvaging puts a harmless stand-in where a mistake was found and keeps the rest; the
result is only ever checked further, never run.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeVar

import msgspec

from agentv.loading.case_file import CaseExecution, CaseFile, SuiteExecution, SuiteFile
from agentv.loading.check import check
from agentv.loading.mistake import Mistake
from agentv.loading.nearest import nearest
from agentv.model.case import ContentPart, Message

T = TypeVar("T")

STAND_IN_ID = "\0stand-in"

_MESSAGE: Mapping[str, Any] = {"role": "user", "content": "-"}
_STAND_INS: Mapping[str, Any] = {
    "id": STAND_IN_ID,
    "outcome": "-",
    "input_messages": [_MESSAGE],
    "role": "user",
    "content": "-",
    "type": "text",
    "value": "-",
    "evalcases": [],
}
_ITEMS: Mapping[str, Any] = {
    "input_messages": _MESSAGE,
    "expected_messages": _MESSAGE,
    "content": {"type": "text", "value": "-"},
}
_RECORDS = (SuiteFile, SuiteExecution, CaseFile, CaseExecution, Message, ContentPart)
_KEYS = sorted({f.encode_name for record in _RECORDS for f in msgspec.structs.fields(record)})
_ROUNDS = 8
"""Each round mends one level; files are not nested deeper than that."""


def salvage(tree: Any, model: type[T]) -> T | None:
    """The record that a tree would be without its mistakes, or `None` if nothing is left of it."""
    if not isinstance(tree, dict):
        return None
    mended = deepcopy(tree)
    for _ in range(_ROUNDS):
        mistakes = check(mended, model)
        if not mistakes:
            return msgspec.convert(mended, model)
        _mend(mended, mistakes)
    return None


def _mend(tree: dict[str, Any], mistakes: Sequence[Mistake]) -> None:
    for mistake in mistakes:
        if not mistake.path:
            continue
        holder: Any = tree
        try:
            for part in mistake.path[:-1]:
                holder = holder[part]
        except (KeyError, IndexError, TypeError):
            continue  # already mended higher up
        last = mistake.path[-1]
        if isinstance(last, int):
            _mend_item(holder, last, mistake)
        elif isinstance(holder, dict):
            _mend_key(holder, last, mistake)


def _mend_item(holder: Any, index: int, mistake: Mistake) -> None:
    names = [part for part in mistake.path if isinstance(part, str)]
    if isinstance(holder, list) and index < len(holder):
        holder[index] = deepcopy(_ITEMS.get(names[-1] if names else "", "-"))


def _mend_key(holder: dict[str, Any], key: str, mistake: Mistake) -> None:
    value = holder.pop(key, None)
    if mistake.code == "unknown-key":
        meant = nearest(key, _KEYS)
        if meant and meant not in holder:
            holder[meant] = value
    elif key in _STAND_INS:
        holder[key] = deepcopy(_STAND_INS[key])
