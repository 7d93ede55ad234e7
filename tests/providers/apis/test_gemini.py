"""The `gemini` provider: its requests as the vendor documents them, its replies as they are."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from scripted_http import ScriptedService, reply

from agentv.errors import ProviderError
from agentv.model.http import HttpReply
from agentv.model.request import ChatMessage, ProviderRequest, ProviderResponse
from agentv.model.score import Usage
from agentv.providers.apis.gemini import GeminiOptions, GeminiWire, build
from agentv.providers.apis.wire import ReplyError

KEY = "AIza-secret"
HOST = "https://generativelanguage.googleapis.com"
QUESTION = ProviderRequest(eval_id="a", question="why?")
ASKED = [{"role": "user", "parts": [{"text": "why?"}]}]
ANSWER = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"text": "because"}]}, "finishReason": "STOP"}
    ],
    "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5},
}
RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"


class NoFiles:
    def find(self, reference: str) -> Path | None:
        return None

    def tried(self, reference: str) -> list[Path]:
        return []


def options(**more: Any) -> GeminiOptions:
    keys = {"name": "g", "provider": "gemini", "api_key": KEY}
    return msgspec.convert({**keys, **more}, GeminiOptions)


def body(request: ProviderRequest = QUESTION, **more: Any) -> dict[str, Any]:
    return GeminiWire(options(**more)).call(request).body


def read(message: dict[str, Any]) -> ProviderResponse | tuple[str, str]:
    """The response, or kind and message of the error."""
    try:
        return GeminiWire(options()).read(message)
    except ProviderError as error:
        return error.kind, str(error)


def said(code: int, status: str, message: str, *details: Any) -> dict[str, Any]:
    error = {"code": code, "status": status, "message": message}
    return {"error": {**error, "details": list(details)} if details else error}


def ask(*replies: HttpReply | ProviderError, **more: Any) -> tuple[ScriptedService, Any]:
    service = ScriptedService(replies)
    provider = build(options(**more), service.build())
    try:
        return service, asyncio.run(provider.respond(QUESTION))
    except ProviderError as error:
        return service, (error.kind, str(error))


def test_the_request_of_a_single_turn() -> None:
    """Covers the specification's "Google Gemini provider"."""
    request = ProviderRequest(
        eval_id="a", question="why?", system_prompt="Judge.", guidelines="Be kind."
    )
    call = GeminiWire(options(temperature=0.2, max_output_tokens=500)).call(request)
    assert call.url == f"{HOST}/v1beta/models/gemini-2.5-flash:generateContent"
    assert call.headers == {"x-goog-api-key": KEY}
    assert call.body == {
        "systemInstruction": {"parts": [{"text": "Judge.\n\n[[ ## Guidelines ## ]]\n\nBe kind."}]},
        "contents": ASKED,
        "generationConfig": {"temperature": 0.2, "maxOutputTokens": 500},
    }


def test_a_conversation_keeps_its_turns() -> None:
    turns = [("system", "Rules."), ("assistant", "Hi."), ("user", "Q1"), ("user", "Q2")]
    chat = tuple(ChatMessage(role=role, content=text) for role, text in turns)  # type: ignore[arg-type]
    request = ProviderRequest(eval_id="a", question="all of it", chat_prompt=chat)
    assert body(request) == {
        "systemInstruction": {"parts": [{"text": "Rules."}]},
        "contents": [
            {"role": "model", "parts": [{"text": "Hi."}]},
            {"role": "user", "parts": [{"text": "Q1"}]},
            {"role": "user", "parts": [{"text": "Q2"}]},
        ],
    }


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param({}, None, id="nothing set"),
        pytest.param({"temperature": 0}, {"temperature": 0}, id="zero is a temperature"),
        pytest.param(
            {"top_p": 0.5, "seed": 7, "stop": ["A", "B"], "max_tokens": 9},
            {"topP": 0.5, "seed": 7, "maxOutputTokens": 9, "stopSequences": ["A", "B"]},
            id="sampling",
        ),
        pytest.param(
            {"thinking_budget": 2048},
            {"thinkingConfig": {"thinkingBudget": 2048}},
            id="budget",
        ),
        pytest.param(
            {"thinking_budget": 0}, {"thinkingConfig": {"thinkingBudget": 0}}, id="no thinking"
        ),
        pytest.param(
            {"thinking_budget": -1, "include_thoughts": True},
            {"thinkingConfig": {"thinkingBudget": -1, "includeThoughts": True}},
            id="thoughts",
        ),
        pytest.param(
            {"reasoning_effort": "medium"},
            {"thinkingConfig": {"thinkingBudget": 8192}},
            id="effort of a model without levels",
        ),
        pytest.param(
            {"reasoning_effort": "low", "model": "gemini-3-flash-preview"},
            {"thinkingConfig": {"thinkingLevel": "LOW"}},
            id="effort of a model with levels",
        ),
        pytest.param(
            {"reasoning_effort": "none", "model": "gemini-3-flash-preview"},
            {"thinkingConfig": {"thinkingLevel": "MINIMAL"}},
            id="levels cannot say none",
        ),
        pytest.param(
            {"reasoning_effort": "max", "model": "gemini-3-flash-preview"},
            {"thinkingConfig": {"thinkingLevel": "XHIGH"}},
            id="nor the most",
        ),
    ],
)
def test_settings(settings: dict[str, Any], expected: dict[str, Any] | None) -> None:
    configured = {} if expected is None else {"generationConfig": expected}
    assert body(**settings) == {"contents": ASKED, **configured}


@pytest.mark.parametrize("is_held", [True, False])
def test_a_judge_is_held_to_its_schema(is_held: bool) -> None:
    schema = {"type": "object", "properties": {"score": {"type": "number", "maximum": 1}}}
    request = ProviderRequest(eval_id="a", question="why?", response_schema=schema)
    held = {"responseMimeType": "application/json", "responseJsonSchema": schema}
    expected = {"contents": ASKED, **({"generationConfig": held} if is_held else {})}
    assert body(request, structured_output=is_held) == expected


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        ({}, f"{HOST}/v1beta/models/gemini-2.5-flash:generateContent"),
        ({"model": "models/x"}, f"{HOST}/v1beta/models/x:generateContent"),
        ({"model": "tunedModels/my x"}, f"{HOST}/v1beta/tunedModels/my%20x:generateContent"),
        ({"base_url": "http://h:9/"}, "http://h:9/v1beta/models/gemini-2.5-flash:generateContent"),
        ({"base_url": "http://h/v1"}, "http://h/v1/models/gemini-2.5-flash:generateContent"),
    ],
)
def test_addresses(settings: dict[str, Any], url: str) -> None:
    assert GeminiWire(options(**settings)).call(QUESTION).url == url


def test_an_own_address_needs_no_key() -> None:
    wire = GeminiWire(options(base_url="http://127.0.0.1:9", api_key=None))
    assert wire.call(QUESTION).headers == {}
    assert (wire.endpoint, wire.model) == ("http://127.0.0.1:9", "gemini-2.5-flash")


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, []),
        ({"api_key": None}, [((), "target 'g' has no 'api_key'")]),
        ({"base_url": "http://h:x"}, [(("base_url",), "'http://h:x' is not a URL")]),
        (
            {"thinking_budget": 1, "reasoning_effort": "low"},
            [
                (
                    ("reasoning_effort",),
                    "'reasoning_effort' and 'thinking_budget' both say how much to think",
                )
            ],
        ),
    ],
)
def test_mistakes_in_options(settings: dict[str, Any], expected: list[Any]) -> None:
    found = options(**settings).problems(NoFiles())
    assert [(problem.path, problem.message) for problem in found] == expected


def test_thoughts_are_kept_apart_and_count_as_output() -> None:
    parts = [
        {"text": "hm", "thought": True},
        {"text": "be", "thoughtSignature": "x"},
        {"inlineData": {"mimeType": "image/png", "data": ""}},
        {"text": "cause"},
    ]
    message = {
        "candidates": [{"content": {"parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 100,
            "cachedContentTokenCount": 90,
            "candidatesTokenCount": 2,
            "thoughtsTokenCount": 5,
        },
    }
    assert read(message) == ProviderResponse(
        text="because",
        reasoning="hm",
        usage=Usage(input_tokens=100, cached_tokens=90, output_tokens=7, reasoning_tokens=5),
    )


def test_unknown_usage_is_unknown() -> None:
    message = {"candidates": ANSWER["candidates"]}
    assert read(message) == ProviderResponse(text="because")
    assert read({**message, "usageMetadata": {}}) == ProviderResponse(text="because", usage=Usage())


def finished(reason: str | None, text: str = "because", **more: Any) -> dict[str, Any]:
    candidate = {"content": {"parts": [{"text": text}]}, "finishReason": reason, **more}
    return {"candidates": [candidate]}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        *(
            (
                finished(reason),
                ("filtered", f"the answer was filtered (finish reason {reason})"),
            )
            for reason in ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII")
        ),
        (
            finished("SAFETY", finishMessage="Not this."),
            ("filtered", "the answer was filtered (finish reason SAFETY): Not this."),
        ),
        (
            {"candidates": [{"finishReason": "MAX_TOKENS"}]},
            (
                "cut_off",
                "the answer was cut off at the model's own limit (finish reason MAX_TOKENS)",
            ),
        ),
        (
            finished("MALFORMED_FUNCTION_CALL"),
            (
                "malformed",
                "the model did not finish its answer (finish reason MALFORMED_FUNCTION_CALL)",
            ),
        ),
        (
            finished("OTHER"),
            ("malformed", "the model did not finish its answer (finish reason OTHER)"),
        ),
        (finished("STOP", " \n"), ("empty", "the answer holds no text (finish reason STOP)")),
        (
            {"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]},
            ("empty", "the answer holds no text (finish reason STOP)"),
        ),
        (
            {"promptFeedback": {"blockReason": "SAFETY"}},
            ("filtered", "the prompt was blocked (block reason SAFETY)"),
        ),
        ({}, ("empty", "the reply holds no candidate")),
        ({"candidates": []}, ("empty", "the reply holds no candidate")),
        (
            {"candidates": {}},
            (
                "malformed",
                "the reply is not as the API documents it: Expected `array`, got `object`"
                " - at `$.candidates`",
            ),
        ),
    ],
)
def test_what_is_no_answer_says_why(message: dict[str, Any], expected: tuple[str, str]) -> None:
    assert read(message) == expected


@pytest.mark.parametrize(
    ("message", "used"),
    [
        (finished("SAFETY"), Usage(input_tokens=9, output_tokens=7, reasoning_tokens=3)),
        (finished("MAX_TOKENS"), Usage(input_tokens=9, output_tokens=7, reasoning_tokens=3)),
        (
            {"promptFeedback": {"blockReason": "SAFETY"}},
            Usage(input_tokens=9, output_tokens=7, reasoning_tokens=3),
        ),
    ],
)
def test_what_is_no_answer_says_what_it_cost(message: dict[str, Any], used: Usage) -> None:
    """What tools said is input, too."""
    counts = {
        "promptTokenCount": 4,
        "toolUsePromptTokenCount": 5,
        "candidatesTokenCount": 4,
        "thoughtsTokenCount": 3,
    }
    with pytest.raises(ProviderError) as raised:
        GeminiWire(options(max_output_tokens=9)).read({**message, "usageMetadata": counts})
    assert raised.value.usage == used


def test_a_last_turn_that_is_to_be_answered_is_the_users() -> None:
    chat = tuple(
        ChatMessage(role=role, content=text)  # type: ignore[arg-type]
        for role, text in [("user", "Q"), ("assistant", "@[Tool]:\n42")]
    )
    request = ProviderRequest(eval_id="a", question="all of it", chat_prompt=chat)
    assert body(request)["contents"][1] == {"role": "user", "parts": [{"text": "@[Tool]:\n42"}]}


def test_thoughts_alone_are_no_answer() -> None:
    parts = [{"text": "hm", "thought": True}]
    assert read({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}) == (
        "empty",
        "the answer holds no text (finish reason STOP)",
    )


def test_errors_are_read() -> None:
    wire = GeminiWire(options())
    found = wire.read_error(said(429, "RESOURCE_EXHAUSTED", "Slow down."))
    assert found == ReplyError(message="Slow down.", code="RESOURCE_EXHAUSTED")
    assert wire.read_error({}) is None
    assert wire.read_error({"error": "no"}) is None


@pytest.mark.parametrize(
    ("details", "expected"),
    [
        ([{"@type": RETRY_INFO, "retryDelay": "34s"}], 34.0),
        ([{"@type": "other"}, {"@type": RETRY_INFO, "retryDelay": "0.5s"}], 0.5),
        ([{"@type": RETRY_INFO, "retryDelay": "34.074824224s"}], 34.074824224),
        ([{"@type": RETRY_INFO}], None),
        ([{"@type": RETRY_INFO, "retryDelay": "soon"}], None),
        ([{"@type": "type.googleapis.com/google.rpc.Help"}], None),
        ([], None),
        ("none", None),
    ],
)
def test_the_delay_in_an_error_is_waited_for(details: Any, expected: float | None) -> None:
    wire = GeminiWire(options())
    assert wire.retry_after({}, {"error": {"details": details}}, 0.0) == expected


def test_a_busy_service_is_asked_again_when_it_says() -> None:
    """Covers the specification's "Default exponential backoff"; some errors come in a list."""
    busy = said(429, "RESOURCE_EXHAUSTED", "Slow", {"@type": RETRY_INFO, "retryDelay": "34.5s"})
    service, outcome = ask(
        reply(busy, 429),
        reply([busy], 429),
        reply(said(503, "UNAVAILABLE", "Overloaded"), 503),
        reply(ANSWER),
    )
    assert isinstance(outcome, ProviderResponse)
    assert outcome.text == "because"
    assert service.refusals == [34.5, 34.5, None]
    assert service.waits[:3] == [None, 34.5, 34.5]


def test_a_standard_header_wins_over_the_delay_in_the_error() -> None:
    busy = said(429, "RESOURCE_EXHAUSTED", "Slow", {"@type": RETRY_INFO, "retryDelay": "900s"})
    service, _ = ask(reply(busy, 429, {"retry-after": "7"}), reply(ANSWER))
    assert service.waits == [None, 7.0]


def test_only_anthropic_has_status_529() -> None:
    _, outcome = ask(reply("busy", 529))
    assert outcome == ("http_529", f"{HOST} answered 529: busy")


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "INVALID_ARGUMENT"), (401, "UNAUTHENTICATED"), (403, "PERMISSION_DENIED")],
)
def test_a_request_that_is_wrong_is_made_once(status: int, kind: str) -> None:
    """Covers the specification's "Non-retryable errors"."""
    service, outcome = ask(reply([said(status, kind, "No.")], status))
    whose = "" if status == 400 else "target 'g': "
    message = f"{whose}{HOST} answered {status} [{kind}]: No."
    assert outcome == (f"http_{status}", message)
    assert len(service.requests) == 1
    assert KEY not in str(outcome)


def test_a_wrong_key_is_a_400_that_says_so_in_its_details() -> None:
    detail = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    error = said(400, "INVALID_ARGUMENT", "API key not valid.", detail)
    service = ScriptedService([reply(error, 400)])
    provider = build(options(), service.build())
    message = f"target 'g': {HOST} answered 400 [INVALID_ARGUMENT]: API key not valid."
    for expected in (message, f"not sent, since the key was refused before: {message}"):
        with pytest.raises(ProviderError) as raised:
            asyncio.run(provider.respond(QUESTION))
        assert str(raised.value) == expected
    assert len(service.requests) == 1


def test_what_is_sent_is_json_with_the_key_in_a_header_only() -> None:
    service, _ = ask(reply(ANSWER), headers={"x-mine": "1"}, timeout_seconds=9)
    sent = service.requests[0]
    assert json.loads(sent.body) == {"contents": ASKED}
    assert sent.headers == {
        "content-type": "application/json",
        "x-goog-api-key": KEY,
        "x-mine": "1",
    }
    assert (sent.method, sent.total_seconds) == ("POST", 9)
    assert KEY not in sent.url
