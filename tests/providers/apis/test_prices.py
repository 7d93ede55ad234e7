"""What calls cost: as the price list says, and unknown where it says nothing."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from genai_prices import Usage as Counts
from genai_prices import calc_price
from genai_prices.data_snapshot import get_snapshot
from scripted_http import ScriptedService, reply

from agentv.errors import ProviderError
from agentv.model.request import ProviderRequest
from agentv.model.score import Usage
from agentv.providers.apis import anthropic, azure, gemini, openai
from agentv.providers.apis.prices import cost_usd

USAGE = Usage(input_tokens=1_000, cached_tokens=400, output_tokens=100)
VENDORS = ("openai", "azure", "anthropic", "google")


def listed_models() -> Iterator[tuple[str, str]]:
    for vendor in VENDORS:
        for model in get_snapshot().find_provider(None, vendor, None).models:
            if model.is_match(model.id):
                yield vendor, model.id


@pytest.mark.parametrize("tokens", [1_000, 150_000, 300_000])
def test_every_model_costs_what_the_list_says(tokens: int) -> None:
    """Also prompts that are so long that they cost more."""
    usage = Usage(input_tokens=tokens, cached_tokens=tokens // 4, output_tokens=500)
    counts = Counts(input_tokens=tokens, cache_read_tokens=tokens // 4, output_tokens=500)
    known = 0
    for vendor, model in listed_models():
        cost = cost_usd(vendor, model, usage)
        if cost is None:
            continue
        known += 1
        listed = calc_price(counts, model, provider_id=vendor).total_price
        assert cost == pytest.approx(float(listed)), (vendor, model)
    assert known > 150


def test_a_batch_is_cheaper() -> None:
    single = cost_usd("anthropic", "claude-sonnet-4-5", USAGE)
    batched = cost_usd("anthropic", "claude-sonnet-4-5", USAGE, in_batch=True)
    assert single is not None
    assert batched == pytest.approx(single / 2)


@pytest.mark.parametrize(
    ("vendor", "model", "endpoint"),
    [
        ("openai", "llama3.1:8b", "http://localhost:11434"),
        ("openai", "gpt-4o", "https://api.mistral.ai"),
        ("azure", "my-deployment", "https://mine.openai.azure.com"),
        ("google", "gemma-3-27b-it", ""),  # in the list, without a price
        ("openai", "text-embedding-3-small", ""),
        ("nobody", "gpt-4o", ""),
    ],
)
def test_what_the_list_does_not_know_is_unknown(vendor: str, model: str, endpoint: str) -> None:
    assert cost_usd(vendor, model, USAGE, endpoint=endpoint) is None


@pytest.mark.parametrize(
    "usage",
    [
        Usage(),
        Usage(input_tokens=5),
        Usage(output_tokens=5),
        Usage(input_tokens=5, cached_tokens=6, output_tokens=1),
        Usage(input_tokens=5, output_tokens=-1),
    ],
)
def test_half_known_usage_has_no_price(usage: Usage) -> None:
    assert cost_usd("openai", "gpt-4o", usage) is None


@pytest.mark.parametrize(
    ("model", "endpoint"),
    [
        ("gpt-4o", ""),
        ("gpt-4o", "http://127.0.0.1:4010"),
        ("gpt-4o-2024-08-06", "https://api.openai.com"),
    ],
)
def test_a_gateway_passes_the_vendors_price_on(model: str, endpoint: str) -> None:
    assert cost_usd("openai", model, USAGE, endpoint=endpoint) == pytest.approx(0.003)


def test_a_service_that_speaks_like_a_vendor_has_its_own_prices() -> None:
    model = "llama-3.3-70b-versatile"
    assert cost_usd("openai", model, USAGE) is None
    assert cost_usd("openai", model, USAGE, endpoint="https://api.groq.com") is not None


ANSWERED: list[tuple[Any, Any, dict[str, Any], dict[str, Any], float]] = [
    (
        openai,
        openai.OpenAiOptions,
        {"provider": "openai", "model": "gpt-4o"},
        {
            "choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 100},
        },
        0.0035,
    ),
    (
        azure,
        azure.AzureOptions,
        {"provider": "azure-openai", "endpoint": "mine", "deployment_name": "prod"},
        {
            "model": "gpt-4o-2024-08-06",
            "choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 100},
        },
        0.0035,
    ),
    (
        anthropic,
        anthropic.AnthropicOptions,
        {"provider": "anthropic", "model": "claude-sonnet-4-5"},
        {
            "content": [{"type": "text", "text": "Yes."}],
            "stop_reason": "end_turn",
            "usage": {
                "input_tokens": 600,
                "cache_read_input_tokens": 400,
                "output_tokens": 100,
            },
        },
        0.00342,
    ),
    (
        gemini,
        gemini.GeminiOptions,
        {"provider": "google-gemini"},
        {
            "candidates": [{"content": {"parts": [{"text": "Yes."}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 1000, "candidatesTokenCount": 100},
        },
        0.00055,
    ),
]


def ask(module: Any, model: type[Any], settings: dict[str, Any], body: dict[str, Any]) -> Usage:
    options = msgspec.convert({"name": "t", "api_key": "sk-test", **settings}, model)
    provider = module.build(options, ScriptedService([reply(body)]).build())
    request = ProviderRequest(eval_id="one", question="Really?")
    usage: Usage = asyncio.run(provider.respond(request)).usage
    return usage


@pytest.mark.parametrize(
    ("module", "model", "settings", "body", "cost"),
    ANSWERED,
    ids=[settings["provider"] for _, _, settings, _, _ in ANSWERED],
)
def test_every_api_says_what_an_answer_costs(
    module: Any, model: type[Any], settings: dict[str, Any], body: dict[str, Any], cost: float
) -> None:
    """What answered is what costs, whatever a deployment is called."""
    assert ask(module, model, settings, body).cost_usd == pytest.approx(cost)


def test_a_target_may_say_its_price() -> None:
    module, model, settings, body, _ = ANSWERED[0]
    prices = {"price_per_million_input": 1.0, "price_per_million_output": 10.0}
    usage = ask(module, model, {**settings, **prices, "model": "mine"}, body)
    assert usage.cost_usd == pytest.approx(0.002)


def test_one_price_needs_the_other() -> None:
    options = openai.OpenAiOptions(
        name="t", provider="openai", model="mine", api_key="sk-test", price_per_million_input=1.0
    )
    [problem] = options.problems(_NoFiles())
    assert problem.hint == ("give both `price_per_million_input` and `price_per_million_output`")


def test_an_answer_that_is_none_costs_all_the_same() -> None:
    module, model, settings, body, cost = ANSWERED[0]
    cut = {**body, "choices": [{"message": {"content": "Y"}, "finish_reason": "length"}]}
    with pytest.raises(ProviderError) as failed:
        ask(module, model, settings, cut)
    assert failed.value.kind == "cut_off"
    assert failed.value.usage is not None
    assert failed.value.usage.cost_usd == pytest.approx(cost)


class _NoFiles:
    def find(self, reference: str) -> Path | None:
        return None

    def tried(self, reference: str) -> list[Path]:
        return []
