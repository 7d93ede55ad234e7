"""What can still be looked at in a tree that is not well formed.

All the mistakes of a file are reported at once, so a typo in one key must not hide a missing file
in the next. A misspelt key is read as the key it was meant to be; any other mistake gives way to a
harmless stand-in. The result is only ever checked further, never run.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Generic, TypeVar

import msgspec

from agentv.loading.check import CheckFailed, check, convert
from agentv.loading.mistake import Mistake
from agentv.loading.nearest import nearest
from agentv.model.problem import KeyPath

T = TypeVar("T")

STAND_IN_ID = "\0stand-in"

_TEXT = "-"
_MESSAGE: Mapping[str, Any] = {"role": "user", "content": _TEXT}
_STAND_INS: Mapping[str, Any] = {
    "id": STAND_IN_ID,
    "outcome": _TEXT,
    "expected_outcome": _TEXT,
    "input_messages": [_MESSAGE],
    "role": "user",
    "evalcases": [],
}
_ITEMS: Mapping[str, Any] = {
    "input_messages": _MESSAGE,
    "expected_messages": _MESSAGE,
    "content": {"type": "text", "value": _TEXT},
    "targets": {"name": STAND_IN_ID},
}
_ROUNDS = 20
"""A stand-in that does not fit is followed by one for what holds it; files are not deeper."""


class Reading(msgspec.Struct, Generic[T], frozen=True):
    """A tree, read as a record as far as that can be done."""

    record: T | None
    """`None` when nothing is left of the tree."""
    mistakes: Sequence[Mistake] = ()
    """At the places where they were written."""
    unclear: Sequence[KeyPath] = ()
    """Places of the record that hold a stand-in, or lack what was written."""
    renamed: Mapping[KeyPath, str] = {}
    """Places of the record, with the key that was misspelt there."""

    def written(self, path: KeyPath) -> KeyPath:
        """Where a place of the record stands in the tree."""
        if not self.renamed:
            return path
        return tuple(self.renamed.get(path[:end], path[end - 1]) for end in range(1, len(path) + 1))

    def invented(self, path: KeyPath) -> bool:
        """Whether nobody wrote what the record has at a place."""
        return any(path[: len(place)] == place for place in self.unclear)


def read_record(tree: Any, model: type[T]) -> Reading[T]:
    """The record that a tree stands for, with every mistake that its types show."""
    try:
        return Reading(convert(tree, model))
    except CheckFailed as failed:
        mistakes = failed.mistakes
    mended = deepcopy(tree)
    reading: Reading[T] = Reading(None)
    while slips := [mistake for mistake in mistakes if _rename(mended, mistake)]:
        reading = _with_renamed(reading, slips)
        mistakes = check(mended, model)
    others = [m for m in mistakes if not _is_bad_guess(m, reading)]
    return Reading(
        record=_mend(mended, mistakes, model),
        mistakes=[*reading.mistakes, *(_as_written(mistake, reading) for mistake in others)],
        unclear=[mistake.path for mistake in mistakes],
        renamed=reading.renamed,
    )


def misspelt_key(tree: Mapping[str, Any], key: str, known: Sequence[str]) -> str | None:
    """The key of a tree that was probably meant to be `key`, which the tree lacks."""
    others = (other for other in tree if other not in known)
    return next((other for other in others if nearest(other, known) == key), None)


def _rename(tree: Any, mistake: Mistake) -> bool:
    if mistake.meant is None:
        return False
    holder = _value_at(tree, mistake.path[:-1])
    if mistake.meant in holder:
        return False
    holder[mistake.meant] = holder.pop(mistake.path[-1])
    return True


def _with_renamed(reading: Reading[T], slips: Sequence[Mistake]) -> Reading[T]:
    found = [_as_written(slip, reading) for slip in slips]
    new = {(*slip.path[:-1], slip.meant or ""): str(slip.path[-1]) for slip in slips}
    return Reading(None, mistakes=[*reading.mistakes, *found], renamed={**reading.renamed, **new})


def _is_bad_guess(mistake: Mistake, reading: Reading[T]) -> bool:
    """Whether a value only fails to fit the key that we took its key for."""
    return mistake.code == "wrong-type" and mistake.path in reading.renamed


def _as_written(mistake: Mistake, reading: Reading[T]) -> Mistake:
    return msgspec.structs.replace(mistake, path=reading.written(mistake.path))


def _mend(tree: Any, mistakes: Iterable[Mistake], model: type[T]) -> T | None:
    """The record, with a stand-in for whatever is mistaken; `tree` is changed."""
    tried: set[tuple[KeyPath, str]] = set()
    for _ in range(_ROUNDS):
        for mistake in mistakes:
            path, code = mistake.path, mistake.code
            if code not in ("missing-key", "unknown-key"):
                code = "invalid"
            while (path, code) in tried:
                path, code = path[:-1], "invalid"
            if not path:
                return None
            tried.add((path, code))
            _put_stand_in(tree, path, code)
        mistakes = check(tree, model)
        if not mistakes:
            return _converted(tree, model)
    return None


def _converted(tree: Any, model: type[T]) -> T | None:
    try:
        return msgspec.convert(tree, model)
    except msgspec.ValidationError:  # a rule that only msgspec knows
        return None


def _put_stand_in(tree: Any, path: KeyPath, code: str) -> None:
    try:
        holder = _value_at(tree, path[:-1])
    except (KeyError, IndexError, TypeError):
        return  # it went with what held it
    last = path[-1]
    if isinstance(holder, list) and isinstance(last, int):
        kind = next((part for part in reversed(path) if isinstance(part, str)), "")
        holder[last] = deepcopy(_ITEMS.get(kind, _TEXT))
    elif isinstance(holder, dict):
        holder.pop(last, None)
        if code == "missing-key" or (code == "invalid" and last in _STAND_INS):
            holder[last] = deepcopy(_STAND_INS.get(str(last), _TEXT))


def _value_at(tree: Any, path: KeyPath) -> Any:
    for part in path:
        tree = tree[part]
    return tree
