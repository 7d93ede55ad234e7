"""What a record type expects, as msgspec sees it, and how to say that to a person."""

from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import msgspec.inspect as mi

ACCEPTED: dict[type[mi.Type], tuple[type, ...]] = {
    mi.NoneType: (type(None),),
    mi.BoolType: (bool,),
    mi.IntType: (int,),
    mi.FloatType: (float, int),
    mi.StrType: (str,),
    mi.ListType: (list,),
    mi.VarTupleType: (list,),
    mi.TupleType: (list,),
    mi.DictType: (dict,),
    mi.StructType: (dict,),
}
"""The kinds of plain value that a shape takes; a `bool` is not taken for a number."""

_WORDS: dict[type[mi.Type], str] = {
    mi.NoneType: "nothing",
    mi.BoolType: "true or false",
    mi.IntType: "a whole number",
    mi.FloatType: "a number",
    mi.StrType: "text",
    mi.ListType: "a list",
    mi.VarTupleType: "a list",
    mi.TupleType: "a list",
    mi.DictType: "a mapping",
    mi.StructType: "a mapping",
}


@cache
def shape_of(type_: Any) -> mi.Type:
    """The shape of a type, with the values of each `Literal` in the order of their declaration.

    msgspec sorts them, but an author reads `system, user, assistant, tool`.
    """
    shape = mi.type_info(type_)
    declared = {frozenset(values): values for values in _literals(type_, set())}
    for part in _all_shapes(shape, set()):
        if isinstance(part, mi.LiteralType):
            part.values = declared.get(frozenset(part.values), part.values)
    return shape


def branches(shape: mi.Type) -> tuple[mi.Type, ...]:
    """The members of a union; of another shape, itself."""
    while isinstance(shape, mi.Metadata):
        shape = shape.type
    if isinstance(shape, mi.UnionType):
        return tuple(part for member in shape.types for part in branches(member))
    return (shape,)


def accepted(shape: mi.Type) -> tuple[type, ...] | None:
    """The kinds of plain value that a shape takes; `None` for a shape that we cannot judge."""
    if isinstance(shape, mi.LiteralType):
        return tuple({type(value) for value in shape.values})
    return ACCEPTED.get(type(shape))


def expected(shape: mi.Type) -> str:
    """`text or a list`; that a value may be missing goes without saying."""
    members = branches(shape)
    said = [m for m in members if not isinstance(m, mi.NoneType)] or members
    return " or ".join(dict.fromkeys(_word(member) for member in said))


def _word(shape: mi.Type) -> str:
    if isinstance(shape, mi.LiteralType):
        return listed(shape.values)
    return _WORDS.get(type(shape), "something else")


def listed(values: tuple[Any, ...]) -> str:
    """`one of a, b`, or `a` alone."""
    text = ", ".join(str(value) for value in values)
    return f"one of {text}" if len(values) > 1 else text


@cache
def has_unbounded_numbers(type_: Any) -> bool:
    """Whether an infinite or undefined number could pass msgspec: only two bounds keep it out."""
    return any(
        (shape.le is None and shape.lt is None) or (shape.ge is None and shape.gt is None)
        for shape in _all_shapes(shape_of(type_), set())
        if isinstance(shape, mi.FloatType)
    )


def _all_shapes(shape: mi.Type, seen: set[type]) -> Iterator[mi.Type]:
    for member in branches(shape):
        yield member
        parts: list[mi.Type] = []
        if isinstance(member, mi.ListType | mi.VarTupleType):
            parts = [member.item_type]
        elif isinstance(member, mi.TupleType):
            parts = list(member.item_types)
        elif isinstance(member, mi.DictType):
            parts = [member.value_type]
        elif isinstance(member, mi.StructType) and member.cls not in seen:
            seen.add(member.cls)
            parts = [field.type for field in member.fields]
        for part in parts:
            yield from _all_shapes(part, seen)


def _literals(type_: Any, seen: set[type]) -> Iterator[tuple[Any, ...]]:
    if get_origin(type_) is Literal:
        yield get_args(type_)
        return
    parts: tuple[Any, ...] = get_args(type_)
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct) and type_ not in seen:
        seen.add(type_)
        parts = tuple(get_type_hints(type_, include_extras=True).values())
    for part in parts:
        yield from _literals(part, seen)
