"""The price list of `genai-prices`: what a model's tokens cost, as far as it knows.

The list comes with the package and is never fetched, so prices are as fresh as the version that is
installed. Importing it takes as long as a hundred calls; `price_memory` saves most runs from it.
"""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from agentv.model.base import Record

if TYPE_CHECKING:
    from decimal import Decimal

    from genai_prices.types import ModelInfo, TieredPrices

    Listed = Decimal | TieredPrices


class Rates(Record, frozen=True, kw_only=True):
    """US dollars for a million tokens."""

    above: int
    """Of calls with more input tokens than this."""
    input: float
    cached: float
    """Input that came from the vendor's cache."""
    output: float


class Price(Record, frozen=True, kw_only=True):
    """What a model costs."""

    rates: tuple[Rates, ...]
    """The first for any call; of the others the last that applies. A call has one rate."""
    lasting: bool = True
    """Whether it is the same at any time of any day."""


def listed_price(vendor: str, model: str, host: str, *, in_batch: bool) -> Price | None:
    """The price at the service of that host, else at the vendor; `None` when it is unknown."""
    found = _find(vendor, model.removeprefix("models/"), host)
    if found is None:
        return None
    context = {"processing": "batch"} if in_batch else None
    prices = found.get_prices(datetime.now(UTC), context)
    read, written = prices.input_mtok, prices.output_mtok
    if read is None or written is None or prices.requests_kcount is not None:
        return None  # not sold by the token, or not by the token alone
    cached = read if prices.cache_read_mtok is None else prices.cache_read_mtok
    rates = _rates(read, cached, written)
    return Price(rates=rates, lasting=_is_lasting(found, in_batch=in_batch))


def _find(vendor: str, model: str, host: str) -> "ModelInfo | None":
    from genai_prices.data_snapshot import get_snapshot

    prices = get_snapshot()
    try:
        seller = prices.find_provider(None, None, f"https://{host}")
    except LookupError:
        seller = None  # a gateway, or a server of one's own
    try:
        return prices.find_provider_model(model, seller, vendor, None)[1]
    except LookupError:
        return None


def _is_lasting(model: "ModelInfo", *, in_batch: bool) -> bool:
    variants = model.price_variants or () if in_batch else ()
    limited = any(variant.constraint is not None for variant in variants)
    return not limited and not isinstance(model.prices, list)


def _rates(read: "Listed", cached: "Listed", written: "Listed") -> tuple[Rates, ...]:
    starts = {0}.union(*map(_starts, (read, cached, written)))
    return tuple(
        Rates(
            above=start,
            input=_rate(read, start),
            cached=_rate(cached, start),
            output=_rate(written, start),
        )
        for start in sorted(starts)
    )


def _starts(price: "Listed") -> set[int]:
    return {tier.start for tier in getattr(price, "tiers", ())}


def _rate(price: "Listed", above: int) -> float:
    """The price of calls that are longer than this."""
    tiers = getattr(price, "tiers", ())
    reached = [tier.price for tier in tiers if tier.start <= above]
    base: Any = getattr(price, "base", price)
    return float(reached[-1] if reached else base)
