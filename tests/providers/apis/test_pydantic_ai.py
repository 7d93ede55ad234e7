"""The bridge to Pydantic AI, with the library itself and its own test models."""

import asyncio
from pathlib import Path

import msgspec
import pytest
from pydantic_ai.messages import (
    BinaryContent,
    ModelResponse,
    TextPart,
    ThinkingPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage
from scripted_http import ScriptedService

from agentv.errors import ProviderError
from agentv.loading.files import SearchPath
from agentv.model.request import ChatMessage, PlacedMedia, ProviderRequest, ProviderResponse
from agentv.model.score import Usage
from agentv.providers.apis.pydantic_ai_bridge import (
    PydanticAiOptions,
    PydanticAiProvider,
    messages_of,
    read_reply,
)
from media_samples import PNG, sha256


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


def test_images_stand_in_their_turn(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    image = PlacedMedia(
        path="a.png",
        resolved_path=str(tmp_path / "a.png"),
        media_type="image/png",
        size=len(PNG),
        sha256=sha256(PNG),
        at=17,
    )
    request = ProviderRequest(
        eval_id="one", question="<Attached: a.png>\n\nWhat is it?", media=(image,)
    )
    [message] = messages_of(request)
    [part] = message.parts
    assert isinstance(part, UserPromptPart)
    assert part.content == [
        "<Attached: a.png>",
        BinaryContent(data=PNG, media_type="image/png"),
        "What is it?",
    ]
    provider = PydanticAiProvider(options(), ScriptedService([]).build())
    assert asyncio.run(provider.respond(request)).text == "success (no tool calls)"


def test_an_image_that_is_gone_is_an_error_that_says_so(tmp_path: Path) -> None:
    image = PlacedMedia(
        path="a.png", resolved_path="/gone", media_type="image/png", size=9, sha256="0f", at=0
    )
    provider = PydanticAiProvider(options(), ScriptedService([]).build())
    request = ProviderRequest(eval_id="one", question="What is it?", media=(image,))
    with pytest.raises(ProviderError, match=r"the file 'a\.png' cannot be read") as caught:
        asyncio.run(provider.respond(request))
    assert caught.value.kind == "attachment"


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
