"""The vendors' own clients against the vendor on loopback, and their requests beside ours.

What they read tells that the vendor speaks as the real ones do. What they send for the same
settings is what our adapters send, field by field; where not, the test says where and why.
"""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pytest
from scripted_http import ScriptedService

from agentv.model.request import ChatMessage, ProviderRequest, ProviderResponse
from agentv.registry import Registry
from agentv.transport.borders import Borders
from vendor import CUT_OFF, Asked, Vendor, failure
from vendor.server import answer

KEY = "vendor-key-7d11"
CONVERSATION = ProviderRequest(
    eval_id="a",
    question="all of it",
    chat_prompt=(
        ChatMessage(role="system", content="Be kind."),
        ChatMessage(role="user", content="Hello."),
        ChatMessage(role="assistant", content="Hi."),
        ChatMessage(role="user", content="And now?"),
    ),
)
TURNS = [
    {"role": "user", "content": "Hello."},
    {"role": "assistant", "content": "Hi."},
    {"role": "user", "content": "And now?"},
]
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "number"}},
    "required": ["score"],
    "additionalProperties": False,
}
JUDGED = ProviderRequest(
    eval_id="a", question="Judge this.", system_prompt="You judge.", response_schema=SCHEMA
)
HELD = {"name": "reply", "schema": SCHEMA, "strict": True}
SCRIPT = {"case-1": [CUT_OFF], "case-2": [failure(429, "slow down")]}
TELLING = (
    *("authorization", "api-key", "x-api-key", "x-goog-api-key"),
    *("content-type", "anthropic-version", "openai-organization"),
)
"""Headers that an API looks at."""


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    with Vendor(key=KEY, script=SCRIPT) as vendor:
        yield vendor


def ask(vendor: Vendor, request: ProviderRequest, **settings: Any) -> ProviderResponse:
    """What our own provider reads."""
    registry = Registry()
    entry = registry.find("providers", settings["provider"])
    assert entry is not None
    model = registry.provider_options(entry)
    options = msgspec.convert({"name": "t", "api_key": KEY, **settings}, model)

    async def once() -> ProviderResponse:
        async with Borders() as borders:
            given = ScriptedService([]).build()
            build = msgspec.structs.replace(given, http=borders.http, traffic=borders.traffic)
            return await registry.build_provider(options, build).respond(request)

    return asyncio.run(once())


def differences(
    vendor: Vendor, request: ProviderRequest, **settings: Any
) -> dict[str, tuple[Any, Any]]:
    """Where the request that a client has just sent is not ours for the same settings: both."""
    theirs = dict(_fields(vendor.asked[-1]))
    read = ask(vendor, request, **settings)
    assert read.text == answer(vendor.asked[-1].question)
    assert read.usage is not None
    assert (read.usage.input_tokens, read.usage.cached_tokens) == (11, 3)
    ours = dict(_fields(vendor.asked[-1]))
    places = sorted(theirs.keys() | ours.keys())
    both = {place: (theirs.get(place), ours.get(place)) for place in places}
    return {place: pair for place, pair in both.items() if pair[0] != pair[1]}


def _fields(asked: Asked) -> Iterator[tuple[str, Any]]:
    yield "path", asked.path
    yield from _leaves("query", asked.query)
    yield from _leaves("header", {n: asked.headers[n] for n in TELLING if n in asked.headers})
    yield from _leaves("body", asked.body)


def _leaves(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    """`body.messages.0.role` and what stands there."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _leaves(f"{place}.{name}", item)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _leaves(f"{place}.{number}", item)
    else:
        yield place, value


def test_openai_chat_completions(vendor: Vendor) -> None:
    openai: Any = pytest.importorskip("openai")
    url = f"{vendor.url}/v1"
    ours = {"provider": "openai", "base_url": url}
    messages = [{"role": "system", "content": "Be kind."}, *TURNS]
    with openai.OpenAI(
        api_key=KEY, base_url=url, max_retries=0, _strict_response_validation=True
    ) as client:
        create = client.chat.completions.create
        sampled = {"temperature": 0.5, "top_p": 0.9, "seed": 7, "stop": ["END"], "max_tokens": 99}
        read = create(model="gpt-4o", messages=messages, **sampled)
        assert read.choices[0].message.content == "gpt-4o was asked: And now?"
        assert read.choices[0].finish_reason == "stop"
        assert (read.usage.prompt_tokens, read.usage.completion_tokens) == (11, 7)
        assert read.usage.prompt_tokens_details.cached_tokens == 3
        assert differences(vendor, CONVERSATION, model="gpt-4o", **sampled, **ours) == {}

        create(
            model="o3",
            messages=messages,
            reasoning_effort="low",
            max_completion_tokens=99,
            extra_headers={"OpenAI-Organization": "org-1"},
        )
        reasoning = {"reasoning_effort": "low", "max_output_tokens": 99, "organization": "org-1"}
        assert differences(vendor, CONVERSATION, model="o3", **reasoning, **ours) == {}

        create(
            model="gpt-4o",
            messages=[
                {"role": "system", "content": "You judge."},
                {"role": "user", "content": "Judge this."},
            ],
            response_format={"type": "json_schema", "json_schema": HELD},
        )
        held = {"model": "gpt-4o", "structured_output": True}
        assert differences(vendor, JUDGED, **held, **ours) == {}

        user = [{"role": "user", "content": "case-1?"}]
        assert create(model="m", messages=user).choices[0].finish_reason == "length"
        with pytest.raises(openai.RateLimitError, match="slow down"):
            create(model="m", messages=[{"role": "user", "content": "case-2?"}])
    with (
        openai.OpenAI(api_key="wrong", base_url=url, max_retries=0) as client,
        pytest.raises(openai.AuthenticationError) as refused,
    ):
        client.chat.completions.create(model="m", messages=TURNS)
    assert refused.value.code == "invalid_api_key"


def test_openai_responses(vendor: Vendor) -> None:
    openai: Any = pytest.importorskip("openai")
    url = f"{vendor.url}/v1"
    ours = {"provider": "openai", "api": "responses", "base_url": url}
    with openai.OpenAI(
        api_key=KEY, base_url=url, max_retries=0, _strict_response_validation=True
    ) as client:
        sampled = {"temperature": 0.5, "top_p": 0.9, "max_output_tokens": 99}
        read = client.responses.create(
            model="gpt-4o", instructions="Be kind.", input=TURNS, **sampled
        )
        assert read.output_text == "gpt-4o was asked: And now?"
        assert (read.usage.input_tokens, read.usage.output_tokens) == (11, 7)
        assert read.usage.input_tokens_details.cached_tokens == 3
        assert differences(vendor, CONVERSATION, model="gpt-4o", **sampled, **ours) == {}

        client.responses.create(
            model="gpt-5",
            instructions="You judge.",
            input=[{"role": "user", "content": "Judge this."}],
            reasoning={"effort": "minimal"},
            text={"format": {"type": "json_schema", **HELD}},
        )
        held = {"model": "gpt-5", "reasoning_effort": "minimal", "structured_output": True}
        assert differences(vendor, JUDGED, **held, **ours) == {}

        cut = client.responses.create(model="m", input="case-1?")
        assert (cut.status, cut.incomplete_details.reason) == ("incomplete", "max_output_tokens")


def test_azure(vendor: Vendor) -> None:
    openai: Any = pytest.importorskip("openai")
    messages = [{"role": "system", "content": "Be kind."}, *TURNS]
    with openai.AzureOpenAI(
        api_key=KEY,
        azure_endpoint=vendor.url,
        api_version="2024-10-01-preview",
        max_retries=0,
        _strict_response_validation=True,
    ) as client:
        read = client.chat.completions.create(
            model="my gpt", messages=messages, temperature=0.5, max_tokens=99
        )
        assert read.choices[0].message.content == "my gpt was asked: And now?"
        settings = {"provider": "azure", "resource_name": vendor.url, "deployment_name": "my gpt"}
        sampled = {"temperature": 0.5, "max_output_tokens": 99}
        assert differences(vendor, CONVERSATION, **settings, **sampled) == {
            # The URL names the deployment, and this operation documents no model in its body.
            "body.model": ("my gpt", None),
        }

        client.responses.create(model="my gpt", instructions="Be kind.", input=TURNS)
        dated = {"api": "responses", "version": "2024-10-01-preview"}
        assert differences(vendor, CONVERSATION, **settings, **dated) == {}

    # The version without dates is asked through the plain client, as Azure's own guide has it.
    with openai.OpenAI(api_key=KEY, base_url=f"{vendor.url}/openai/v1", max_retries=0) as client:
        expected = {  # Either header holds a key.
            "header.authorization": (f"Bearer {KEY}", None),
            "header.api-key": (None, KEY),
        }
        client.chat.completions.create(model="my gpt", messages=messages)
        assert differences(vendor, CONVERSATION, **settings, version="v1") == expected
        client.responses.create(model="my gpt", instructions="Be kind.", input=TURNS)
        assert differences(vendor, CONVERSATION, **settings, api="responses") == expected


def test_anthropic(vendor: Vendor) -> None:
    anthropic: Any = pytest.importorskip("anthropic")
    ours = {"provider": "anthropic", "base_url": vendor.url}
    expected = {
        # Both are taken; ours is the one that the older version of the API documents.
        "header.authorization": (f"Bearer {KEY}", None),
        "header.x-api-key": (None, KEY),
        # The last version that knows sampling settings; their client has given them up.
        "header.anthropic-version": ("2026-10-21", "2023-06-01"),
    }
    with anthropic.Anthropic(
        api_key=KEY, base_url=vendor.url, max_retries=0, _strict_response_validation=True
    ) as client:
        create = client.messages.create
        read = create(
            model="claude-sonnet-4-6",
            max_tokens=99,
            system="Be kind.",
            messages=TURNS,
            stop_sequences=["END"],
            extra_body={"temperature": 0.5},
        )
        assert read.content[0].text == "claude-sonnet-4-6 was asked: And now?"
        assert read.stop_reason == "end_turn"
        assert (read.usage.input_tokens, read.usage.cache_read_input_tokens) == (8, 3)
        assert read.usage.output_tokens == 7
        sampled = {"temperature": 0.5, "max_output_tokens": 99, "stop": "END"}
        found = differences(vendor, CONVERSATION, model="claude-sonnet-4-6", **sampled, **ours)
        assert found == expected

        create(
            model="claude-sonnet-4-6",
            max_tokens=3000,
            messages=TURNS,
            system="Be kind.",
            thinking={"type": "enabled", "budget_tokens": 2048},
        )
        budget = {"thinking_budget": 2048, "max_output_tokens": 3000, "temperature": 0.5}
        found = differences(vendor, CONVERSATION, model="claude-sonnet-4-6", **budget, **ours)
        assert found == expected

        create(
            model="claude-opus-5",
            max_tokens=99,
            system="You judge.",
            messages=[{"role": "user", "content": "Judge this."}],
            thinking={"type": "adaptive"},
            output_config={
                "effort": "high",
                "format": {"type": "json_schema", "schema": SCHEMA},
            },
        )
        effort = {"reasoning_effort": "high", "max_output_tokens": 99}
        found = differences(vendor, JUDGED, model="claude-opus-5", **effort, **ours)
        assert found == expected

        user = [{"role": "user", "content": "case-1?"}]
        cut = create(model="claude-opus-5", max_tokens=9, messages=user)
        assert cut.stop_reason == "max_tokens"
        slow = [{"role": "user", "content": "case-2?"}]
        with pytest.raises(anthropic.RateLimitError) as busy:
            create(model="claude-opus-5", max_tokens=9, messages=slow)
        assert busy.value.type == "rate_limit_error"


def test_gemini(vendor: Vendor) -> None:
    genai: Any = pytest.importorskip("google.genai")
    types = genai.types
    ours = {"provider": "gemini", "base_url": vendor.url}
    # Their client has moved on to v1, which lacks the names of latest models.
    where = types.HttpOptions(base_url=vendor.url, api_version="v1beta")
    expected = {
        "body.systemInstruction.role": ("user", None),  # the API documents that it takes none
    }
    with genai.Client(api_key=KEY, http_options=where) as client:
        read = client.models.generate_content(
            model="gemini-2.5-flash",
            contents=[
                types.Content(role="user", parts=[types.Part(text="Hello.")]),
                types.Content(role="model", parts=[types.Part(text="Hi.")]),
                types.Content(role="user", parts=[types.Part(text="And now?")]),
            ],
            config=types.GenerateContentConfig(
                system_instruction="Be kind.",
                temperature=0.5,
                top_p=0.9,
                seed=7,
                stop_sequences=["END"],
                max_output_tokens=99,
                thinking_config=types.ThinkingConfig(thinking_budget=512, include_thoughts=True),
            ),
        )
        assert read.text == "gemini-2.5-flash was asked: And now?"
        assert read.candidates[0].finish_reason == types.FinishReason.STOP
        used = read.usage_metadata
        assert (used.prompt_token_count, used.cached_content_token_count) == (11, 3)
        assert used.candidates_token_count == 7
        found = differences(
            vendor,
            CONVERSATION,
            temperature=0.5,
            top_p=0.9,
            seed=7,
            stop=["END"],
            max_output_tokens=99,
            thinking_budget=512,
            include_thoughts=True,
            **ours,
        )
        thinking = "body.generationConfig.thinkingConfig"
        assert found == {
            **expected,
            # JSON for protocol buffers has both spellings; the documents have ours.
            f"{thinking}.include_thoughts": (True, None),
            f"{thinking}.includeThoughts": (None, True),
            f"{thinking}.thinking_budget": (512, None),
            f"{thinking}.thinkingBudget": (None, 512),
        }

        client.models.generate_content(
            model="gemini-3-flash-preview",
            contents="Judge this.",
            config=types.GenerateContentConfig(
                system_instruction="You judge.",
                response_mime_type="application/json",
                response_json_schema=SCHEMA,
            ),
        )
        assert differences(vendor, JUDGED, model="gemini-3-flash-preview", **ours) == expected

        cut = client.models.generate_content(model="m", contents="case-1?")
        assert cut.candidates[0].finish_reason == types.FinishReason.MAX_TOKENS
        with pytest.raises(genai.errors.ClientError) as busy:
            client.models.generate_content(model="m", contents="case-2?")
        assert (busy.value.code, busy.value.status) == (429, "RESOURCE_EXHAUSTED")
