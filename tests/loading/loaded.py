"""Load files of a project, and say what is wrong with them the way a person reads it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentv.loading.suites import LoadContext, LoadedSuite
from agentv.loading.targets import Targets, load_targets
from agentv.loading.workspace import Workspace, load_workspace
from agentv.model.problem import Problem
from agentv.registry import Registry
from agentv.testing import Project

MOCK = "targets:\n  - {name: default, provider: mock, response: hi}\n"
"""A targets file that most suites get along with."""

CASE = """\
  - id: one
    outcome: A greeting.
    input_messages: [{role: user, content: Hello}]
"""


def context(project: Project, env: Mapping[str, str] | None = None, **known: Any) -> LoadContext:
    """What loading knows in a test: the project, and the environment it is given."""
    return LoadContext(
        **{"cwd": project.folder, "process_env": env or {}, "registry": Registry(), **known}
    )


def load(
    project: Project,
    name: str = "a.eval.yaml",
    env: Mapping[str, str] | None = None,
    *,
    resolve: bool = True,
    **known: Any,
) -> Workspace:
    """One eval file with all it needs; a targets file is put beside it if there is none."""
    _with_targets(project)
    return load_workspace([project.folder / name], context(project, env, **known), resolve=resolve)


def suite(project: Project, name: str = "a.eval.yaml", **known: Any) -> LoadedSuite:
    """The one suite of a project, which must be without mistakes."""
    workspace = load(project, name, **known)
    assert not workspace.problems, "\n".join(map(str, workspace.problems))
    (loaded,) = workspace.suites
    return loaded


def said(project: Project, name: str = "a.eval.yaml", **known: Any) -> list[str]:
    """Every problem of an eval file as a line."""
    return lines(load(project, name, **known).problems, project.folder)


def said_of(project: Project, text: str, **known: Any) -> list[str]:
    """Every problem of an eval file with this text."""
    return said(project.write({"a.eval.yaml": text}), **known)


def targets(project: Project, text: str, name: str = "targets.yaml") -> Targets:
    """A targets file with this text, which may have mistakes."""
    project.write({name: text})
    return load_targets(project.folder / name, project.folder, Registry())


def lines(problems: list[Problem], folder: Path) -> list[str]:
    """Problems as lines; the test's own folder shows as `/project`."""
    return [str(problem).replace(str(folder), "/project") for problem in problems]


def _with_targets(project: Project) -> None:
    found = [*project.folder.rglob("targets.yaml"), *project.folder.rglob("targets.yml")]
    if not found:
        project.write({"targets.yaml": MOCK})
