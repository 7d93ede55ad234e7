"""Values that came out of variables, read as what their keys take.

A variable holds text; `workers: ${{ WORKERS }}` means a number all the same.
"""

from typing import Any

import msgspec.inspect as mi

from agentv.loading.environment import has_variable
from agentv.loading.shapes import accepted, branches, shape_of
from agentv.loading.yaml_scalars import plain_value


def read_values(filled: Any, written: Any, model: type[Any]) -> Any:
    """A tree whose variables are filled in, with numbers and booleans where its model takes them.

    A text that is nothing of the kind is put back as it was written: it will be called wrong, and
    the message must not show what may be a secret.
    """
    kind: Any = model  # to mypy, a type is not hashable
    return _read(filled, written, branches(shape_of(kind)))


def _read(filled: Any, written: Any, shapes: tuple[mi.Type, ...]) -> Any:
    if has_variable(written):
        return _value(filled, written, shapes)
    if isinstance(filled, dict):
        types = _types_of_keys(shapes)
        other = _inner(shapes, mi.DictType)
        return {
            key: _read(item, written[key], types.get(key, other)) for key, item in filled.items()
        }
    if isinstance(filled, list):
        inner = _inner(shapes, mi.ListType)
        return [_read(item, own, inner) for item, own in zip(filled, written, strict=True)]
    return filled


def _value(text: str, written: str, shapes: tuple[mi.Type, ...]) -> Any:
    if not shapes or any(isinstance(shape, mi.StrType | mi.AnyType) for shape in shapes):
        return text
    if any(isinstance(shape, mi.LiteralType) and text in shape.values for shape in shapes):
        return text
    try:
        value = plain_value(text.strip())
    except ValueError:  # more digits than Python converts
        return written
    kinds = {kind for shape in shapes for kind in accepted(shape) or ()} - {str, type(None)}
    return value if type(value) in kinds else written


def _types_of_keys(shapes: tuple[mi.Type, ...]) -> dict[str, tuple[mi.Type, ...]]:
    return {
        field.encode_name: branches(field.type)
        for shape in shapes
        if isinstance(shape, mi.StructType)
        for field in shape.fields
    }


def _inner(shapes: tuple[mi.Type, ...], kind: type[mi.Type]) -> tuple[mi.Type, ...]:
    """What the lists (or the mappings) among some shapes hold."""
    holders: list[Any] = [shape for shape in shapes if isinstance(shape, kind)]
    inner = (h.item_type if kind is mi.ListType else h.value_type for h in holders)
    return tuple(shape for item in inner for shape in branches(item))
