"""The bridge to Pydantic AI, with the library itself and its own test models."""

import asyncio

import msgspec
import pytest
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart
from pydantic_ai.usage import RequestUsage
from scripted_http import ScriptedService

from agentv.errors import ProviderError
from agentv.loading.files import SearchPath
from agentv.model.request import ChatMessage, ProviderRequest, ProviderResponse
from agentv.model.score import Usage
from agentv.providers.apis.pydantic_ai_bridge import (
    PydanticAiOptions,
    PydanticAiProvider,
    messages_of,
    read_reply,
)


def options(model: str = "test", **more: object) -> PydanticAiOptions:
    data = {"name": "tail", "provider": "pydantic-ai", "model": model, **more}
    return msgspec.convert(data, PydanticAiOptions)


def test_an_answer_comes_through_the_library() -> None:
    provider = PydanticAiProvider(options(temperature=0.5), ScriptedService([]).build())
    request = ProviderRequest(eval_id="one", question="Hello?", guidelines="Be kind.")
    answer = asyncio.run(provider.respond(request))
    assert answer.text == "success (no tool calls)"
    assert answer.usage is not None
    assert answer.usage.output_tokens == 4
    assert answer.usage.cost_usd is None


def test_turns_keep_their_order() -> None:
    chat = (
        ChatMessage(role="system", content="Help."),
        ChatMessage(role="user", content="One"),
        ChatMessage(role="assistant", content="Two"),
        ChatMessage(role="user", content="Three"),
    )
    messages = messages_of(ProviderRequest(eval_id="one", question="-", chat_prompt=chat))
    said = [(message.kind, message.parts[0].content) for message in messages]  # type: ignore[union-attr]
    assert said == [
        ("request", "Help."),
        ("request", "One"),
        ("response", "Two"),
        ("request", "Three"),
    ]


def test_thinking_is_kept_apart() -> None:
    reply = ModelResponse(
        parts=[ThinkingPart(content="Hm."), TextPart(content="Yes.")],
        usage=RequestUsage(input_tokens=3, output_tokens=2),
    )
    answer = read_reply(reply)
    assert answer == ProviderResponse(
        text="Yes.",
        reasoning="Hm.",
        usage=Usage(input_tokens=3, cached_tokens=0, output_tokens=2),
    )


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (ModelResponse(parts=[TextPart(content="Yes")], finish_reason="length"), "cut_off"),
        (ModelResponse(parts=[], finish_reason="content_filter"), "filtered"),
        (ModelResponse(parts=[]), "empty"),
        (ModelResponse(parts=[TextPart(content=" ")]), "empty"),
    ],
)
def test_what_is_no_answer(reply: ModelResponse, kind: str) -> None:
    """And what it cost all the same."""
    reply.usage = RequestUsage(input_tokens=3, output_tokens=2)
    with pytest.raises(ProviderError) as caught:
        read_reply(reply)
    assert caught.value.kind == kind
    assert caught.value.usage == Usage(input_tokens=3, cached_tokens=0, output_tokens=2)


def test_a_service_that_is_not_set_up_is_an_error_that_says_so() -> None:
    provider = PydanticAiProvider(options("groq:any"), ScriptedService([]).build())
    with pytest.raises(ProviderError, match="groq") as caught:
        asyncio.run(provider.respond(ProviderRequest(eval_id="one", question="Hello?")))
    assert caught.value.kind == "setup"


def test_a_model_must_say_whose_it_is() -> None:
    [problem] = options("mistral-large").problems(SearchPath(()))
    assert problem.message == "'mistral-large' does not say whose model it is"
