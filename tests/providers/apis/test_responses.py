"""The `openai` provider over the Responses API."""

import asyncio
import json
from typing import Any

import msgspec
import pytest
from scripted_http import ScriptedService, reply

from agentv.errors import ProviderError
from agentv.model.request import ChatMessage, ProviderRequest, ProviderResponse
from agentv.model.score import Usage
from agentv.providers.apis.openai import OpenAiOptions, build, openai_wire

KEY = "sk-very-secret"
QUESTION = ProviderRequest(eval_id="a", question="why?")
ASKED = [{"role": "user", "content": "why?"}]
PLAIN = {"model": "gpt-4o", "input": ASKED}
USED = Usage(input_tokens=3, output_tokens=2)
SCHEMA = {"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}
HELD = {
    "type": "json_schema",
    "name": "reply",
    "schema": {**SCHEMA, "additionalProperties": False},
    "strict": True,
}


def options(**more: Any) -> OpenAiOptions:
    keys = {"name": "gpt", "provider": "openai", "model": "gpt-4o", "api_key": KEY}
    return msgspec.convert({**keys, "api": "responses", **more}, OpenAiOptions)


def body(request: ProviderRequest = QUESTION, **more: Any) -> dict[str, Any]:
    return openai_wire(options(**more)).call(request).body


def message(*texts: str, phase: str | None = None) -> dict[str, Any]:
    parts = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    return {"type": "message", "role": "assistant", "content": parts, "phase": phase}


def response(*output: dict[str, Any], **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 3, "output_tokens": 2}
    return {"status": "completed", "error": None, "output": output, "usage": usage, **more}


def read(reply: dict[str, Any]) -> ProviderResponse | tuple[str, str, Usage | None]:
    """The response, or kind, message and usage of the error."""
    try:
        return openai_wire(options(max_output_tokens=16)).read(msgspec.to_builtins(reply))
    except ProviderError as error:
        return error.kind, str(error), error.usage


def test_the_request_of_a_single_turn() -> None:
    request = ProviderRequest(
        eval_id="a", question="why?", system_prompt="Judge.", guidelines="Be kind."
    )
    call = openai_wire(options()).call(request)
    assert call.url == "https://api.openai.com/v1/responses"
    assert call.headers == {"authorization": f"Bearer {KEY}"}
    assert call.body == {
        "model": "gpt-4o",
        "instructions": "Judge.\n\n[[ ## Guidelines ## ]]\n\nBe kind.",
        "input": ASKED,
    }


def test_a_conversation_keeps_its_turns() -> None:
    turns = [("system", "Rules."), ("assistant", "Hi."), ("user", "Q1"), ("user", "Q2")]
    chat = tuple(ChatMessage(role=role, content=text) for role, text in turns)  # type: ignore[arg-type]
    request = ProviderRequest(eval_id="a", question="all of it", chat_prompt=chat)
    assert body(request) == {
        "model": "gpt-4o",
        "instructions": "Rules.",
        "input": [{"role": role, "content": text} for role, text in turns[1:]],
    }


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param({}, PLAIN, id="nothing set"),
        pytest.param(
            {"temperature": 0, "top_p": 0.5, "max_output_tokens": 99},
            {**PLAIN, "temperature": 0, "top_p": 0.5, "max_output_tokens": 99},
            id="sampling and a limit",
        ),
        pytest.param(
            {"model": "o3", "temperature": 0, "reasoning_effort": "high"},
            {**PLAIN, "model": "o3", "reasoning": {"effort": "high"}},
            id="a reasoning model",
        ),
        pytest.param(
            {"response_format": "json"},
            {**PLAIN, "text": {"format": {"type": "json_object"}}},
            id="json",
        ),
        pytest.param(
            {"response_format": {"type": "json_schema", "json_schema": {"name": "n"}}},
            {**PLAIN, "text": {"format": {"type": "json_schema", "name": "n"}}},
            id="a format as chat completions write it",
        ),
    ],
)
def test_settings(settings: dict[str, Any], expected: dict[str, Any]) -> None:
    assert body(**settings) == expected


@pytest.mark.parametrize(
    ("settings", "is_held"), [({}, True), ({"base_url": "http://127.0.0.1:9/v1"}, False)]
)
def test_a_judge_is_held_to_its_schema(settings: dict[str, Any], is_held: bool) -> None:
    request = ProviderRequest(eval_id="a", question="why?", response_schema=SCHEMA)
    expected = {**PLAIN, "text": {"format": HELD}} if is_held else PLAIN
    assert body(request, **settings) == expected


def test_reasoning_is_kept_apart_from_the_answer() -> None:
    """So is what the model said on its way to the answer."""
    summary = [{"type": "summary_text", "text": "hm"}, {"type": "summary_text", "text": "so"}]
    usage = {
        "input_tokens": 113,
        "input_tokens_details": {"cached_tokens": 100},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": 120,
    }
    found = read(
        response(
            {"type": "reasoning", "id": "r", "summary": summary, "encrypted_content": "x"},
            message("Let me see.", phase="commentary"),
            message("be", "cause", phase="final_answer"),
            usage=usage,
        )
    )
    assert found == ProviderResponse(
        text="because",
        reasoning="hm\n\nso",
        usage=Usage(input_tokens=113, cached_tokens=100, output_tokens=7, reasoning_tokens=5),
    )


def test_open_reasoning_is_kept_too() -> None:
    thought = [{"type": "reasoning_text", "text": "hm"}]
    found = read(response({"type": "reasoning", "summary": [], "content": thought}, message("yes")))
    assert found == ProviderResponse(text="yes", reasoning="hm", usage=USED)


def test_unknown_usage_is_unknown() -> None:
    assert read({"output": [message("yes")]}) == ProviderResponse(text="yes")


REFUSAL = {"type": "message", "content": [{"type": "refusal", "refusal": "I can't."}]}


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        pytest.param(
            response(REFUSAL), "refusal", "the model refused to answer: I can't.", id="refusal"
        ),
        pytest.param(
            response(
                message("becau"),
                status="incomplete",
                incomplete_details={"reason": "max_output_tokens"},
            ),
            "cut_off",
            "the answer was cut off at `max_output_tokens: 16`"
            " (status incomplete, reason max_output_tokens)",
            id="cut off",
        ),
        pytest.param(
            response(status="incomplete", incomplete_details={"reason": "content_filter"}),
            "filtered",
            "the answer was filtered (status incomplete, reason content_filter)",
            id="filtered",
        ),
        pytest.param(
            response(message("be"), status="incomplete", incomplete_details={"reason": "steered"}),
            "malformed",
            "the model did not finish its answer (status incomplete, reason steered)",
            id="broken off",
        ),
        pytest.param(
            response(status="in_progress"),
            "malformed",
            "the model did not finish its answer (status in_progress)",
            id="not finished",
        ),
        pytest.param(
            response(status="failed", error={"code": "server_error", "message": "Sorry."}),
            "failed",
            "the service failed [server_error]: Sorry.",
            id="failed",
        ),
        pytest.param(
            response(status="failed", error={"code": "invalid_prompt", "message": "Flagged."}),
            "filtered",
            "the service failed [invalid_prompt]: Flagged.",
            id="failed by policy",
        ),
        pytest.param(response(), "empty", "the answer holds no text", id="nothing"),
        pytest.param(response(message(" ")), "empty", "the answer holds no text", id="blank"),
    ],
)
def test_what_is_no_answer_says_why(reply: dict[str, Any], kind: str, said: str) -> None:
    """And what it cost all the same."""
    assert read(reply) == (kind, said, USED)


def test_another_shape_is_malformed() -> None:
    kind, said, _ = read({"output": "because"})  # type: ignore[misc]
    assert kind == "malformed"
    assert str(said).startswith("the reply is not as the API documents it: Expected `array`")


@pytest.mark.parametrize(
    ("error", "left_out"),
    [
        (
            {
                "message": "Unsupported parameter: 'temperature' is not supported with this model.",
                "param": "temperature",
                "code": None,
            },
            "temperature",
        ),
        (
            {
                "message": "Invalid schema for response_format 'reply': no.",
                "param": "text.format.schema",
                "code": "invalid_json_schema",
            },
            "text",
        ),
    ],
)
def test_a_model_that_refuses_a_setting_is_asked_without_it(
    error: dict[str, Any], left_out: str
) -> None:
    service = ScriptedService([reply({"error": error}, 400), reply(response(message("yes")))])
    request = ProviderRequest(eval_id="a", question="why?", response_schema=SCHEMA)
    provider = build(options(temperature=0), service.build())
    assert asyncio.run(provider.respond(request)).text == "yes"
    first, second = (json.loads(sent.body) for sent in service.requests)
    assert {name: first[name] for name in first if name != left_out} == second
