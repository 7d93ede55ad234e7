"""Whole runs against a vendor on loopback: every API as a candidate and as a judge."""

import json
from base64 import b64encode
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from agentv.errors import ExitCode
from agentv.testing import Project
from vendor import (
    BROKEN_JSON,
    CUT_OFF,
    RESET,
    SLOW_BODY,
    TRUNCATED,
    Fault,
    Vendor,
    failure,
    refused,
)

KEY = "vendor-key-5f0c91d2+/e8=d7"
FORMS = (
    KEY,
    quote(KEY, safe=""),
    quote(KEY),
    b64encode(KEY.encode()).decode(),
    KEY.replace("/", "\\/"),
)

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


WHOSE = "(api_key from ${{ VENDOR_KEY }} in targets.yaml)"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_wrong_key_is_tried_once_and_said_in_one_line(provider: str, project: Project) -> None:
    """Covers the specification's "Non-retryable errors"; the other cases are not even sent."""
    with Vendor(key="another-key") as vendor:
        prepared(project, target(provider, vendor), suite(cases=6))
        outcome = project.run("eval", "e.yaml")
        assert vendor.refused_keys == 1
    assert outcome.code == ExitCode.ERRORS
    refused = f"target 'llm' {WHOSE}: {vendor.url} answered 401"
    first, *others = (row["error"] for row in project.rows())
    assert first["message"].startswith(refused)
    for other in others:
        assert other["message"].startswith(f"not sent, since the key was refused before: {refused}")
        assert other["kind"] == first["kind"] == "http_401"
    lines = [line for line in outcome.out.splitlines() if line.startswith("  ! ")]
    assert len(lines) == 2
    assert lines[0].startswith(f"  ! c-1 (llm)  http_401: {refused}")
    assert lines[1].startswith("  ! c-2, c-3, c-4 and 2 more (llm)  http_401: not sent, since")
    assert_key_is_nowhere(project, outcome.out, outcome.err)


def test_a_judges_wrong_key_is_tried_once_too(vendor: Vendor, project: Project) -> None:
    with Vendor(key="another-key") as other:
        judge = target("anthropic", other, "judge")
        prepared(project, target("openai", vendor) + judge, suite(check=JUDGE, cases=3))
        outcome = project.run("eval", "e.yaml")
        assert other.refused_keys == 1
    assert outcome.code == ExitCode.ERRORS
    said = f"judge 'judge' did not answer: target 'judge' {WHOSE}: {other.url} answered 401"
    assert said in project.rows()[0]["error"]["message"]


def test_a_key_that_was_taken_once_is_not_given_up(project: Project) -> None:
    with Vendor(key=KEY, script={"case-2": [failure(401, "hiccup")]}) as vendor:
        prepared(project, target("openai", vendor), suite(cases=3))
        project.run("eval", "e.yaml")
        assert [row["verdict"] for row in project.rows()] == ["pass", "error", "pass"]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_a_key_may_not_do_is_said_of_each_case(provider: str, project: Project) -> None:
    """A 403 may be about one question: a moderator's, say."""
    script = {f"case-{n}": [failure(403, "no way")] * 9 for n in (1, 2)}
    with Vendor(key=KEY, script=script) as vendor:
        prepared(project, target(provider, vendor), suite(cases=3))
        project.run("eval", "e.yaml")
        assert [vendor.tries(f"case-{n}") for n in (1, 2, 3)] == [1, 1, 1]
    first, second, third = project.rows()
    for row in (first, second):
        assert row["error"]["message"].startswith(
            f"target 'llm' {WHOSE}: {vendor.url} answered 403"
        )
    assert third["verdict"] == "pass"


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("env", "says"),
    [
        ("", "the variable VENDOR_KEY is not set, and target 'llm' needs it for 'api_key'"),
        ("VENDOR_KEY=\n", "the variable VENDOR_KEY is empty, and target 'llm' needs it"),
        ("VENDOR_KEY='a\nb'\n", "the key of target 'llm' holds a character that no key has"),
    ],
    ids=["unset", "empty", "two lines"],
)
def test_a_missing_key_is_said_in_one_line_before_anything_is_asked(
    provider: str, env: str, says: str, vendor: Vendor, project: Project
) -> None:
    prepared(project, target(provider, vendor), suite()).write({".env": env})
    outcome = project.run("eval", "e.yaml")
    assert outcome.code == ExitCode.USAGE
    [line] = outcome.err.splitlines()
    assert line.startswith("targets.yaml:2:")
    assert says in line
    assert vendor.asked == []


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("openai, model: m", "OPENAI_API_KEY"),
        ("azure, resourceName: acme, deploymentName: m", "AZURE_OPENAI_API_KEY"),
        ("anthropic, model: m", "ANTHROPIC_API_KEY"),
        ("gemini", "GEMINI_API_KEY"),
    ],
)
def test_a_target_without_a_key_is_said_in_one_line(
    provider: str, variable: str, project: Project
) -> None:
    prepared(project, f"  - {{name: llm, provider: {provider}}}\n", suite())
    outcome = project.run("eval", "e.yaml")
    assert outcome.code == ExitCode.USAGE
    assert outcome.err == (
        "targets.yaml:2:5  targets[0]  target 'llm' has no 'api_key'; add"
        f" `api_key: ${{{{ {variable} }}}}`, with the name of the variable that holds it"
        "  [missing-key]\n"
    )


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [
        (refused("1"), 1.0),
        (refused(retry_after_ms="300"), 0.3),
        (refused("0"), 0.0),
        (failure(503, retry_after="1"), 1.0),
    ],
    ids=["seconds", "milliseconds", "none", "unavailable"],
)
def test_what_the_service_asks_us_to_wait_is_kept_exactly(
    fault: Fault, seconds: float, project: Project
) -> None:
    with Vendor(key=KEY, script={"case-1": [fault]}) as vendor:
        prepared(project, target("openai", vendor), suite())
        assert project.run("eval", "e.yaml").code == ExitCode.OK
    [gap] = vendor.gaps("case-1")
    assert seconds <= gap <= seconds + 0.1


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
    """Not a part of it, in no form, however the service repeats it."""
    script = {
        "case-1": [RESET, TRUNCATED],
        "case-2": [BROKEN_JSON],
        "case-3": [refused("0"), failure(500)],
        "case-4": [SLOW_BODY],
        "case-5": [failure(400, f"the key {KEY} may not do this")],
        "case-6": [failure(500, f"<html>{'.' * 985}{KEY}</html>")] * 4,
        "case-7": [failure(307, location=f"/?key={KEY}")],
        "case-8": [failure(400, " ".join(FORMS), x_request_id=KEY)],
        "case-9": [CUT_OFF],
    }
    with Vendor(key=KEY, script=script) as vendor:
        llm = target(provider, vendor, timeout_seconds=0.5, retry_initial_delay_ms=1)
        judge = target(provider, vendor, "judge")
        prepared(project, llm + judge, suite(check=f"{CHECK}, {JUDGE}", cases=10))
        outcome = project.run(
            *("eval", "e.yaml", "--workers", "6", "--verbose", "--dump-prompts", "prompts"),
            *("--export", "rows.jsonl", "--export", "rows.yaml", "--cache"),
        )
    rows = {row["eval_id"]: row for row in project.rows()}
    assert {id_: row["error"]["kind"] for id_, row in rows.items() if row["error"]} == {
        "c-5": "http_400",
        "c-6": "http_500",
        "c-7": "http_307",
        "c-8": "http_400",
        "c-9": "cut_off",
    }
    assert {row["verdict"] for row in rows.values()} == {"pass", "error"}
    assert rows["c-9"]["usage"]["output_tokens"] == 7
    assert rows["c-4"]["attempts"] == 2
    assert_key_is_nowhere(project, outcome.out, outcome.err)


def assert_key_is_nowhere(project: Project, *printed: str) -> None:
    """Not in what was printed, and in no file but the one that it came from."""
    parts = {form[start : start + 12] for form in FORMS for start in range(len(form) - 11)}
    assert not [part for part in parts for text in printed if part in text]
    files = [path for path in project.folder.rglob("*") if path.is_file()]
    contents = {path.name: path.read_bytes() for path in files}
    holding = {n for n, content in contents.items() if any(p.encode() in content for p in parts)}
    assert holding == {".env"}
    assert any(path.name == "results.jsonl" for path in files)
