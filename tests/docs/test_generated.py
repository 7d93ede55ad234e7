"""What is made by running AgentV is up to date; `python tests/docs/regenerate.py` makes it anew."""

from collections.abc import Iterator

import click
import pytest
from generated import help_parts, problem_parts

from agentv.cli.app import COMMANDS, main
from agentv.testing import Project

_ADVICE = "run `python tests/docs/regenerate.py` and look at what changed"


def test_help_texts_are_those_of_the_commands(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command's `--help` stands in docs/cli.md, word for word."""
    monkeypatch.setenv("COLUMNS", "80")
    parts = list(help_parts(project))
    shown = {part.block.text.split("\n", 1)[0] for part in parts}
    assert shown == {f"$ {command} --help" for command in _commands()}
    for part in parts:
        assert part.block.text == part.wanted, f"{part.block.place}: {_ADVICE}"


def _commands() -> Iterator[str]:
    """Every command, those below a group too."""
    yield "agentv"
    for name in COMMANDS:
        yield f"agentv {name}"
        command = main.get_command(click.Context(main), name)
        if isinstance(command, click.Group):
            yield from (f"agentv {name} {below}" for below in command.commands)


def test_printed_problems_are_those_of_validate() -> None:
    """Each wrong file in docs/errors.md leads to the line that stands below it."""
    parts = list(problem_parts())
    assert parts
    for part in parts:
        assert part.block.text == part.wanted, f"{part.block.place}: {_ADVICE}"
