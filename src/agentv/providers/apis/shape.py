"""JSON as a vendor documents it: leaving out what is not set, reading only what is used."""

from typing import Any, TypeVar

import msgspec

from agentv.errors import ProviderError
from agentv.model.base import Record
from agentv.model.score import Usage
from agentv.providers.apis.wire import Json

Shape = TypeVar("Shape", bound=Record)


def given(**keys: Any) -> Json:
    """The keys that have a value; an API takes a `null` for a mistake."""
    return {name: value for name, value in keys.items() if value is not None}


def read_as(reply: Json, shape: type[Shape]) -> Shape:
    """The part of a successful reply that we use.

    Raises:
        ProviderError: It is not of that shape; its kind is `malformed`.
    """
    try:
        return msgspec.convert(reply, shape)
    except msgspec.ValidationError as error:
        reason = f"the reply is not as the API documents it: {error}"
        raise ProviderError(reason, kind="malformed") from error


def costing(failure: ProviderError, usage: Usage | None) -> ProviderError:
    """The failure of a reply that was paid for all the same."""
    failure.usage = usage
    return failure


def merged(body: Json, over: Json) -> Json:
    """The first with the second laid over it: objects are merged, all else is replaced."""
    mixed = dict(body)
    for name, value in over.items():
        below = mixed.get(name)
        if isinstance(below, dict) and isinstance(value, dict):
            value = merged(below, value)
        mixed[name] = value
    return mixed


def total(*counts: int | None) -> int | None:
    """The sum of the counts that are known; `None` if none is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
