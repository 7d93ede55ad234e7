"""Check a plain tree against a record type and say everything that is wrong with it.

msgspec is quick but stops at the first mistake. So a valid tree only ever meets msgspec, and a
tree that it refuses is walked again, slowly, for all mistakes. msgspec has the last word: what it
refuses is never accepted.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import msgspec.inspect as mi

from agentv.loading import wording
from agentv.loading.mistake import Mistake
from agentv.loading.nearest import did_you_mean, nearest
from agentv.loading.shapes import (
    accepted,
    branches,
    expected,
    has_unbounded_numbers,
    listed,
    shape_of,
)
from agentv.model.problem import KeyPath

T = TypeVar("T")


class CheckFailed(Exception):  # noqa: N818 - says what happened to the tree
    """A tree that does not fit its type; every mistake has its key path."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        self.mistakes = mistakes
        super().__init__("\n".join(mistake.message for mistake in mistakes))


def convert(value: Any, type_: type[T]) -> T:
    """The record that a plain tree stands for.

    Numbers are finite: msgspec lets `.nan` and `.inf` pass where a number has no bounds, so trees
    for such types are searched for them. What is typed `Any` may hold them.

    Raises:
        CheckFailed: The tree does not fit; all mistakes in document order.
    """
    kind: Any = type_  # to mypy, a type variable is not hashable
    try:
        record = msgspec.convert(value, type_, strict=True)
    except msgspec.ValidationError as error:
        raise CheckFailed(check(value, type_) or [_in_its_own_words(error)]) from error
    if has_unbounded_numbers(kind) and _has_odd_number(value) and (found := check(value, type_)):
        raise CheckFailed(found)
    return record


def check(value: Any, type_: Any) -> list[Mistake]:
    """Every mistake of a plain tree, in document order, each with its key path.

    Knows structs, lists, tuples, dicts, scalars, literals and unions of these; of other types it
    says nothing. A missing key's path ends with that key. A misspelt key is one mistake: the key
    it was meant to be is not called missing as well.
    """
    return list(_walk(value, shape_of(type_), ()))


def _walk(value: Any, shape: mi.Type, path: KeyPath) -> Iterator[Mistake]:
    match _branch(value, shape):
        case None:
            yield _wrong_type(value, shape, path)
        case mi.StructType() as struct:
            yield from _struct(value, struct, path)
        case mi.ListType() | mi.VarTupleType() as items:
            yield from _length(value, items, path)
            for index, item in enumerate(value):
                yield from _walk(item, items.item_type, (*path, index))
        case mi.TupleType() as items:
            yield from _tuple(value, items, path)
        case mi.DictType() as pairs:
            yield from _length(value, pairs, path)
            for key, item in value.items():
                yield from _walk(item, pairs.value_type, (*path, key))
        case mi.LiteralType() as literal:
            yield from _literal(value, literal, path)
        case mi.StrType() as text:
            yield from _length(value, text, path)
        case mi.IntType() | mi.FloatType() as number:
            yield from _number(value, number, path)


def _struct(value: dict[str, Any], struct: mi.StructType, path: KeyPath) -> Iterator[Mistake]:
    fields = {field.encode_name: field for field in struct.fields}
    unknown = [key for key in value if key not in fields] if struct.forbid_unknown_fields else []
    meant = {nearest(key, fields) for key in unknown}
    for name, field in fields.items():
        if field.required and name not in value and name not in meant:
            message = f"the key '{name}' is missing"
            yield Mistake(path=(*path, name), message=message, code="missing-key")
    for key, item in value.items():
        if key in fields:
            yield from _walk(item, fields[key].type, (*path, key))
        elif key in unknown:
            yield _unknown_key(key, tuple(fields), path)


def _tuple(value: Sequence[Any], items: mi.TupleType, path: KeyPath) -> Iterator[Mistake]:
    if len(value) != len(items.item_types):
        message = f"expected {len(items.item_types)} items, found {len(value)}"
        yield Mistake(path=path, message=message, code="wrong-type")
    for index, (item, shape) in enumerate(zip(value, items.item_types, strict=False)):
        yield from _walk(item, shape, (*path, index))


def _literal(value: Any, literal: mi.LiteralType, path: KeyPath) -> Iterator[Mistake]:
    if value not in literal.values:
        yield _unknown_value(value, tuple(literal.values), path)


def _wrong_type(value: Any, shape: mi.Type, path: KeyPath) -> Mistake:
    return Mistake(
        path=path,
        message=f"expected {expected(shape)}, found {wording.found(value)}",
        hint=wording.how_to_mend(value, _takes(shape)),
        code="wrong-type",
    )


def _branch(value: Any, shape: mi.Type) -> mi.Type | None:
    """The member of a union that a value was meant for, by its kind; `None` if there is none.

    A shape that we cannot judge takes what the others do not.
    """
    members = branches(shape)
    fitting = [member for member in members if type(value) in (accepted(member) or ())]
    fitting.sort(key=lambda member: isinstance(member, mi.FloatType))
    fitting += [member for member in members if accepted(member) is None]
    return fitting[0] if fitting else None


def _takes(shape: mi.Type) -> set[type]:
    """The kinds of value that fit; not those of literals, where the value must fit as well."""
    members = [member for member in branches(shape) if not isinstance(member, mi.LiteralType)]
    return {kind for member in members for kind in accepted(member) or ()}


def _unknown_key(key: str, known: tuple[str, ...], path: KeyPath) -> Mistake:
    hint = did_you_mean(key, known) or (listed(known) if known else "remove it")
    return Mistake(
        path=(*path, key),
        message=f"unknown key '{key}'",
        hint=hint,
        code="unknown-key",
        at_key=True,
        meant=nearest(key, known),
    )


def _unknown_value(value: Any, known: tuple[Any, ...], path: KeyPath) -> Mistake:
    noun = next((part for part in reversed(path) if isinstance(part, str)), "value")
    guess = did_you_mean(value, (str(name) for name in known)) if isinstance(value, str) else ""
    others = listed(known) if len(known) > 1 else "" if guess else f"use '{known[0]}'"
    return Mistake(
        path=path,
        message=f"unknown {noun} {wording.quoted(value)}",
        hint=f"{guess} {others}".strip(),
        code="unknown-value",
    )


def _number(value: float, number: mi.IntType | mi.FloatType, path: KeyPath) -> Iterator[Mistake]:
    if isinstance(number, mi.FloatType) and not _is_finite(value):
        message = f"expected a finite number, found {wording.found(value)}"
        yield Mistake(path=path, message=message, code="out-of-range")
    elif (
        (number.ge is not None and value < number.ge)
        or (number.gt is not None and value <= number.gt)
        or (number.le is not None and value > number.le)
        or (number.lt is not None and value >= number.lt)
    ):
        yield Mistake(
            path=path,
            message=f"{wording.found(value)} is out of range",
            hint=f"write {expected(number)} {wording.bounds(number)}",
            code="out-of-range",
        )


def _length(
    value: Sequence[Any] | Mapping[str, Any],
    shape: mi.StrType | mi.ListType | mi.VarTupleType | mi.DictType,
    path: KeyPath,
) -> Iterator[Mistake]:
    least, most = shape.min_length or 0, shape.max_length
    units = "characters" if isinstance(shape, mi.StrType) else "entries"
    if len(value) < least:
        long_enough = f"must have at least {least} {units}, not {len(value)}"
        message = "must not be empty" if not value else long_enough
        yield Mistake(path=path, message=message, code="empty-value")
    elif most is not None and len(value) > most:
        message = f"must have at most {most} {units}, not {len(value)}"
        yield Mistake(path=path, message=message, code="out-of-range")


def _has_odd_number(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(map(_has_odd_number, value.values()))
    return isinstance(value, list) and any(map(_has_odd_number, value))


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _in_its_own_words(error: msgspec.ValidationError) -> Mistake:
    """What msgspec says of a type that the walker does not know; it ends in ` - at `$.a[0]``."""
    message, _, place = str(error).partition(" - at `$")
    steps = re.findall(r"\.([^.\[\]`]+)|\[(\d+)\]", place)
    path = tuple(name or int(index) for name, index in steps)
    return Mistake(path=path, message=message)
