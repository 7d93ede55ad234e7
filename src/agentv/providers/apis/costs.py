"""Answers with what they cost."""

import msgspec

from agentv.errors import ProviderError
from agentv.model.request import ProviderResponse
from agentv.model.score import Usage
from agentv.providers.apis.options import ApiOptions
from agentv.providers.apis.prices import cost_usd
from agentv.providers.apis.wire import Json, Wire

_VENDORS = {
    "azure-openai": "azure",
    "gemini": "google",
    "google-gemini": "google",
}
"""How the price list calls them, where that is not what targets call them."""


def read_priced(
    wire: Wire, options: ApiOptions, reply: Json, *, in_batch: bool = False
) -> ProviderResponse:
    """The answer of a successful reply (see `Wire.read`), its cost in its usage.

    Raises:
        ProviderError: There is none; what that cost is in the error's usage.
    """
    try:
        response = wire.read(reply)
    except ProviderError as error:
        if error.usage is not None:
            error.usage = _priced(error.usage, wire, options, reply, in_batch=in_batch)
        raise
    if response.usage is None:
        return response
    usage = _priced(response.usage, wire, options, reply, in_batch=in_batch)
    return msgspec.structs.replace(response, usage=usage)


def _priced(usage: Usage, wire: Wire, options: ApiOptions, reply: Json, *, in_batch: bool) -> Usage:
    cost = usage.cost_usd
    if cost is None:
        cost = _own_price(usage, options)
    if cost is None:
        cost = _list_price(usage, wire, options, reply, in_batch=in_batch)
    return msgspec.structs.replace(usage, cost_usd=cost)


def _own_price(usage: Usage, options: ApiOptions) -> float | None:
    read, written = options.price_per_million_input, options.price_per_million_output
    if read is None or written is None:
        return None
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return (usage.input_tokens * read + usage.output_tokens * written) / 1_000_000


def _list_price(
    usage: Usage, wire: Wire, options: ApiOptions, reply: Json, *, in_batch: bool
) -> float | None:
    vendor = _VENDORS.get(options.provider, options.provider)
    # What answered is what costs: a deployment's name, or an alias, may stand for any model.
    names = (reply.get("model"), reply.get("modelVersion"), wire.model)
    for name in dict.fromkeys(name for name in names if isinstance(name, str) and name):
        cost = cost_usd(vendor, name, usage, endpoint=wire.endpoint, in_batch=in_batch)
        if cost is not None:
            return cost
    return None
