"""The spellings of a target's keys."""

from typing import Any

import pytest
from loaded import lines, targets

from agentv.loading.target_keys import camel_case, one_spelling, snake_case
from agentv.model.options import TargetOptions
from agentv.providers.cli import CliOptions
from agentv.providers.healthcheck import HealthCheck
from agentv.providers.mock import MockOptions
from agentv.testing import Project

KEYS = sorted(
    {
        field
        for record in (TargetOptions, CliOptions, MockOptions, HealthCheck)
        for field in record.__struct_fields__
    }
)


@pytest.mark.parametrize("key", KEYS)
def test_every_key_has_two_spellings(key: str) -> None:
    assert snake_case(camel_case(key)) == snake_case(key) == key
    assert one_spelling({camel_case(key): 1}).keys == {key: 1}


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("command_template", "commandTemplate"),
        ("name", "name"),
        ("retry_initial_delay_ms", "retryInitialDelayMs"),
    ],
)
def test_camel_case(key: str, expected: str) -> None:
    assert camel_case(key) == expected


def test_blocks_of_ours_have_two_spellings_as_well() -> None:
    """An author's own keys, such as the names of variables, stay as they are."""
    spelling = one_spelling(
        {
            "healthcheck": {"timeoutSeconds": 1},
            "retry": {"maxRetries": 2},
            "env": {"someName": "x"},
            "replies": {"caseOne": "y"},
        }
    )
    assert spelling.keys == {
        "healthcheck": {"timeout_seconds": 1},
        "retry": {"max_retries": 2},
        "env": {"someName": "x"},
        "replies": {"caseOne": "y"},
    }
    assert spelling.written(("healthcheck", "timeout_seconds")) == (
        "healthcheck",
        "timeoutSeconds",
    )


def test_the_older_settings_block_is_flattened() -> None:
    spelling = one_spelling({"name": "a", "settings": {"commandTemplate": "x", "env": {"A": "b"}}})
    assert spelling.keys == {"name": "a", "command_template": "x", "env": {"A": "b"}}
    assert spelling.written(("command_template",)) == ("settings", "commandTemplate")
    assert spelling.written(("env", "A")) == ("settings", "env", "A")
    assert spelling.written(("elsewhere", 1)) == ("elsewhere", 1)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ({"workers": 1, "Workers": 2}, ["'Workers' is the same key as 'workers', given above"]),
        (
            {"timeout_seconds": 1, "settings": {"timeoutSeconds": 2}},
            ["'timeoutSeconds' is the same key as 'timeout_seconds', given above"],
        ),
        (
            {"settings": {"timeoutSeconds": 2}, "timeout_seconds": 1},
            ["'timeout_seconds' is the same key as 'settings.timeoutSeconds', given above"],
        ),
        (
            {"healthcheck": {"commandTemplate": "a", "command_template": "b"}},
            ["'command_template' is the same key as 'healthcheck.commandTemplate', given above"],
        ),
    ],
    ids=["twice", "in the block too", "in the block first", "in a nested block"],
)
def test_a_key_that_is_given_twice(target: dict[str, Any], expected: list[str]) -> None:
    assert [mistake.message for mistake in one_spelling(target).mistakes] == expected


def test_messages_point_at_the_spelling_that_was_written(project: Project) -> None:
    text = """\
targets:
  - name: default
    provider: cli
    settings:
      commandTemplate: cat {PROMT}
      timeoutSeconds: -1
      fileFormat: "{path}"
      verboze: true
      healthcheck:
        type: http
        ulr: x
        timeoutSecondz: 1
    timeout_seconds: 2
"""
    found = lines(targets(project, text).problems, project.folder)
    assert [line.split("  ")[:2] for line in found] == [
        ["targets.yaml:5:24", "targets[0].settings.commandTemplate"],
        ["targets.yaml:6:23", "targets[0].settings.timeoutSeconds"],
        ["targets.yaml:7:7", "targets[0].settings.fileFormat"],
        ["targets.yaml:8:7", "targets[0].settings.verboze"],
        ["targets.yaml:11:9", "targets[0].settings.healthcheck.ulr"],
        ["targets.yaml:11:14", "targets[0].settings.healthcheck.ulr"],
        ["targets.yaml:12:9", "targets[0].settings.healthcheck.timeoutSecondz"],
        ["targets.yaml:13:5", "targets[0].timeout_seconds"],
    ]
    assert "unknown key 'fileFormat'; did you mean 'files_format'?" in found[2]
