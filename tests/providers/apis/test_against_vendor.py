"""Whole runs against a vendor on loopback: every API as a candidate and as a judge."""

import json
from collections.abc import Iterator

import pytest

from agentv.errors import ExitCode
from agentv.testing import Project
from vendor import (
    BROKEN_JSON,
    RESET,
    SLOW_BODY,
    TRUNCATED,
    Vendor,
    failure,
    refused,
)

KEY = "vendor-key-5f0c91d2"

PROVIDERS = {
    "openai": ("provider: openai, model: m-1, base_url: {url}/v1", "/v1/chat/completions"),
    "responses": (
        "provider: openai, api: responses, model: m-1, base_url: {url}/v1",
        "/v1/responses",
    ),
    "azure": (
        "provider: azure, deployment_name: m-1, endpoint: {url}",
        "/openai/deployments/m-1/chat/completions",
    ),
    "anthropic": ("provider: anthropic, model: m-1, base_url: {url}", "/v1/messages"),
    "gemini": (
        "provider: gemini, model: m-1, base_url: {url}",
        "/v1beta/models/m-1:generateContent",
    ),
}

ONE_TURN = """\
    input_messages:
      - {role: user, content: Say hello to case-1.}
"""
THREE_TURNS = """\
    input_messages:
      - {role: system, content: Be kind.}
      - {role: user, content: Say hello to case-1.}
      - {role: assistant, content: "Hello, case-1."}
      - {role: user, content: And now goodbye.}
"""

CHECK = "{type: contains, value: was asked}"
JUDGE = "{type: llm_judge, target: judge}"


def suite(turns: str = ONE_TURN, check: str = CHECK, cases: int = 1) -> str:
    each = "".join(
        f"  - id: c-{n}\n    outcome: It greets.\n{turns.replace('case-1', f'case-{n}')}"
        for n in range(1, cases + 1)
    )
    return f"target: llm\nexecution:\n  evaluators: [{check}]\nevalcases:\n{each}"


def target(provider: str, vendor: Vendor, name: str = "llm", **settings: object) -> str:
    given = PROVIDERS[provider][0].format(url=vendor.url)
    more = "".join(f", {key}: {json.dumps(value)}" for key, value in settings.items())
    return f"  - {{name: {name}, {given}, api_key: '${{{{ VENDOR_KEY }}}}'{more}}}\n"


def prepared(project: Project, targets: str, evals: str) -> Project:
    return project.write(
        {".env": f"VENDOR_KEY={KEY}\n", "targets.yaml": f"targets:\n{targets}", "e.yaml": evals}
    )


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    with Vendor(key=KEY) as vendor:
        yield vendor


@pytest.mark.parametrize("provider", PROVIDERS)
def test_as_a_candidate(provider: str, vendor: Vendor, project: Project) -> None:
    prepared(project, target(provider, vendor), suite())
    outcome = project.run("eval", "e.yaml")
    assert outcome.code == ExitCode.OK, outcome.err

    [row] = project.rows()
    assert row["candidate_answer"] == "m-1 was asked: Say hello to case-1."
    assert row["usage"]["input_tokens"] == 11
    assert row["usage"]["cached_tokens"] == 3
    assert row["usage"]["output_tokens"] == 7
    [asked] = vendor.asked
    assert asked.path == PROVIDERS[provider][1]
    assert asked.headers["content-type"] == "application/json"
    assert asked.question.texts == ("Say hello to case-1.",)
    assert asked.question.system == ""


@pytest.mark.parametrize("provider", PROVIDERS)
def test_with_several_turns(provider: str, vendor: Vendor, project: Project) -> None:
    prepared(project, target(provider, vendor), suite(THREE_TURNS))
    outcome = project.run("eval", "e.yaml")
    assert outcome.code == ExitCode.OK, outcome.err

    [asked] = vendor.asked
    assert asked.question.system == "Be kind."
    assert asked.question.texts == (
        "Say hello to case-1.",
        "Hello, case-1.",
        "And now goodbye.",
    )


@pytest.mark.parametrize("provider", PROVIDERS)
def test_as_a_judge(provider: str, vendor: Vendor, project: Project) -> None:
    candidate = "  - {name: llm, provider: mock, response: Hello there.}\n"
    judge = target(provider, vendor, "judge")
    prepared(project, candidate + judge, suite(check=JUDGE))
    outcome = project.run("eval", "e.yaml")
    assert outcome.code == ExitCode.OK, outcome.err

    [row] = project.rows()
    assert row["score"] == 1.0
    assert row["hits"] == ["It answers"]
    [result] = row["evaluator_results"]
    assert result["usage"]["output_tokens"] == 7
    [asked] = vendor.asked
    assert asked.question.system != ""
    assert "Hello there." in asked.question.texts[0]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_wrong_key_is_tried_once_and_said_in_the_row(provider: str, project: Project) -> None:
    with Vendor(key="another-key") as vendor:
        prepared(project, target(provider, vendor), suite())
        outcome = project.run("eval", "e.yaml")
        assert vendor.refused_keys == 1
    assert outcome.code == ExitCode.ERRORS
    [row] = project.rows()
    assert "401" in row["error"]["message"]
    assert_key_is_nowhere(project, outcome.out, outcome.err)


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_what_no_repetition_mends_is_tried_once(status: int, project: Project) -> None:
    with Vendor(key=KEY, script={"case-1": [failure(status, "no way")] * 9}) as vendor:
        prepared(project, target("openai", vendor), suite())
        outcome = project.run("eval", "e.yaml")
    assert vendor.tries("case-1") == 1
    [row] = project.rows()
    assert str(status) in row["error"]["message"], outcome.err
    assert "no way" in row["error"]["message"]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_after_a_run_with_faults_the_key_is_found_nowhere(provider: str, project: Project) -> None:
    """Every case is answered in the end, save one that fails for good."""
    script = {
        "case-1": [RESET, TRUNCATED],
        "case-2": [BROKEN_JSON],
        "case-3": [refused("0"), failure(500)],
        "case-4": [SLOW_BODY],
        "case-5": [failure(400, f"the key {KEY} may not do this")],
    }
    with Vendor(key=KEY, script=script) as vendor:
        llm = target(provider, vendor, timeout_seconds=0.5, retry_initial_delay_ms=1)
        judge = target(provider, vendor, "judge")
        prepared(project, llm + judge, suite(check=f"{CHECK}, {JUDGE}", cases=6))
        outcome = project.run(
            "eval", "e.yaml", "--workers", "6", "--verbose", "--dump-prompts", "prompts"
        )
    rows = {row["eval_id"]: row for row in project.rows()}
    assert {id_: row["verdict"] for id_, row in rows.items()} == {
        **dict.fromkeys(["c-1", "c-2", "c-3", "c-4", "c-6"], "pass"),
        "c-5": "error",
    }
    assert "400" in rows["c-5"]["error"]["message"]
    assert rows["c-4"]["attempts"] == 2
    assert_key_is_nowhere(project, outcome.out, outcome.err)


def assert_key_is_nowhere(project: Project, *printed: str) -> None:
    """Not in what was printed, and in no file but the one that it came from."""
    assert not any(KEY in text for text in printed)
    files = [path for path in project.folder.rglob("*") if path.is_file()]
    holding = [path.name for path in files if KEY.encode() in path.read_bytes()]
    assert holding == [".env"]
    assert any(path.name == "results.jsonl" for path in files)
