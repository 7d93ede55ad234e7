"""The `anthropic` provider: its requests as the vendor documents them, its replies as they are."""

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
from agentv.providers.apis.anthropic import AnthropicOptions, AnthropicWire, build
from agentv.providers.apis.wire import ReplyError

KEY = "sk-ant-secret"
QUESTION = ProviderRequest(eval_id="a", question="why?")
ASKED = [{"role": "user", "content": "why?"}]
ANSWER = {
    "type": "message",
    "content": [{"type": "text", "text": "because"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "output_tokens": 2},
}


class NoFiles:
    def find(self, reference: str) -> Path | None:
        return None

    def tried(self, reference: str) -> list[Path]:
        return []


def options(**more: Any) -> AnthropicOptions:
    keys = {"name": "claude", "provider": "anthropic", "model": "claude-sonnet-4-5", "api_key": KEY}
    return msgspec.convert({**keys, **more}, AnthropicOptions)


def body(request: ProviderRequest = QUESTION, **more: Any) -> dict[str, Any]:
    return AnthropicWire(options(**more)).call(request).body


def read(**message: Any) -> ProviderResponse | tuple[str, str]:
    """The response, or kind and message of the error."""
    try:
        return AnthropicWire(options()).read({**ANSWER, **message})
    except ProviderError as error:
        return error.kind, str(error)


def error_reply(status: int, kind: str, message: str, **headers: str) -> HttpReply:
    said = {"type": "error", "error": {"type": kind, "message": message}}
    return reply(said, status, {name.replace("_", "-"): text for name, text in headers.items()})


def ask(service: ScriptedService, **more: Any) -> ProviderResponse | tuple[str, str]:
    provider = build(options(**more), service.build())
    try:
        return asyncio.run(provider.respond(QUESTION))
    except ProviderError as error:
        return error.kind, str(error)


def test_the_request_of_a_single_turn() -> None:
    """Covers the specification's "Anthropic provider"."""
    request = ProviderRequest(
        eval_id="a", question="why?", system_prompt="Judge.", guidelines="Be kind."
    )
    call = AnthropicWire(options(temperature=0.2, max_output_tokens=500)).call(request)
    assert call.url == "https://api.anthropic.com/v1/messages"
    assert call.headers == {"x-api-key": KEY, "anthropic-version": "2023-06-01"}
    assert call.body == {
        "model": "claude-sonnet-4-5",
        "max_tokens": 500,
        "system": "Judge.\n\n[[ ## Guidelines ## ]]\n\nBe kind.",
        "messages": ASKED,
        "temperature": 0.2,
    }


def test_a_conversation_keeps_its_turns() -> None:
    """The API takes neighbours of one role, and a conversation that the assistant begins."""
    turns = [("system", "Rules."), ("assistant", "Hi."), ("user", "Q1"), ("user", "Q2")]
    chat = tuple(ChatMessage(role=role, content=text) for role, text in turns)  # type: ignore[arg-type]
    request = ProviderRequest(eval_id="a", question="all of it", chat_prompt=chat)
    assert body(request) == {
        "model": "claude-sonnet-4-5",
        "max_tokens": 8192,
        "system": "Rules.",
        "messages": [
            {"role": "assistant", "content": "Hi."},
            {"role": "user", "content": "Q1"},
            {"role": "user", "content": "Q2"},
        ],
    }


PLAIN = {"model": "claude-sonnet-4-5", "max_tokens": 8192, "messages": ASKED}
THINKING = {**PLAIN, "max_tokens": 16384}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param({}, PLAIN, id="nothing set"),
        pytest.param({"temperature": 0}, {**PLAIN, "temperature": 0}, id="zero is a temperature"),
        pytest.param(
            {"top_p": 0.5, "stop": "END"},
            {**PLAIN, "top_p": 0.5, "stop_sequences": ["END"]},
            id="sampling and stop",
        ),
        pytest.param({"max_tokens": 9}, {**PLAIN, "max_tokens": 9}, id="max_tokens"),
        pytest.param(
            {"thinking_budget": 2048, "temperature": 0.5, "top_p": 0.5},
            {
                **PLAIN,
                "max_tokens": 2048 + 8192,
                "thinking": {"type": "enabled", "budget_tokens": 2048},
            },
            id="thinking takes no temperature",
        ),
        pytest.param(
            {"thinking_budget": 2048, "top_p": 0.95, "max_output_tokens": 3000},
            {
                **PLAIN,
                "max_tokens": 3000,
                "top_p": 0.95,
                "thinking": {"type": "enabled", "budget_tokens": 2048},
            },
            id="a limit that leaves room for the answer",
        ),
        pytest.param(
            {"thinking_budget": 2048, "max_output_tokens": 2048},
            {
                **PLAIN,
                "max_tokens": 4096,
                "thinking": {"type": "enabled", "budget_tokens": 2048},
            },
            id="a limit that the budget would use up",
        ),
        pytest.param(
            {"thinking_budget": 0, "temperature": 0.5},
            {**PLAIN, "temperature": 0.5, "thinking": {"type": "disabled"}},
            id="no thinking",
        ),
        pytest.param(
            {"reasoning_effort": "none"},
            {**PLAIN, "thinking": {"type": "disabled"}},
            id="no effort",
        ),
        pytest.param(
            {"model": "claude-opus-4-5", "reasoning_effort": "minimal"},
            {**PLAIN, "model": "claude-opus-4-5", "output_config": {"effort": "low"}},
            id="effort before adaptive thinking",
        ),
        pytest.param(
            {"model": "claude-opus-4-6", "reasoning_effort": "high", "temperature": 1},
            {
                **PLAIN,
                "max_tokens": 16384,
                "model": "claude-opus-4-6",
                "thinking": {"type": "adaptive"},
                "output_config": {"effort": "high"},
            },
            id="effort",
        ),
        pytest.param(
            {
                "model": "claude-sonnet-5",
                "temperature": 0.5,
                "top_p": 0.99,
                "thinking_budget": 2048,
            },
            {**THINKING, "model": "claude-sonnet-5", "thinking": {"type": "adaptive"}},
            id="a model that refuses sampling and budgets",
        ),
        pytest.param(
            {"temperature": 0.5, "top_p": 0.5},
            {**PLAIN, "temperature": 0.5},
            id="a temperature or a top_p, not both",
        ),
        pytest.param(
            {"model": "claude-opus-4-20250514", "temperature": 0.5, "top_p": 0.5},
            {**PLAIN, "model": "claude-opus-4-20250514", "temperature": 0.5, "top_p": 0.5},
            id="both before 4.1",
        ),
        pytest.param({"reasoning_effort": "high"}, PLAIN, id="no effort before opus 4.5"),
        pytest.param(
            {"model": "claude-opus-5", "reasoning_effort": "max"},
            {
                **THINKING,
                "model": "claude-opus-5",
                "thinking": {"type": "adaptive"},
                "output_config": {"effort": "max"},
            },
            id="the most effort",
        ),
        pytest.param(
            {"model": "claude-haiku-5-5", "thinking_budget": 0},
            {**THINKING, "model": "claude-haiku-5-5", "thinking": {"type": "disabled"}},
            id="a model that thinks unasked, and can be stopped",
        ),
        pytest.param(
            {"model": "claude-sonnet-5-5", "reasoning_effort": "none"},
            {**THINKING, "model": "claude-sonnet-5-5", "thinking": {"type": "between_tools"}},
            id="one that can be stopped only so",
        ),
        pytest.param(
            {"model": "claude-opus-5-5", "thinking_budget": 0},
            {**THINKING, "model": "claude-opus-5-5"},
            id="one that cannot be stopped",
        ),
        pytest.param(
            {"model": "my-own", "temperature": 0.5, "top_p": 0.5, "seed": 7},
            {**THINKING, "model": "my-own", "temperature": 0.5, "top_p": 0.5},
            id="an unknown model gets what is asked for; the API has no seed",
        ),
    ],
)
def test_settings(settings: dict[str, Any], expected: dict[str, Any]) -> None:
    assert body(**settings) == expected


@pytest.mark.parametrize(
    ("settings", "left_out"),
    [
        (
            {"model": "claude-opus-4-8", "temperature": 0, "thinking_budget": 2048, "seed": 1},
            ["temperature", "thinking_budget", "seed"],
        ),
        ({"model": "claude-opus-5-5", "thinking_budget": 0}, ["thinking_budget"]),
        ({"model": "claude-fable-5", "reasoning_effort": "none"}, ["reasoning_effort"]),
        ({"model": "claude-haiku-4-5", "reasoning_effort": "low"}, ["reasoning_effort"]),
        ({"model": "claude-opus-4-8", "reasoning_effort": "minimal"}, []),
        ({"model": "claude-opus-4-8", "reasoning_effort": "none"}, []),
        ({"temperature": 0, "top_p": 0.5, "thinking_budget": 0}, ["top_p"]),
    ],
)
def test_what_a_model_does_not_take_is_said(settings: dict[str, Any], left_out: list[str]) -> None:
    model = settings.get("model", "claude-sonnet-4-5")
    service = ScriptedService([reply(ANSWER)])
    ask(service, **settings)
    assert service.notified == [
        f"claude: {model} does not take `{name}`: it is left out" for name in left_out
    ]


@pytest.mark.parametrize(
    ("settings", "message", "mended"),
    [
        pytest.param(
            {"temperature": 0.5},
            "`temperature` is deprecated for this model.",
            {},
            id="temperature",
        ),
        pytest.param(
            {"temperature": 0.5, "top_p": 0.5},
            "`temperature` and `top_p` cannot both be specified for this model."
            " Please use only one.",
            {"temperature": 0.5},
            id="both",
        ),
        pytest.param(
            {"thinking_budget": 2048, "max_tokens": 4000},
            '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive"'
            ' and "output_config.effort" to control thinking behavior.',
            {"thinking": {"type": "adaptive"}},
            id="a budget",
        ),
        pytest.param(
            {"thinking_budget": 0},
            '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive"'
            ' and "output_config.effort" to control thinking behavior.',
            {},
            id="no thinking",
        ),
        pytest.param(
            {"reasoning_effort": "high"},
            "This model does not support the effort parameter.",
            {"thinking": {"type": "adaptive"}},
            id="effort",
        ),
    ],
)
def test_a_model_that_refuses_a_setting_is_asked_without_it(
    settings: dict[str, Any], message: str, mended: dict[str, Any]
) -> None:
    """A name of one's own tells nothing of the model behind it."""
    service = ScriptedService(
        [error_reply(400, "invalid_request_error", message), *[reply(ANSWER)] * 2]
    )
    provider = build(options(**{"model": "mine", "max_tokens": 9, **settings}), service.build())
    for _ in range(2):
        assert asyncio.run(provider.respond(QUESTION)).text == "because"
    plain = {"model": "mine", "max_tokens": settings.get("max_tokens", 9), "messages": ASKED}
    assert [json.loads(sent.body) for sent in service.requests[1:]] == [{**plain, **mended}] * 2


@pytest.mark.parametrize(
    "message",
    [
        "temperature: range: 0..1",
        "This model does not support assistant message prefill.",
        "`temperature` is deprecated for this model.",
    ],
)
def test_what_nothing_of_ours_can_mend_is_an_error(message: str) -> None:
    service = ScriptedService([error_reply(400, "invalid_request_error", message)])
    outcome = ask(service)
    assert isinstance(outcome, tuple)
    assert outcome[0] == "http_400"


@pytest.mark.parametrize(
    ("last", "role"), [("@[Tool]:\n42", "user"), ("@[System]:\nNow.", "user"), ("So,", "assistant")]
)
def test_a_last_turn_that_is_to_be_answered_is_the_users(last: str, role: str) -> None:
    """The API takes an assistant's for the beginning of the answer."""
    chat = (
        ChatMessage(role="user", content="Q"),
        ChatMessage(role="assistant", content="@[Tool]:\n41"),
        ChatMessage(role="assistant", content=last),
    )
    request = ProviderRequest(eval_id="a", question="all of it", chat_prompt=chat)
    assert body(request)["messages"] == [
        {"role": "user", "content": "Q"},
        {"role": "assistant", "content": "@[Tool]:\n41"},
        {"role": role, "content": last},
    ]


def test_a_conversation_in_which_only_the_system_speaks_is_one_question() -> None:
    chat = (ChatMessage(role="system", content="Rules."),)
    request = ProviderRequest(eval_id="a", question="@[System]:\nRules.", chat_prompt=chat)
    assert body(request)["messages"] == [{"role": "user", "content": "@[System]:\nRules."}]


SCHEMA = {
    "type": "object",
    "properties": {
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "hits": {"type": "array", "items": {"type": "string"}, "maxItems": 4},
        "minimum": {"type": "string", "enum": ["minimum"]},
    },
    "required": ["score"],
}
SENT_SCHEMA = {
    "type": "object",
    "properties": {
        "score": {"type": "number"},
        "hits": {"type": "array", "items": {"type": "string"}},
        "minimum": {"type": "string", "enum": ["minimum"]},
    },
    "required": ["score"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("settings", "is_sent"),
    [
        ({}, True),
        ({"structured_output": False}, False),
        ({"model": "claude-sonnet-4-20250514"}, False),
        ({"model": "claude-3-7-sonnet-20250219"}, False),
        ({"model": "claude-3-7-sonnet-20250219", "structured_output": True}, True),
        ({"model": "claude-opus-5-5"}, True),
    ],
)
def test_a_judge_is_held_to_its_schema_where_the_model_can(
    settings: dict[str, Any], is_sent: bool
) -> None:
    """The keywords that the API refuses are left out, names of properties are not."""
    request = ProviderRequest(eval_id="a", question="why?", response_schema=SCHEMA)
    expected = {"format": {"type": "json_schema", "schema": SENT_SCHEMA}} if is_sent else None
    assert body(request, **settings).get("output_config") == expected


@pytest.mark.parametrize(
    "base", ["http://127.0.0.1:9", "http://127.0.0.1:9/", "http://127.0.0.1:9/v1"]
)
def test_an_own_address_needs_no_key(base: str) -> None:
    wire = AnthropicWire(options(base_url=base, api_key=None))
    call = wire.call(QUESTION)
    assert (call.url, call.headers) == (
        "http://127.0.0.1:9/v1/messages",
        {"anthropic-version": "2023-06-01"},
    )
    assert (wire.endpoint, wire.model) == ("http://127.0.0.1:9", "claude-sonnet-4-5")


def test_a_password_in_the_address_is_no_part_of_the_endpoint() -> None:
    wire = AnthropicWire(options(base_url="https://me:secret@llm.example/claude"))
    assert wire.endpoint == "https://llm.example"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, []),
        ({"api_key": None, "base_url": "http://localhost:1"}, []),
        ({"api_key": None}, [((), "target 'claude' has no 'api_key'")]),
        ({"api_key": ""}, [((), "target 'claude' has no 'api_key'")]),
        ({"base_url": "localhost"}, [(("base_url",), "'localhost' is not a URL")]),
        (
            {"thinking_budget": 500},
            [(("thinking_budget",), "a thinking budget has at least 1024 tokens")],
        ),
    ],
)
def test_mistakes_in_options(settings: dict[str, Any], expected: list[Any]) -> None:
    found = options(**settings).problems(NoFiles())
    assert [(problem.path, problem.message) for problem in found] == expected


def test_thinking_is_kept_apart_and_input_counts_the_cache() -> None:
    response = read(
        content=[
            {"type": "thinking", "thinking": "hm", "signature": "x"},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "thinking", "thinking": "", "signature": "x"},
            {"type": "text", "text": "be", "citations": []},
            {"type": "text", "text": "cause"},
        ],
        usage={
            "input_tokens": 3,
            "cache_creation_input_tokens": 10,
            "cache_read_input_tokens": 100,
            "output_tokens": 7,
            "output_tokens_details": {"thinking_tokens": 5},
            "service_tier": "standard",
        },
    )
    assert response == ProviderResponse(
        text="because",
        reasoning="hm",
        usage=Usage(input_tokens=113, cached_tokens=100, output_tokens=7, reasoning_tokens=5),
    )


def test_unknown_usage_is_unknown() -> None:
    assert read(usage=None) == ProviderResponse(text="because")
    assert read(usage={}) == ProviderResponse(text="because", usage=Usage())


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            {"stop_reason": "max_tokens"},
            (
                "cut_off",
                "the answer was cut off at `max_output_tokens: 8192` (stop reason max_tokens)",
            ),
        ),
        (
            {"stop_reason": "model_context_window_exceeded"},
            (
                "cut_off",
                "the answer was cut off: the context is full"
                " (stop reason model_context_window_exceeded)",
            ),
        ),
        (
            {"stop_reason": "refusal", "content": []},
            ("refusal", "the model refused to answer"),
        ),
        (
            {
                "stop_reason": "refusal",
                "stop_details": {"type": "refusal", "category": "bio", "explanation": "No."},
            },
            ("refusal", "the model refused to answer (bio): No."),
        ),
        (
            {"stop_reason": "pause_turn"},
            (
                "malformed",
                "the model paused for a tool instead of answering (stop reason pause_turn)",
            ),
        ),
        (
            {"stop_reason": "tool_use"},
            (
                "malformed",
                "the model asked for a tool instead of answering (stop reason tool_use)",
            ),
        ),
        ({"content": []}, ("empty", "the answer holds no text (stop reason end_turn)")),
        (
            {"content": [{"type": "text", "text": " \n"}]},
            ("empty", "the answer holds no text (stop reason end_turn)"),
        ),
        (
            {"content": "because"},
            (
                "malformed",
                "the reply is not as the API documents it: Expected `array`, got `str`"
                " - at `$.content`",
            ),
        ),
    ],
)
def test_what_is_no_answer_says_why(message: dict[str, Any], expected: tuple[str, str]) -> None:
    assert read(**message) == expected


@pytest.mark.parametrize("reason", ["refusal", "max_tokens", "tool_use", "end_turn"])
def test_what_is_no_answer_says_what_it_cost(reason: str) -> None:
    message = {**ANSWER, "content": [], "stop_reason": reason}
    with pytest.raises(ProviderError) as raised:
        AnthropicWire(options()).read(message)
    assert raised.value.usage == Usage(input_tokens=3, output_tokens=2)


def test_errors_are_read() -> None:
    wire = AnthropicWire(options())
    said = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    assert wire.read_error(said) == ReplyError(message="Overloaded", code="overloaded_error")
    assert wire.read_error({}) is None
    assert wire.read_error({"error": "no"}) is None


NOON = 1_780_000_000.0  # 2026-05-28T20:26:40Z
RATE = "anthropic-ratelimit"


@pytest.mark.parametrize(
    ("kind", "headers", "expected"),
    [
        ("rate_limit_error", {f"{RATE}-requests-reset": "2026-05-28T20:26:47Z"}, 7.0),
        (
            "rate_limit_error",
            {
                f"{RATE}-requests-remaining": "12",
                f"{RATE}-requests-reset": "2026-05-28T20:27:40Z",
                f"{RATE}-tokens-remaining": "0",
                f"{RATE}-tokens-reset": "2026-05-28T20:26:42.5+00:00",
            },
            2.5,
        ),
        ("rate_limit_error", {f"{RATE}-input-tokens-reset": "2026-05-28T20:00:00Z"}, 0.0),
        ("rate_limit_error", {f"{RATE}-requests-reset": "soon"}, None),
        ("rate_limit_error", {}, None),
        ("overloaded_error", {f"{RATE}-requests-reset": "2026-05-28T20:26:47Z"}, None),
    ],
)
def test_the_reset_of_a_used_up_budget_is_waited_for(
    kind: str, headers: dict[str, str], expected: float | None
) -> None:
    said = {"type": "error", "error": {"type": kind, "message": "no"}}
    assert AnthropicWire(options()).retry_after(headers, said, NOON) == expected


def test_an_overloaded_service_is_asked_again() -> None:
    """Covers the specification's "Default exponential backoff"."""
    service = ScriptedService(
        [
            error_reply(529, "overloaded_error", "Overloaded"),
            error_reply(500, "api_error", "Internal"),
            ProviderError("no answer: reset", kind="connection"),
            reply(ANSWER),
        ]
    )
    answer = ask(service)
    assert isinstance(answer, ProviderResponse)
    assert answer.text == "because"
    assert (service.refusals, service.successes, service.inside) == ([None], 1, 0)
    first, *waits = service.waits
    assert first is None
    for wait, seconds in zip(waits, (1, 2, 4), strict=True):
        assert 0.75 * seconds <= (wait or 0) <= 1.25 * seconds


def test_an_author_can_say_what_is_retried() -> None:
    service = ScriptedService([error_reply(529, "overloaded_error", "Overloaded")])
    assert ask(service, retry_status_codes=[429]) == (
        "http_529",
        "https://api.anthropic.com answered 529 [overloaded_error]: Overloaded",
    )


def test_the_wait_that_the_service_asks_for_is_passed_on() -> None:
    """The standard header wins over the vendor's own."""
    later = {f"{RATE}-requests-reset": "2999-01-01T00:00:00Z"}
    past = {f"{RATE}-tokens-reset": "2020-01-01T00:00:00Z"}
    said = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}}
    service = ScriptedService(
        [reply(said, 429, {**later, "retry-after": "7.5"}), reply(said, 429, past), reply(ANSWER)]
    )
    ask(service)
    assert service.refusals == [7.5, 0.0]
    assert service.waits == [None, 7.5, 0.0]


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "invalid_request_error"), (401, "authentication_error"), (403, "permission_error")],
)
def test_a_request_that_is_wrong_is_made_once(status: int, kind: str) -> None:
    """Covers the specification's "Non-retryable errors"."""
    service = ScriptedService([error_reply(status, kind, "no", request_id="req_1")])
    whose = "" if status == 400 else "target 'claude': "
    outcome = ask(service)
    assert outcome == (
        f"http_{status}",
        f"{whose}https://api.anthropic.com answered {status} [{kind}]: no (request id req_1)",
    )
    assert len(service.requests) == 1
    assert KEY not in str(outcome)


def test_what_is_sent_is_json_with_the_key_in_a_header_only() -> None:
    service = ScriptedService([reply(ANSWER)])
    ask(service, headers={"anthropic-beta": "x"}, extra_body={"top_k": 5}, timeout_seconds=9)
    sent = service.requests[0]
    assert json.loads(sent.body) == {**PLAIN, "top_k": 5}
    assert sent.headers == {
        "content-type": "application/json",
        "x-api-key": KEY,
        "anthropic-version": "2023-06-01",
        "anthropic-beta": "x",
    }
    assert (sent.method, sent.total_seconds) == ("POST", 9)
    assert KEY not in sent.url
