"""JSON as a vendor documents it: leaving out what is not set, reading only what is used."""

from typing import Any, TypeVar

import msgspec

from agentv.errors import ProviderError
from agentv.model.base import Record
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


def total(*counts: int | None) -> int | None:
    """The sum of the counts that are known; `None` if none is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
