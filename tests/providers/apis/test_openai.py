"""The `openai` provider over chat completions: requests as documented, replies as they are."""

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from scripted_http import ScriptedService, reply

from agentv.errors import ProviderError
from agentv.model.http import HttpReply, HttpRequest
from agentv.model.request import ChatMessage, ProviderRequest, ProviderResponse
from agentv.model.score import Usage
from agentv.protocols import ProviderBuild
from agentv.providers.apis.openai import OpenAiOptions, build, openai_wire
from agentv.providers.apis.rate_limit_resets import duration_seconds
from agentv.providers.apis.wire import ReplyError
from agentv.transport.borders import Borders
from vendor import RESET, Vendor, failure, refused

KEY = "sk-very-secret"
QUESTION = ProviderRequest(eval_id="a", question="why?")
ASKED = [{"role": "user", "content": "why?"}]
PLAIN = {"model": "gpt-4o", "messages": ASKED}
ELSEWHERE = "http://127.0.0.1:9/v1"
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "number", "minimum": 0}},
    "required": ["score"],
}
HELD = {
    "type": "json_schema",
    "json_schema": {
        "name": "reply",
        "schema": {
            "type": "object",
            "properties": {"score": {"type": "number"}},
            "required": ["score"],
            "additionalProperties": False,
        },
        "strict": True,
    },
}
JUDGED = ProviderRequest(
    eval_id="a", question="why?", system_prompt="Judge.", response_schema=SCHEMA
)
ANSWER = {
    "choices": [{"message": {"role": "assistant", "content": "because"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2},
}
ANSWERED = ProviderResponse(text="because", usage=Usage(input_tokens=3, output_tokens=2))


class NoFiles:
    def find(self, reference: str) -> Path | None:
        return None

    def tried(self, reference: str) -> list[Path]:
        return []


def options(**more: Any) -> OpenAiOptions:
    keys = {"name": "gpt", "provider": "openai", "model": "gpt-4o", "api_key": KEY}
    return msgspec.convert({**keys, **more}, OpenAiOptions)


def body(request: ProviderRequest = QUESTION, **more: Any) -> dict[str, Any]:
    return openai_wire(options(**more)).call(request).body


def read(
    completion: dict[str, Any], **settings: Any
) -> ProviderResponse | tuple[str, str, Usage | None]:
    """The response, or kind, message and usage of the error."""
    try:
        return openai_wire(options(**settings)).read(completion)
    except ProviderError as error:
        return error.kind, str(error), error.usage


def choice(finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    return {**ANSWER, "choices": [{"message": message, "finish_reason": finish_reason}]}


async def ask_with(
    given: ProviderBuild, questions: list[ProviderRequest], **more: Any
) -> list[str | tuple[str, str]]:
    """The answers to questions that are asked at once, or kind and message of the errors."""
    provider = build(options(**more), given)

    async def ask(question: ProviderRequest) -> str | tuple[str, str]:
        try:
            return (await provider.respond(question)).text
        except ProviderError as error:
            return error.kind, str(error)

    return await asyncio.gather(*map(ask, questions))


def ask(
    service: ScriptedService, *questions: ProviderRequest, **more: Any
) -> list[str | tuple[str, str]]:
    return asyncio.run(ask_with(service.build(), list(questions or [QUESTION]), **more))


def rejection(status: int = 400, /, **error: Any) -> HttpReply:
    return reply({"error": error}, status)


def test_the_request_of_a_single_turn() -> None:
    request = ProviderRequest(
        eval_id="a", question="why?", system_prompt="Judge.", guidelines="Be kind."
    )
    call = openai_wire(options(organization="org-1", max_output_tokens=500)).call(request)
    assert call.url == "https://api.openai.com/v1/chat/completions"
    assert call.headers == {"authorization": f"Bearer {KEY}", "openai-organization": "org-1"}
    assert call.body == {
        "model": "gpt-4o",
        "messages": [
            {"role": "system", "content": "Judge.\n\n[[ ## Guidelines ## ]]\n\nBe kind."},
            {"role": "user", "content": "why?"},
        ],
        "max_completion_tokens": 500,
    }


def test_a_conversation_keeps_its_turns() -> None:
    """Covers the specification's "Successful test execution": a chat prompt is sent as it is."""
    turns = [("system", "Rules."), ("assistant", "Hi."), ("user", "Q1"), ("user", "Q2")]
    chat = tuple(ChatMessage(role=role, content=text) for role, text in turns)  # type: ignore[arg-type]
    request = ProviderRequest(eval_id="a", question="all of it", chat_prompt=chat)
    assert body(request) == {
        "model": "gpt-4o",
        "messages": [{"role": role, "content": text} for role, text in turns],
    }


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param({}, PLAIN, id="nothing set"),
        pytest.param({"temperature": 0}, {**PLAIN, "temperature": 0}, id="zero is a temperature"),
        pytest.param(
            {"top_p": 0.5, "stop": "END", "seed": 7},
            {**PLAIN, "top_p": 0.5, "stop": ["END"], "seed": 7},
            id="sampling",
        ),
        pytest.param(
            {"max_tokens": 9}, {**PLAIN, "max_completion_tokens": 9}, id="a limit at openai"
        ),
        pytest.param(
            {"max_output_tokens": 9, "base_url": ELSEWHERE},
            {**PLAIN, "max_tokens": 9},
            id="a limit elsewhere",
        ),
        pytest.param(
            {"model": "openai/o3-mini", "max_tokens": 9, "temperature": 0, "base_url": ELSEWHERE},
            {**PLAIN, "model": "openai/o3-mini", "max_completion_tokens": 9},
            id="a reasoning model elsewhere",
        ),
        pytest.param(
            {"model": "gpt-5-mini", "temperature": 0.5, "top_p": 0.5, "reasoning_effort": "low"},
            {**PLAIN, "model": "gpt-5-mini", "reasoning_effort": "low"},
            id="a reasoning model takes no sampling",
        ),
        pytest.param(
            {"model": "gpt-5.2", "temperature": 0.5, "reasoning_effort": "none"},
            {**PLAIN, "model": "gpt-5.2", "temperature": 0.5, "reasoning_effort": "none"},
            id="unless it does not reason",
        ),
        pytest.param(
            {"model": "gpt-5.4-mini", "temperature": 0.5},
            {**PLAIN, "model": "gpt-5.4-mini", "temperature": 0.5},
            id="or reasons only when told to",
        ),
        pytest.param(
            {"model": "gpt-5.4-mini", "temperature": 0.5, "reasoning_effort": "low"},
            {**PLAIN, "model": "gpt-5.4-mini", "reasoning_effort": "low"},
            id="and is told to",
        ),
        pytest.param(
            {"model": "gpt-5.1-codex", "temperature": 0.5},
            {**PLAIN, "model": "gpt-5.1-codex"},
            id="a sister that always reasons",
        ),
        pytest.param(
            {"model": "gpt-6-astra", "temperature": 0.5, "reasoning_effort": "max"},
            {**PLAIN, "model": "gpt-6-astra", "reasoning_effort": "max"},
            id="the most effort",
        ),
        pytest.param(
            {"model": "gpt-5-chat-latest", "temperature": 0.5},
            {**PLAIN, "model": "gpt-5-chat-latest", "temperature": 0.5},
            id="a chat model of a reasoning generation",
        ),
        pytest.param(
            {"response_format": "json"},
            {**PLAIN, "response_format": {"type": "json_object"}},
            id="json",
        ),
        pytest.param(
            {"response_format": {"type": "text"}},
            {**PLAIN, "response_format": {"type": "text"}},
            id="a format of one's own",
        ),
    ],
)
def test_settings(settings: dict[str, Any], expected: dict[str, Any]) -> None:
    assert body(**settings) == expected


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param({}, HELD, id="openai holds to a schema"),
        pytest.param({"base_url": "https://eu.api.openai.com/v1"}, HELD, id="in europe, too"),
        pytest.param({"base_url": ELSEWHERE}, None, id="elsewhere nobody knows"),
        pytest.param({"base_url": ELSEWHERE, "structured_output": True}, HELD, id="unless told"),
        pytest.param({"structured_output": False}, None, id="not wanted"),
        pytest.param({"response_format": "json"}, HELD, id="a schema says more than json"),
        pytest.param(
            {"response_format": "json", "base_url": ELSEWHERE},
            {"type": "json_object"},
            id="json is better than nothing",
        ),
        pytest.param(
            {"response_format": {"type": "json_schema"}, "structured_output": False},
            None,
            id="the schema of answers is not for verdicts",
        ),
    ],
)
def test_a_judge_is_held_to_its_schema(
    settings: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    """Covers the specification's "Enforce JSON prompt contract", where the API can."""
    asked = [{"role": "system", "content": "Judge."}, *ASKED]
    sent = {"response_format": expected} if expected else {}
    assert body(JUDGED, **settings) == {"model": "gpt-4o", "messages": asked, **sent}


def test_an_own_address_is_used_as_given_and_needs_no_key() -> None:
    wire = openai_wire(options(base_url="http://me:pass@127.0.0.1:9/api/v1/", api_key=None))
    call = wire.call(QUESTION)
    assert call.url == "http://me:pass@127.0.0.1:9/api/v1/chat/completions"
    assert call.headers == {}
    assert (wire.endpoint, wire.model) == ("http://127.0.0.1:9", "gpt-4o")


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, []),
        ({"api_key": None, "base_url": ELSEWHERE}, []),
        ({"api_key": None}, [((), "target 'gpt' has no 'api_key'")]),
        ({"base_url": "localhost"}, [(("base_url",), "'localhost' is not a URL")]),
        ({"api_key": f"{KEY}\r\n"}, []),
        (
            {"api_key": "sk-1\nsk-2"},
            [
                (
                    ("api_key",),
                    "the key of target 'gpt' holds a character that no key has: a line break, or"
                    " a letter with an accent",
                )
            ],
        ),
        (
            {"headers": {"x-team": "a\r\nx-evil: b"}},
            [
                (
                    ("headers", "x-team"),
                    "the header 'x-team' holds a line break or another control character",
                )
            ],
        ),
        ({"stop": "END", "seed": 1}, []),
        (
            {"stop": "END", "seed": 1, "api": "responses"},
            [
                (("stop",), "the Responses API has no 'stop'"),
                (("seed",), "the Responses API has no 'seed'"),
            ],
        ),
    ],
)
def test_mistakes_in_options(settings: dict[str, Any], expected: list[Any]) -> None:
    found = options(**settings).problems(NoFiles())
    assert [(problem.path, problem.message) for problem in found] == expected


USED = Usage(input_tokens=3, output_tokens=2)


@pytest.mark.parametrize(
    "thoughts",
    [
        {"reasoning_content": "hm"},
        {"reasoning": "hm"},
        {"reasoning_content": "", "reasoning": "hm"},
    ],
)
def test_reasoning_is_kept_apart_from_the_answer(thoughts: dict[str, str]) -> None:
    response = read(choice(content="because", **thoughts))
    assert response == ProviderResponse(text="because", reasoning="hm", usage=USED)


def test_parts_are_one_answer() -> None:
    parts = [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "because"}]
    assert read(choice(content=parts, reasoning={"odd": 1}, refusal=None)) == ANSWERED


def test_usage_counts_what_was_cached_and_reasoned() -> None:
    usage = {
        "prompt_tokens": 113,
        "completion_tokens": 7,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 100, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    known = Usage(input_tokens=113, cached_tokens=100, output_tokens=7, reasoning_tokens=5)
    assert read({**ANSWER, "usage": usage}) == ProviderResponse(text="because", usage=known)
    assert read({**ANSWER, "usage": None}) == ProviderResponse(text="because")


@pytest.mark.parametrize(
    ("completion", "kind", "message"),
    [
        (
            choice(content=None, refusal="I can't."),
            "refusal",
            "the model refused to answer: I can't.",
        ),
        (
            choice("content_filter", content="because"),
            "filtered",
            "the answer was filtered (finish reason content_filter)",
        ),
        (
            choice("length", content="becau"),
            "cut_off",
            "the answer was cut off at `max_output_tokens: 7` (finish reason length)",
        ),
        (
            choice("length", content=""),
            "cut_off",
            "the answer was cut off at `max_output_tokens: 7` (finish reason length)",
        ),
        (
            choice("tool_calls", content=None, tool_calls=[{}]),
            "malformed",
            "the model asked for a tool instead of answering (finish reason tool_calls)",
        ),
        *(
            (
                choice(reason, content="becau"),
                "malformed",
                f"the model did not finish its answer (finish reason {reason})",
            )
            for reason in ("error", "abort", "insufficient_system_resource")
        ),
        (
            choice("model_length", content="becau"),
            "cut_off",
            "the answer was cut off at `max_output_tokens: 7` (finish reason model_length)",
        ),
        (choice(content=None), "empty", "the answer holds no text (finish reason stop)"),
        (choice(content=" \n"), "empty", "the answer holds no text (finish reason stop)"),
    ],
)
def test_what_is_no_answer_says_why(completion: dict[str, Any], kind: str, message: str) -> None:
    """And what it cost all the same."""
    assert read(completion, max_output_tokens=7) == (kind, message, USED)


@pytest.mark.parametrize(
    ("completion", "kind", "message"),
    [
        ({"choices": []}, "empty", "the reply holds no choice"),
        ({}, "empty", "the reply holds no choice"),
        (
            {"choices": None, "error": {"message": "Provider down", "code": 502}},
            "failed",
            "the service failed: Provider down",
        ),
        (
            {"choices": [{"message": {"content": 7}}]},
            "malformed",
            "the reply is not as the API documents it: Expected `str | array | null`, got `int`"
            " - at `$.choices[0].message.content`",
        ),
    ],
)
def test_what_is_no_completion_says_why(
    completion: dict[str, Any], kind: str, message: str
) -> None:
    assert read(completion) == (kind, message, None)


def test_a_limit_that_nobody_set_is_the_models_own() -> None:
    assert read(choice("length", content="x")) == (
        "cut_off",
        "the answer was cut off at the model's own limit (finish reason length)",
        USED,
    )


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            {"error": {"message": "No.", "type": "invalid_request_error", "code": "bad_model"}},
            ReplyError(message="No.", code="bad_model"),
        ),
        (
            {"error": {"message": "No.", "type": "server_error", "code": None, "param": "model"}},
            ReplyError(message="No.", code="server_error", param="model"),
        ),
        ({"error": {"message": "No.", "code": 400}}, ReplyError(message="No.")),
        ({"error": "model 'x' not found"}, ReplyError(message="model 'x' not found")),
        ({"object": "error", "message": "No."}, ReplyError(message="No.")),
        ({"detail": "Not Found"}, ReplyError(message="Not Found")),
        (
            {"error": {"message": "Flagged.", "code": "invalid_prompt"}},
            ReplyError(message="Flagged.", code="invalid_prompt", kind="filtered"),
        ),
        ({"error": {}}, None),
        ({"error": None}, None),
        ({}, None),
    ],
)
def test_errors_are_read_in_all_their_forms(
    said: dict[str, Any], expected: ReplyError | None
) -> None:
    assert openai_wire(options()).read_error(said) == expected


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1),
        ("6m0s", 360),
        ("120ms", 0.12),
        ("1m30.5s", 90.5),
        ("1h2m3s", 3723),
        ("2m", 120),
        ("60", 60),
        ("0.5", 0.5),
        ("", None),
        ("soon", None),
        ("-1s", None),
        ("1.2.3s", None),
    ],
)
def test_durations(text: str, seconds: float | None) -> None:
    assert duration_seconds(text) == (pytest.approx(seconds) if seconds is not None else None)


RATE = "x-ratelimit"


@pytest.mark.parametrize(
    ("kind", "headers", "expected"),
    [
        ("requests", {f"{RATE}-reset-requests": "1s", f"{RATE}-reset-tokens": "6m0s"}, 1),
        ("tokens", {f"{RATE}-remaining-tokens": "70", f"{RATE}-reset-tokens": "120ms"}, 0.12),
        (
            "other",
            {
                f"{RATE}-remaining-requests": "3",
                f"{RATE}-reset-requests": "1m0s",
                f"{RATE}-remaining-tokens": "0",
                f"{RATE}-reset-tokens": "2s",
            },
            2,
        ),
        ("other", {f"{RATE}-reset-requests": "1s", f"{RATE}-reset-tokens": "2s"}, 2),
        ("other", {f"{RATE}-remaining-requests": "3", f"{RATE}-reset-requests": "1s"}, None),
        ("requests", {}, None),
    ],
)
def test_the_reset_of_a_used_up_limit_is_waited_for(
    kind: str, headers: dict[str, str], expected: float | None
) -> None:
    service = ScriptedService([reply({"error": {"type": kind}}, 429, headers), reply(ANSWER)])
    assert ask(service) == ["because"]
    assert service.refusals == [expected]
    if expected is not None:
        assert service.waits == [None, expected]


def test_retry_after_wins_and_a_failure_of_the_service_has_no_reset() -> None:
    headers = {f"{RATE}-reset-requests": "6m0s"}
    service = ScriptedService(
        [
            reply({}, 429, {**headers, "retry-after": "7"}),
            reply({}, 500, headers),
            reply(ANSWER),
        ]
    )
    assert ask(service) == ["because"]
    assert service.waits[1] == 7
    assert (service.waits[2] or 0) <= 2 * 1.25


NO_MAX_TOKENS = (
    "Unsupported parameter: 'max_tokens' is not supported with this model."
    " Use 'max_completion_tokens' instead."
)
NO_TEMPERATURE = (
    "Unsupported value: 'temperature' does not support 0 with this model."
    " Only the default (1) value is supported."
)
NO_SCHEMA = (
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."
)
UNKNOWN_ARGUMENT = "Unrecognized request argument supplied: max_completion_tokens"


@pytest.mark.parametrize(
    ("settings", "message", "mended"),
    [
        pytest.param(
            {"base_url": ELSEWHERE, "max_output_tokens": 9},
            NO_MAX_TOKENS,
            {**PLAIN, "max_completion_tokens": 9},
            id="the limit's newer name",
        ),
        pytest.param(
            {"max_output_tokens": 9},
            UNKNOWN_ARGUMENT,
            {**PLAIN, "max_tokens": 9},
            id="the limit's older name",
        ),
        pytest.param(
            {"temperature": 0, "top_p": 0.5},
            NO_TEMPERATURE,
            {**PLAIN, "top_p": 0.5},
            id="temperature",
        ),
    ],
)
def test_a_model_that_refuses_a_setting_is_asked_without_it(
    settings: dict[str, Any], message: str, mended: dict[str, Any]
) -> None:
    service = ScriptedService([rejection(message=message), reply(ANSWER)])
    assert ask(service, **settings) == ["because"]
    assert json.loads(service.requests[1].body) == mended
    assert service.waits == [None, None]
    assert len(service.notified) == 1
    assert service.notified[0].endswith(f"answered 400: {message}")


def test_what_was_refused_once_is_left_out_from_then_on() -> None:
    """One thing at a time, as the API says it."""
    service = ScriptedService(
        [
            rejection(message=NO_MAX_TOKENS, param="max_tokens", code="unsupported_parameter"),
            rejection(message=NO_TEMPERATURE, param="temperature", code="unsupported_value"),
            rejection(message=NO_SCHEMA, param="response_format"),
            *[reply(ANSWER)] * 2,
        ]
    )
    settings = {"base_url": ELSEWHERE, "max_tokens": 9, "temperature": 0, "structured_output": True}

    async def twice() -> None:
        provider = build(options(**settings), service.build())
        await provider.respond(JUDGED)
        await provider.respond(JUDGED)

    asyncio.run(twice())
    bodies = [json.loads(request.body) for request in service.requests]
    asked = [{"role": "system", "content": "Judge."}, *ASKED]
    assert bodies[3:] == [{"model": "gpt-4o", "messages": asked, "max_completion_tokens": 9}] * 2


@dataclass
class TogetherService(ScriptedService):
    """Answers nobody before three have asked."""

    are_three: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, request: HttpRequest) -> HttpReply:
        answer = await super().send(request)
        if len(self.requests) == 3:
            self.are_three.set()
        await self.are_three.wait()
        return answer


def test_requests_that_are_refused_together_learn_together() -> None:
    refusals, answers = [rejection(message=NO_TEMPERATURE)] * 3, [reply(ANSWER)] * 3
    service = TogetherService([*refusals, *answers])

    assert ask(service, *[QUESTION] * 3, temperature=0) == ["because"] * 3
    assert len(service.requests) == 6
    assert len(service.notified) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        pytest.param({}, NO_TEMPERATURE, id="a setting that was not sent"),
        pytest.param({"stop": "END"}, "Unsupported parameter: 'stop'", id="one that matters"),
        pytest.param({"temperature": 2}, "temperature is out of range", id="a wrong value"),
        pytest.param(
            {"response_format": {"type": "json_schema"}}, NO_SCHEMA, id="an author's own format"
        ),
    ],
)
def test_a_mistake_of_the_author_is_an_error(settings: dict[str, Any], message: str) -> None:
    """Covers the specification's "Non-retryable errors"."""
    service = ScriptedService([rejection(message=message)])
    assert ask(service, **settings) == [
        ("http_400", f"https://api.openai.com answered 400: {message}")
    ]


LIMITS = ("max_completion_tokens", "max_tokens")


def test_a_service_that_knows_no_limit_at_all_is_not_asked_for_ever() -> None:
    refusals = [rejection(message=f"Unknown parameter: '{name}'.") for name in LIMITS]
    service = ScriptedService(refusals)
    assert ask(service, max_tokens=9) == [
        ("http_400", "https://api.openai.com answered 400: Unknown parameter: 'max_tokens'.")
    ]


def test_a_key_in_a_long_reply_is_gone_before_the_reply_is_cut() -> None:
    service = ScriptedService([reply(f"<p>\n{'x' * 990} {KEY}</p>", 404)])
    [outcome] = ask(service)
    assert outcome == (
        "http_404",
        f"https://api.openai.com answered 404: <p> {'x' * 990} [reda…",
    )


def test_a_redirect_is_not_followed() -> None:
    service = ScriptedService([reply("moved", 308, {"location": f"https://else.where/?k={KEY}"})])
    assert ask(service) == [
        (
            "http_308",
            "https://api.openai.com answered 308: it sends us on to"
            " https://else.where/?k=[redacted api_key], which no key is sent to",
        )
    ]
    assert len(service.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404])
@pytest.mark.parametrize("text", [f"Incorrect API key provided: {KEY}.", f"<html>{KEY}</html>"])
def test_a_request_that_is_wrong_is_made_once_and_shows_no_key(status: int, text: str) -> None:
    """Covers the specification's "Non-retryable errors"."""
    body = {"error": {"message": text, "code": "wrong"}} if text[0] == "I" else text
    service = ScriptedService([reply(body, status, {"x-request-id": "req_1"})])
    [outcome] = ask(service)
    assert isinstance(outcome, tuple)
    kind, message = outcome
    assert kind == f"http_{status}"
    whose = "target 'gpt': " if status in (401, 403) else ""
    assert message.startswith(f"{whose}https://api.openai.com answered {status}")
    assert message.endswith("(request id req_1)")
    assert "[redacted api_key]" in message
    assert KEY not in message
    assert len(service.requests) == 1


def test_a_body_of_ones_own_is_laid_over_ours_at_any_depth() -> None:
    service = ScriptedService([reply(ANSWER)])
    over = {
        "model": "other",
        "response_format": {"json_schema": {"strict": False}},
        "stop": ["X"],
        "seed": None,
    }
    settings = {"api_key": f"{KEY}\n", "extra_body": over, "stop": ["A", "B"], "seed": 7}
    ask(service, JUDGED, **settings)
    held = {**HELD["json_schema"], "strict": False}  # type: ignore[dict-item]
    assert json.loads(service.requests[0].body) == {
        "model": "other",
        "messages": [{"role": "system", "content": "Judge."}, *ASKED],
        "response_format": {"type": "json_schema", "json_schema": held},
        "stop": ["X"],
        "seed": None,
    }
    assert service.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_header_of_ones_own_replaces_ours_however_it_is_spelt() -> None:
    service = ScriptedService([reply(ANSWER)])
    ask(service, headers={"Authorization": "Basic x"})
    assert service.requests[0].headers == {
        "content-type": "application/json",
        "authorization": "Basic x",
    }


def test_what_is_sent_is_json_with_the_key_in_a_header_only() -> None:
    service = ScriptedService([reply(ANSWER)])
    ask(service, headers={"openai-project": "p"}, extra_body={"store": False}, timeout_seconds=9)
    sent = service.requests[0]
    assert json.loads(sent.body) == {**PLAIN, "store": False}
    assert sent.headers == {
        "content-type": "application/json",
        "authorization": f"Bearer {KEY}",
        "openai-project": "p",
    }
    assert (sent.method, sent.url, sent.total_seconds) == (
        "POST",
        "https://api.openai.com/v1/chat/completions",
        9,
    )


def test_over_a_real_connection_faults_are_overcome() -> None:
    """Covers the specification's "Default exponential backoff"."""
    script = {"case-1": [refused("0"), failure(500), RESET], "case-2": [failure(403)]}
    questions = [ProviderRequest(eval_id=c, question=f"{c}?") for c in ("case-1", "case-2")]

    async def run(url: str) -> list[Any]:
        async with Borders() as borders:
            given = real_build(borders)
            settings = {"base_url": f"{url}/v1", "api_key": "k", "retry_initial_delay_ms": 1}
            return await ask_with(given, questions, **settings)

    with Vendor(key="k", script=script) as vendor:
        first, second = asyncio.run(run(vendor.url))
        tries = vendor.tries("case-1"), vendor.tries("case-2")
    assert first == "gpt-4o was asked: case-1?"
    assert second[0] == "http_403"
    assert tries == (4, 1)


def real_build(borders: Borders) -> ProviderBuild:
    given = ScriptedService([]).build()
    return ProviderBuild(
        folder=given.folder,
        env={},
        processes=borders.processes,
        http=borders.http,
        traffic=borders.traffic,
        rng=given.rng,
        notify=given.notify,
    )
