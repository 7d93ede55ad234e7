"""What is made by running AgentV is up to date; `python tests/docs/regenerate.py` makes it anew."""

import pytest
from generated import help_parts, problem_parts

from agentv.cli.app import COMMANDS
from agentv.testing import Project

_ADVICE = "run `python tests/docs/regenerate.py` and look at what changed"


def test_help_texts_are_those_of_the_commands(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command's `--help` stands in docs/cli.md, word for word."""
    monkeypatch.setenv("COLUMNS", "80")
    parts = list(help_parts(project))
    shown = {part.block.text.split("\n", 1)[0] for part in parts}
    assert shown == {"$ agentv --help", *(f"$ agentv {name} --help" for name in COMMANDS)}
    for part in parts:
        assert part.block.text == part.wanted, f"{part.block.place}: {_ADVICE}"


def test_printed_problems_are_those_of_validate() -> None:
    """Each wrong file in docs/errors.md leads to the line that stands below it."""
    parts = list(problem_parts())
    assert parts
    for part in parts:
        assert part.block.text == part.wanted, f"{part.block.place}: {_ADVICE}"
