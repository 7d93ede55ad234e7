"""A slip in any key that an author can write is an error, always, and only one."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from loaded import said

from agentv.evaluators.code import CodeOptions
from agentv.evaluators.is_json import IsJsonOptions
from agentv.evaluators.llm_judge import LlmJudgeOptions
from agentv.evaluators.regex import RegexOptions
from agentv.evaluators.text import TextOptions
from agentv.loading.case_file import CaseExecution, CaseFile, SuiteExecution, SuiteFile
from agentv.loading.targets import TargetsFile, load_targets
from agentv.model.base import AuthoredRecord
from agentv.model.case import ContentPart, Message
from agentv.providers.cli import CliOptions
from agentv.providers.healthcheck import HealthCheck
from agentv.providers.mock import MockOptions, MockReply
from agentv.registry import Registry
from agentv.testing import Project

Tree = dict[str, Any]

CONTAINS = {"type": "contains", "value": "x"}
MESSAGE = {"role": "user", "content": "Hello"}
CASE: Tree = {"id": "one", "outcome": "o", "input_messages": [MESSAGE], "evaluators": [CONTAINS]}
PROMPT = "{{ candidate_answer }}"
MOCK: Tree = {"name": "default", "provider": "mock"}
CLI: Tree = {"name": "default", "provider": "cli", "command_template": "cat {PROMPT}"}

SUITES: list[tuple[type[AuthoredRecord], str, Tree]] = [
    (
        SuiteFile,
        "",
        {
            "$schema": "agentv-eval-v2",
            "description": "d",
            "dataset": "d",
            "target": "default",
            "execution": {},
            "evaluator": "is_json",
            "evalcases": [CASE],
        },
    ),
    (
        SuiteExecution,
        "execution",
        {"target": "default", "evaluators": [CONTAINS], "threshold": 1, "min_pass_rate": 1},
    ),
    (
        CaseFile,
        "case",
        {
            "id": "one",
            "outcome": "o",
            "conversation_id": "c",
            "note": "n",
            "input_messages": [MESSAGE],
            "expected_messages": [MESSAGE],
            "execution": {},
            "evaluators": [CONTAINS],
        },
    ),
    (CaseFile, "case", {**CASE, "outcome": None, "expected_outcome": "o"}),
    (CaseFile, "case", {**CASE, "evaluators": None, "evaluator": "is_json"}),
    (CaseExecution, "case execution", {"target": "default", "evaluators": [CONTAINS]}),
    (Message, "message", {"role": "user", "content": "Hello"}),
    (ContentPart, "part", {"type": "text", "value": "Hello"}),
    (TextOptions, "evaluator", {**CONTAINS, "name": "n", "weight": 1, "negate": True}),
    (
        RegexOptions,
        "evaluator",
        {
            "type": "regex",
            "name": "n",
            "weight": 1,
            "pattern": "x",
            "flags": ["multiline"],
            "negate": True,
        },
    ),
    (IsJsonOptions, "evaluator", {"type": "is_json", "name": "n", "weight": 1, "negate": True}),
    (
        CodeOptions,
        "evaluator",
        {
            "type": "code",
            "name": "n",
            "weight": 1,
            "script": "true",
            "cwd": ".",
            "timeout_seconds": 1,
            "config": {},
        },
    ),
    (
        LlmJudgeOptions,
        "evaluator",
        {"type": "llm_judge", "name": "n", "weight": 1, "target": "default", "prompt": PROMPT},
    ),
    (LlmJudgeOptions, "evaluator", {"type": "llm_judge", "prompt_path": "prompt.md"}),
    (LlmJudgeOptions, "evaluator", {"type": "llm_judge", "promptPath": "prompt.md"}),
]
"""Every record of an eval file, its place in the file, and values for its keys."""

TARGETS: list[tuple[type[AuthoredRecord], str, Tree]] = [
    (TargetsFile, "", {"$schema": "agentv-targets-v2.2", "targets": [{**MOCK, "response": "r"}]}),
    (
        MockOptions,
        "target",
        {
            **MOCK,
            "judge_target": "default",
            "workers": 1,
            "provider_batching": True,
            "prompt_mode": "lm",
            "timeout_seconds": 1,
            "response": "r",
            "delay_min_ms": 1,
            "delay_max_ms": 2,
            "error": "e",
            "error_rate": 0.5,
            "timeouts": 1,
            "timeout_rate": 0.5,
            "hang": True,
            "batch_error": "b",
        },
    ),
    (MockOptions, "target", {**MOCK, "replies": ["r"]}),
    (MockOptions, "target", {**MOCK, "echo": True, "delay_ms": 1}),
    (MockReply, "reply", {"response": "r", "delay_ms": 1}),
    (MockReply, "reply", {"error": "e"}),
    (MockReply, "reply", {"timeout": True}),
    (
        CliOptions,
        "target",
        {
            **CLI,
            "judge_target": "default",
            "workers": 1,
            "provider_batching": True,
            "prompt_mode": "lm",
            "timeout_seconds": 1,
            "files_format": "{path}",
            "cwd": ".",
            "env": {},
            "healthcheck": {"type": "http", "url": "http://a/"},
            "verbose": True,
        },
    ),
    (HealthCheck, "healthcheck", {"type": "http", "url": "http://a/", "timeout_seconds": 1}),
    (HealthCheck, "healthcheck", {"type": "command", "command_template": "true", "cwd": "."}),
]
"""The same for a targets file."""

FREE = {"MockOptions.replies", "CliOptions.env", "CodeOptions.config"}


def slips(key: str) -> Iterator[str]:
    """The key with a letter dropped, and with a letter mistaken."""
    for index in range(len(key)):
        yield key[:index] + key[index + 1 :]
        yield key[:index] + "q" + key[index + 1 :]


def eval_file(place: str, tree: Tree) -> Tree:
    """An eval file that holds a tree at a place."""
    if place == "":
        return tree
    if place == "execution":
        return {"execution": tree, "evalcases": [CASE]}
    case = {
        "case": tree,
        "case execution": {**CASE, "execution": tree, "evaluators": None},
        "message": {**CASE, "input_messages": [tree]},
        "part": {**CASE, "input_messages": [{**MESSAGE, "content": [tree]}]},
        "evaluator": {**CASE, "evaluators": [tree]},
    }[place]
    return {"evalcases": [case]}


def targets_file(place: str, tree: Tree) -> Tree:
    """A targets file that holds a tree at a place."""
    if place == "":
        return tree
    target = {
        "target": tree,
        "reply": {**MOCK, "replies": [tree]},
        "healthcheck": {**CLI, "healthcheck": tree},
    }[place]
    return {"targets": [target]}


def without_nothing(tree: Tree) -> Tree:
    """A mapping without the keys that a test has set to `None`."""
    return {key: value for key, value in tree.items() if value is not None}


def every_key(records: list[tuple[type[AuthoredRecord], str, Tree]]) -> list[Any]:
    """One parameter set for each key of each record."""
    return [
        pytest.param(place, without_nothing(tree), key, id=f"{record.__name__}.{key}")
        for record, place, tree in records
        for key in without_nothing(tree)
    ]


def is_one_mistake(found: list[str], slip: str) -> bool:
    """Whether lines tell of one misspelt key.

    A slip that is unlike its key (`id` is short) is named besides the key that is now missing, and
    `evaluators` without its last letter is another key, whose value does not fit.
    """
    if slip == "evaluator":
        return len(found) == 1
    others = [line for line in found if f"unknown key '{slip}'" not in line]
    return len(found) == len(others) + 1 and all(" is missing" in line for line in others)


def renamed(tree: Tree, key: str, name: str) -> Tree:
    """A mapping with one of its keys under another name, in the same place."""
    return {name if own == key else own: value for own, value in tree.items()}


@pytest.mark.parametrize(("place", "tree", "key"), every_key(SUITES))
def test_slip_in_a_key_of_an_eval_file(project: Project, place: str, tree: Tree, key: str) -> None:
    """It is called unknown, with the key that was meant; nothing else is called wrong."""
    project.write({"prompt.md": PROMPT, "a.eval.yaml": json.dumps(eval_file(place, tree))})
    assert said(project) == []
    suggested = 0
    for slip in slips(key):
        text = json.dumps(eval_file(place, renamed(tree, key, slip)))
        found = said(project.write({"a.eval.yaml": text}))
        assert is_one_mistake(found, slip), found
        suggested += any("did you mean" in line for line in found)
    assert suggested > len(key) or key == "id"


@pytest.mark.parametrize(("place", "tree", "key"), every_key(TARGETS))
def test_slip_in_a_key_of_a_targets_file(
    project: Project, place: str, tree: Tree, key: str
) -> None:
    """The same holds for targets, in both spellings of a key."""
    path = project.folder / "targets.yaml"

    def problems(file: Tree) -> list[str]:
        path.write_text(json.dumps(file))
        return [str(p) for p in load_targets(path, project.folder, Registry()).problems]

    assert problems(targets_file(place, tree)) == []
    for slip in slips(key):
        found = problems(targets_file(place, renamed(tree, key, slip)))
        assert is_one_mistake(found, slip), found


@pytest.mark.parametrize("records", [SUITES, TARGETS], ids=["eval file", "targets file"])
def test_no_key_is_left_out(records: list[tuple[type[AuthoredRecord], str, Tree]]) -> None:
    """A key that a record gains must be given a value here."""
    for record in {record for record, _, _ in records}:
        known = {field.encode_name for field in msgspec.structs.fields(record)}
        tried = {key for own, _, tree in records if own is record for key in without_nothing(tree)}
        assert tried == known, record
