"""What the pages show is so: files load, programs run, commands print what they are shown to."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from doc_blocks import PAGES, ROOT, blocks_of, page_id, place, prose_of
from page_story import Story

from agentv.cli.app import COMMANDS, main
from agentv.loading.yaml12 import parse_yaml
from agentv.testing import Project

# Its blocks are wrong on purpose; `test_error_codes` looks at them.
_TRUE_PAGES = [page for page in PAGES if page.name != "errors.md" and any(blocks_of(page))]

_COMMAND = re.compile(rf"\bagentv ({'|'.join(COMMANDS)})\b([^`|#&;]*)")
_OPTION = re.compile(r"(?<![\w-])(--?[a-z][a-z-]*)")
_SPAN = re.compile(r"`([^`]+)`")


@pytest.fixture
def page_environment(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This Python answers to `python3`, and what a page writes can be imported while it is told."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin")
    monkeypatch.syspath_prepend(project.folder)
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(project.folder)):
            del sys.modules[name]


@pytest.mark.parametrize("page", _TRUE_PAGES, ids=page_id)
@pytest.mark.usefixtures("page_environment")
def test_a_page_is_true_from_top_to_bottom(page: Path, project: Project) -> None:
    """Its files, programs and commands are run in order; then all its files are valid."""
    story = Story(page, project)
    story.tell()
    story.assert_prompts()
    if page.is_relative_to(ROOT / "examples") or not story.sources:
        return
    assert not (mistakes := list(story.mistakes())), "\n".join(mistakes)


def test_workflow_files_are_yaml() -> None:
    for block in (block for page in PAGES for block in blocks_of(page)):
        if block.file and block.file.startswith(".github/"):
            assert "jobs" in parse_yaml(block.text), block.place


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_commands_have_the_options_that_are_shown(page: Path) -> None:
    """In code blocks and in prose alike."""
    texts = [
        *((place(page, number), line) for number, line in prose_of(page)),
        *(
            (place(page, block.line + offset), line)
            for block in blocks_of(page)
            for offset, line in enumerate(block.text.splitlines())
        ),
    ]
    for where, line in texts:
        for name, rest in _COMMAND.findall(line):
            for option in _OPTION.findall(rest):
                assert option in _options_of(name), f"{where}: `agentv {name}` has no {option}"


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_options_named_in_prose_exist(page: Path) -> None:
    known = {option for name in COMMANDS for option in _options_of(name)} | {"--version"}
    for number, line in prose_of(page):
        for span in _SPAN.findall(line):
            if re.match(r"--[a-z]", span):
                option = re.split(r"[ =]", span)[0]
                assert option in known, f"{place(page, number)}: no command has {option}"


def _options_of(name: str) -> set[str]:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    below = list(command.commands.values()) if isinstance(command, click.Group) else []
    parameters = [parameter for own in (command, *below) for parameter in own.params]
    return {option for parameter in parameters for option in parameter.opts} | {"--help", "-h"}
