"""The `azure` provider: its addresses, and what differs from OpenAI."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from scripted_http import ScriptedService, reply

from agentv.errors import ProviderError
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.providers.apis.azure import AzureOptions, azure_wire, build

KEY = "azure-secret"
QUESTION = ProviderRequest(eval_id="a", question="why?")
ASKED = [{"role": "user", "content": "why?"}]
SCHEMA = {"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}


class NoFiles:
    def find(self, reference: str) -> Path | None:
        return None

    def tried(self, reference: str) -> list[Path]:
        return []


def options(**more: Any) -> AzureOptions:
    keys = {"name": "az", "provider": "azure", "endpoint": "acme", "deployment_name": "gpt"}
    found = {**keys, "api_key": KEY, **more}
    return msgspec.convert({k: v for k, v in found.items() if v is not None}, AzureOptions)


def ask(service: ScriptedService, **more: Any) -> ProviderResponse | tuple[str, str]:
    try:
        return asyncio.run(build(options(**more), service.build()).respond(QUESTION))
    except ProviderError as error:
        return error.kind, str(error)


def test_the_request_of_a_single_turn() -> None:
    """Covers the specification's "Azure OpenAI provider"."""
    request = ProviderRequest(eval_id="a", question="why?", guidelines="Be kind.")
    call = azure_wire(options(temperature=0.2, max_output_tokens=500)).call(request)
    assert call.url == (
        "https://acme.openai.azure.com/openai/deployments/gpt/chat/completions"
        "?api-version=2024-10-01-preview"
    )
    assert call.headers == {"api-key": KEY}
    assert call.body == {
        "messages": [
            {"role": "system", "content": "[[ ## Guidelines ## ]]\n\nBe kind."},
            {"role": "user", "content": "why?"},
        ],
        "temperature": 0.2,
        "max_tokens": 500,
    }


def test_a_deployment_named_after_a_reasoning_model_is_taken_for_one() -> None:
    wire = azure_wire(options(deployment_name="o4-mini", temperature=0, max_tokens=9))
    assert wire.call(QUESTION).body == {"messages": ASKED, "max_completion_tokens": 9}


def test_a_judge_is_held_to_its_schema() -> None:
    request = ProviderRequest(eval_id="a", question="why?", response_schema=SCHEMA)
    held = {"name": "reply", "schema": {**SCHEMA, "additionalProperties": False}, "strict": True}
    assert azure_wire(options()).call(request).body == {
        "messages": ASKED,
        "response_format": {"type": "json_schema", "json_schema": held},
    }


@pytest.mark.parametrize("key", ["endpoint", "resource", "resource_name", "base_url"])
@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("acme", "https://acme.openai.azure.com"),
        ("acme.openai.azure.com", "https://acme.openai.azure.com"),
        ("acme.cognitiveservices.azure.com/", "https://acme.cognitiveservices.azure.com"),
        ("https://acme.openai.azure.com/", "https://acme.openai.azure.com"),
        ("https://acme.openai.azure.com/openai", "https://acme.openai.azure.com"),
        ("https://gateway.example/team/llm", "https://gateway.example/team/llm"),
        ("https://gateway.example/v1", "https://gateway.example/v1"),
        ("http://127.0.0.1:9", "http://127.0.0.1:9"),
    ],
)
def test_a_resource_has_many_spellings(key: str, given: str, address: str) -> None:
    settings = options(**{"endpoint": None, key: given})
    assert list(settings.problems(NoFiles())) == []
    assert azure_wire(settings).call(QUESTION).url.startswith(f"{address}/openai/deployments/gpt/")


@pytest.mark.parametrize("key", ["deployment_name", "deployment", "model"])
def test_a_deployment_has_many_spellings(key: str) -> None:
    settings = options(**{"deployment_name": None, key: "my gpt/4"})
    assert list(settings.problems(NoFiles())) == []
    wire = azure_wire(settings)
    assert "/openai/deployments/my%20gpt%2F4/chat/completions?" in wire.call(QUESTION).url
    assert (wire.endpoint, wire.model) == ("https://acme.openai.azure.com", "my gpt/4")


@pytest.mark.parametrize("key", ["version", "api_version"])
@pytest.mark.parametrize("given", ["2024-12-01", "api-version=2024-12-01"])
def test_a_version_has_many_spellings(key: str, given: str) -> None:
    settings = options(**{key: given})
    assert list(settings.problems(NoFiles())) == []
    assert azure_wire(settings).call(QUESTION).url.endswith("?api-version=2024-12-01")


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        ({"endpoint": "https://acme.openai.azure.com/openai/v1/"}, "/openai/v1/chat/completions"),
        ({"version": "v1"}, "/openai/v1/chat/completions"),
        ({"version": "preview"}, "/openai/v1/chat/completions?api-version=preview"),
    ],
)
def test_a_version_without_dates_knows_no_deployments(settings: dict[str, Any], path: str) -> None:
    call = azure_wire(options(**settings)).call(QUESTION)
    assert call.url == f"https://acme.openai.azure.com{path}"
    assert call.body == {"model": "gpt", "messages": ASKED}


@pytest.mark.parametrize(
    ("version", "path"),
    [
        (None, "/openai/v1/responses"),
        ("preview", "/openai/v1/responses?api-version=preview"),
        ("2025-04-01-preview", "/openai/responses?api-version=2025-04-01-preview"),
    ],
)
def test_the_responses_api_names_the_deployment_as_its_model(
    version: str | None, path: str
) -> None:
    call = azure_wire(options(api="responses", version=version)).call(QUESTION)
    assert call.url == f"https://acme.openai.azure.com{path}"
    assert call.headers == {"api-key": KEY}
    assert call.body == {"model": "gpt", "input": ASKED}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, []),
        ({"api_key": None, "headers": {"Authorization": "Bearer x"}}, []),
        ({"api_key": None}, [((), "target 'az' has no 'api_key'")]),
        ({"api_key": " \n"}, [((), "target 'az' has no 'api_key'")]),
        ({"endpoint": None}, [((), "the key 'endpoint' is missing")]),
        ({"deployment_name": None}, [((), "the key 'deployment_name' is missing")]),
        ({"resource": "b"}, [(("resource",), "'resource' is the same as 'endpoint'")]),
        ({"model": "b"}, [(("model",), "'model' is the same as 'deployment_name'")]),
        (
            {"version": "a", "api_version": "a"},
            [(("api_version",), "'api_version' is the same as 'version'")],
        ),
        (
            {"endpoint": "ftp://acme"},
            [(("endpoint",), "'ftp://acme' is not the address of a resource")],
        ),
        (
            {"endpoint": "https://acme.openai.azure.com/openai/deployments/gpt"},
            [
                (
                    ("endpoint",),
                    "'https://acme.openai.azure.com/openai/deployments/gpt' is not the address of"
                    " a resource",
                )
            ],
        ),
    ],
)
def test_mistakes_in_options(settings: dict[str, Any], expected: list[Any]) -> None:
    found = options(**settings).problems(NoFiles())
    assert [(problem.path, problem.message) for problem in found] == expected


FOUND = {
    "hate": {"filtered": True, "severity": "medium"},
    "jailbreak": {"filtered": True, "detected": True},
    "violence": {"filtered": False, "severity": "safe"},
}


def test_a_filtered_prompt_says_what_was_found() -> None:
    error = {
        "message": "The prompt was filtered.",
        "type": None,
        "param": "prompt",
        "code": "content_filter",
        "status": 400,
        "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": FOUND},
    }
    headers = {"apim-request-id": "id-1"}
    service = ScriptedService([reply({"error": error}, 400, headers)])
    assert ask(service, temperature=0) == (
        "filtered",
        "https://acme.openai.azure.com answered 400 [content_filter]: The prompt was filtered."
        " (hate: medium, jailbreak) (request id id-1)",
    )
    assert len(service.requests) == 1


def test_a_filtered_answer_says_what_was_found() -> None:
    choice = {
        "message": {"content": "I ha"},
        "finish_reason": "content_filter",
        "content_filter_results": FOUND,
    }
    assert ask(ScriptedService([reply({"choices": [choice]})])) == (
        "filtered",
        "the answer was filtered (hate: medium, jailbreak) (finish reason content_filter)",
    )


def test_an_older_version_that_knows_no_schema_is_asked_without() -> None:
    """The name of a deployment tells nothing of the model behind it: refusals do."""
    said = "response_format value as json_schema is enabled only for later api versions"
    answer = {
        "choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    }
    service = ScriptedService([reply({"error": {"message": said}}, 400), reply(answer)])
    request = ProviderRequest(eval_id="a", question="why?", response_schema=SCHEMA)
    response = asyncio.run(build(options(), service.build()).respond(request))
    assert response.text == "{}"
    assert b"response_format" in service.requests[0].body
    assert b"response_format" not in service.requests[1].body


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_is_tried_once_and_not_shown(status: int) -> None:
    """Covers the specification's "Non-retryable errors"."""
    said = {"error": {"code": str(status), "message": f"Access denied for {KEY}."}}
    service = ScriptedService([reply(said, status)])
    assert ask(service) == (
        f"http_{status}",
        f"target 'az': https://acme.openai.azure.com answered {status} [{status}]:"
        " Access denied for [redacted api_key].",
    )
    assert len(service.requests) == 1
