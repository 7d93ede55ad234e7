"""Help is instant, complete, and forgives slips."""

import json
import subprocess
import sys

import pytest

from agentv import __version__
from agentv.cli.app import COMMANDS
from agentv.errors import ExitCode
from agentv.testing import Project

HEAVY = {"rich", "msgspec", "yaml", "aiohttp", "asyncio", "psutil", "wcmatch", "hypothesis"}
_MODULES = """\
import json, sys
from agentv.cli.app import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]))
"""


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("--version",), *((name, "--help") for name in COMMANDS)],
    ids=" ".join,
)
def test_help_imports_nothing_heavy(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _MODULES, *arguments], capture_output=True, text=True, check=True
    )
    code, modules = json.loads(done.stdout.splitlines()[-1])

    assert code == ExitCode.OK
    assert not HEAVY & set(modules)


def test_the_version(project: Project) -> None:
    assert project.run("--version").out == f"agentv, version {__version__}\n"


def test_help_lists_every_command_in_a_line(project: Project) -> None:
    outcome = project.run("--help")

    assert outcome.code == ExitCode.OK
    for name, (_, line) in COMMANDS.items():
        assert any(name in row and line in row for row in outcome.out.splitlines())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(project: Project, name: str) -> None:
    outcome = project.run(name, "-h")

    assert outcome.code == ExitCode.OK
    assert outcome.out.startswith(f"Usage: agentv {name}")
    assert outcome == project.run(name, "--help")


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        pytest.param(("evla", "x"), "Did you mean 'eval'?", id="command"),
        pytest.param(("vaildate",), "Did you mean 'validate'?", id="another command"),
        pytest.param(("eval", "x", "--worker", "2"), "--workers", id="option"),
        pytest.param(("eval", "x", "--min-passrate", "1"), "--min-pass-rate", id="another option"),
        pytest.param(("schema", "evals"), "'eval'", id="choice"),
    ],
)
def test_a_slip_gets_the_nearest_name(
    project: Project, arguments: tuple[str, ...], hint: str
) -> None:
    outcome = project.run(*arguments)

    assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
    assert hint in outcome.err


@pytest.mark.parametrize(
    "options",
    [
        ("--workers", "0"),
        ("--max-retries", "-1"),
        ("--threshold", "1.1"),
        ("--min-pass-rate", "80"),
        ("--agent-timeout", "0"),
    ],
    ids=" ".join,
)
def test_values_out_of_range_are_refused(project: Project, options: tuple[str, str]) -> None:
    outcome = project.run("eval", "a.eval.yaml", *options)

    assert outcome.code == ExitCode.USAGE
    assert options[0] in outcome.err


def test_without_a_command_the_help_is_shown(project: Project) -> None:
    outcome = project.run()

    assert outcome.code == ExitCode.USAGE
    assert "Commands:" in outcome.err
