"""`agentv init` writes a starter that runs at once, and never takes what is yours."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

from agentv.errors import ExitCode
from agentv.loading.yaml12 import parse_yaml
from agentv.testing import Project
from terminal import on_terminal

WRITTEN = {
    "evals/first.eval.yaml",
    "targets.yaml",
    ".agentv/.gitignore",
    *(f".agentv/schemas/{kind}.schema.json" for kind in ("eval", "targets", "config")),
}


def files_below(folder: Path) -> set[str]:
    found = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {path.as_posix() for path in found if path.parts[0] != ".git"}


def test_the_starter_runs_at_once(project: Project) -> None:
    assert project.run("init").code == ExitCode.OK
    assert files_below(project.folder) == WRITTEN
    assert project.run("validate", "--strict").code == ExitCode.OK
    outcome = project.run("eval", "evals")

    assert outcome.code == ExitCode.OK
    assert "3 planned, 3 passed" in outcome.out


def test_what_is_said_to_do_next_can_be_typed(project: Project) -> None:
    outcome = project.run("init", "my evals")

    assert "  cd 'my evals' && agentv eval evals " in outcome.out
    assert files_below(project.folder / "my evals") == WRITTEN


def test_runs_stay_out_of_version_control(project: Project) -> None:
    project.run("init")
    project.run("eval", "evals", "--dump-prompts")
    ignored = (project.folder / ".agentv/.gitignore").read_text().split()

    assert {"results/", "prompts/"} <= set(ignored)
    assert {path.name for path in (project.folder / ".agentv").iterdir()} == {
        *(".gitignore", "schemas", "results", "prompts")
    }


def test_what_is_there_is_kept(project: Project) -> None:
    """Off a terminal nobody can be asked."""
    project.write({"targets.yaml": "mine: true\n"})
    outcome = project.run("init")

    assert outcome.code == ExitCode.OK
    assert "kept     targets.yaml (yours differs; --force overwrites it)" in outcome.out
    assert (project.folder / "targets.yaml").read_text() == "mine: true\n"
    assert (project.folder / "evals/first.eval.yaml").exists()


def test_force_overwrites_what_differs_and_leaves_what_is_the_same(project: Project) -> None:
    project.run("init")
    project.write({"targets.yaml": "mine: true\n"})
    outcome = project.run("init", "--force")

    assert "replaced targets.yaml" in outcome.out
    assert outcome.out.count("same ") == len(WRITTEN) - 1
    assert project.run("eval", "evals").code == ExitCode.OK


@pytest.mark.parametrize(("answer", "is_kept"), [("n", True), ("y", False)])
def test_on_a_terminal_it_asks(project: Project, answer: str, is_kept: bool) -> None:
    project.write({"targets.yaml": "mine: true\n"})
    with on_terminal(project.folder, "init") as terminal:
        terminal.wait_for("Overwrite it? [y/N]")
        terminal.type(f"{answer}\r")
        assert terminal.end() == ExitCode.OK

    assert ((project.folder / "targets.yaml").read_text() == "mine: true\n") is is_kept


def test_a_folder_that_cannot_be_made(project: Project) -> None:
    project.write({"evals": "a file\n"})
    outcome = project.run("init")

    assert outcome.code == ExitCode.USAGE
    assert "evals/first.eval.yaml cannot be written" in outcome.err


@pytest.mark.parametrize(
    ("name", "kind"), [("evals/first.eval.yaml", "eval"), ("targets.yaml", "targets")]
)
def test_editors_find_a_schema_that_the_file_keeps_to(
    project: Project, name: str, kind: str
) -> None:
    project.run("init")
    file = project.folder / name
    comment = re.match(r"# yaml-language-server: \$schema=(\S+)", file.read_text())
    assert comment is not None
    schema = json.loads((file.parent / comment[1]).read_text())

    assert schema == project.run("schema", kind).json
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(parse_yaml(file.read_text()))
