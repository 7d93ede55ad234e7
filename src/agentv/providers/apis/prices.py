"""What calls cost. What no price list knows is unknown, never 0."""

from functools import lru_cache
from urllib.parse import urlsplit

from agentv.model.score import Usage
from agentv.providers.apis.price_list import Price, listed_price
from agentv.providers.apis.price_memory import recall, remember

_MILLION = 1_000_000


def cost_usd(
    vendor: str, model: str, usage: Usage, *, endpoint: str = "", in_batch: bool = False
) -> float | None:
    """The price of one call in US dollars.

    Args:
        vendor: Whose API is spoken: `openai`, `azure`, `anthropic`, `google`.
        model: As it was asked for, or as the reply calls it.
        usage: Without input and output tokens there is no price. What went into a vendor's cache
            is priced as other input.
        endpoint: Scheme and host. A service that only speaks like `vendor` has its own prices.
        in_batch: Whether it was part of a batch, which is cheaper.
    """
    read, written, cached = usage.input_tokens, usage.output_tokens, usage.cached_tokens or 0
    if read is None or written is None or min(cached, written, read - cached) < 0:
        return None
    price = _price(vendor, model, _host(endpoint), in_batch=in_batch)
    if price is None:
        return None
    rates = [rates for rates in price.rates if read > rates.above or not rates.above][-1]
    dollars = (read - cached) * rates.input + cached * rates.cached + written * rates.output
    return dollars / _MILLION


def _price(vendor: str, model: str, host: str, *, in_batch: bool) -> Price | None:
    price = _lasting_price(vendor, model, host, in_batch)
    if price is None or price.lasting:
        return price
    return listed_price(vendor, model, host, in_batch=in_batch)


@lru_cache(256)
def _host(endpoint: str) -> str:
    return urlsplit(endpoint).hostname or ""


@lru_cache(256)
def _lasting_price(vendor: str, model: str, host: str, in_batch: bool) -> Price | None:
    key = f"{vendor} {model} {host} {'batch' if in_batch else 'single'}"
    is_known, price = recall(key)
    if not is_known:
        price = listed_price(vendor, model, host, in_batch=in_batch)
        remember(key, price)
    return price
