"""The JSON Schemas that editors get say what the loader says."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from agentv.cli.schemas import schema_text
from agentv.loading.discover import discover
from agentv.loading.yaml12 import parse_yaml
from agentv.testing import Project
from story import case, contains, mock, suite, targets

EXAMPLES = Path(__file__).parents[2] / "examples"
KINDS = ("eval", "targets", "config", "result")
SUITE: Any = parse_yaml(suite(case("sum", contains("four")), target="default"))
TARGETS: Any = parse_yaml(targets(mock("four")))


@cache
def validator(kind: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(schema_text(kind)))


def accepts(kind: str, document: Any) -> bool:
    return bool(validator(kind).is_valid(document))


def with_evaluator(**keys: Any) -> Any:
    return parse_yaml(suite(case("sum", keys)))


def with_target(**keys: Any) -> dict[str, Any]:
    return {"targets": [{"name": "default", **keys}]}


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_a_json_schema_and_what_the_command_prints(project: Project, kind: str) -> None:
    schema = json.loads(schema_text(kind))

    jsonschema.Draft202012Validator.check_schema(schema)
    assert project.run("schema", kind).json == schema


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        pytest.param(path, kind, id=str(path.relative_to(EXAMPLES)))
        for path, kind in discover([str(EXAMPLES)], EXAMPLES).files.items()
    ],
)
def test_every_example_keeps_to_it(path: Path, kind: str) -> None:
    validator(kind).validate(parse_yaml(path.read_text("utf-8")))


def test_every_row_keeps_to_it(project: Project) -> None:
    replies = {"crash": {"error": "no"}, "*": "four"}
    cases = (case("good", contains("four")), case("bad", contains("x")), case("crash"))
    project.write(
        {
            "a.eval.yaml": suite(*cases, execution={"evaluators": [{"type": "llm_judge"}]}),
            "targets.yaml": targets(mock(replies=replies)),
        }
    )
    for options in ((), ("--dry-run",)):
        project.run("eval", "a.eval.yaml", *options)
        for row in project.rows():
            validator("result").validate(row)


@pytest.mark.parametrize(
    ("kind", "document"),
    [
        pytest.param("eval", SUITE, id="suite"),
        pytest.param("eval", {**SUITE, "$schema": "agentv-eval-v2"}, id="suite with schema"),
        pytest.param("eval", {**SUITE, "evalcases": "cases.jsonl"}, id="cases in a file"),
        pytest.param("eval", with_evaluator(type="llm_judge", promptPath="p.md"), id="judge"),
        pytest.param("eval", with_evaluator(type="code", script=["a", "b"], weight=2), id="code"),
        pytest.param("eval", with_evaluator(type="code_judge", script="a"), id="alias"),
        pytest.param("targets", TARGETS, id="targets"),
        pytest.param("targets", {**TARGETS, "$schema": "agentv-targets-v2.1"}, id="older targets"),
        pytest.param(
            "targets",
            with_target(provider="cli", command_template="x", files_format="{path}"),
            id="snake_case",
        ),
        pytest.param(
            "targets",
            with_target(provider="cli", commandTemplate="x", filesFormat="{path}"),
            id="camelCase",
        ),
        pytest.param("targets", with_target(provider="codex", model="m"), id="other provider"),
        pytest.param("config", {"guideline_patterns": ["**/*.md"]}, id="config"),
    ],
)
def test_it_takes_what_is_right(kind: str, document: dict[str, Any]) -> None:
    validator(kind).validate(document)


@pytest.mark.parametrize(
    ("kind", "document"),
    [
        pytest.param("eval", {**SUITE, "evalcase": []}, id="suite key"),
        pytest.param("eval", {"target": "default"}, id="no cases"),
        pytest.param("eval", with_evaluator(type="contians", value="x"), id="evaluator"),
        pytest.param("eval", with_evaluator(type="contains", vlaue="x"), id="evaluator key"),
        pytest.param("eval", with_evaluator(type="contains"), id="evaluator without its value"),
        pytest.param("eval", {**SUITE, "execution": {"threshold": 8}}, id="threshold"),
        pytest.param("targets", with_target(provider="mock", respones="x"), id="target key"),
        pytest.param("targets", with_target(provider="cli"), id="no command"),
        pytest.param("targets", with_target(provider="mock", workers=0), id="no workers"),
        pytest.param("targets", {"targets": [{"provider": "mock"}]}, id="no name"),
        pytest.param("config", {"guideline_paterns": []}, id="config key"),
    ],
)
def test_it_refuses_a_slip(kind: str, document: dict[str, Any]) -> None:
    assert not accepts(kind, document)
