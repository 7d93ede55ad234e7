"""From arguments to files, each of a known kind."""

import pytest

from agentv.errors import AuthorError
from agentv.loading.discover import discover, kind_of
from agentv.testing import Project

EVAL, TARGETS, CONFIG = "evalcases: []\n", "targets: []\n", "guideline_patterns: []\n"


def found(project: Project, *arguments: str) -> dict[str, str]:
    """The files that arguments name, with their kinds."""
    files = discover(arguments, project.folder).files
    return {str(path.relative_to(project.folder)): kind for path, kind in files.items()}


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.yaml", EVAL, "eval"),
        ("a.yaml", '"evalcases": []\n', "eval"),
        ("a.yaml", "\ufeffevalcases: []\n", "eval"),
        ("a.yaml", "target: x\r\nevalcases : []\r\n", "eval"),
        ("a.yaml", f"# {'long' * 50_000}\n{EVAL}", "eval"),
        ("a.yaml", "$schema: agentv-eval-v2\n", "eval"),
        ("a.yaml", TARGETS, "targets"),
        ("a.yaml", "$schema: agentv-targets-v2.2\n", "targets"),
        ("a.yaml", CONFIG, "config"),
        ("a.yaml", "$schema: agentv-config-v2\n", "config"),
        ("a.yaml", "target: default\nevalcase: []\n", "eval"),
        ("a.yaml", "targts: []\n", "targets"),
        ("a.yaml", "guidelines_patterns: []\n", "config"),
        ("a.eval.yaml", "", "eval"),
        (".agentv.yaml", "", "config"),
        (".agentv/config.yaml", "# nothing\n", "config"),
        (".agentv/targets.yaml", "", "targets"),
        ("a.yaml", "", None),
        ("a.yaml", "services: {}\n", None),
        ("a.yaml", "cases: []\n", None),
        ("a.yaml", "target: default\ndescription: x\n", None),
        ("a.yaml", "other:\n  evalcases: []\n", None),
    ],
)
def test_kinds_of_files(project: Project, name: str, content: str, kind: str | None) -> None:
    """A typo in the one key that makes a file ours leads to an error, not to silence."""
    project.write({name: content})
    assert kind_of(project.folder / name) == kind


def test_a_named_file_is_taken_whatever_it_is(project: Project) -> None:
    project.write({"notes.txt": "hello", "x.yaml": TARGETS})
    assert found(project, "notes.txt", "x.yaml") == {"notes.txt": "eval", "x.yaml": "targets"}


def test_folders_are_searched_for_files_of_ours(project: Project) -> None:
    """Hidden folders, environments and runs are passed over; `.agentv` is looked into."""
    project.write(
        {
            "b.yaml": EVAL,
            "a.yml": EVAL,
            "deep/results/c.yaml": EVAL,
            "deep/logs/d.yaml": EVAL,
            "deep/e.json": EVAL,
            ".agentv/targets.yaml": TARGETS,
            ".agentv/results/run/f.yaml": EVAL,
            ".agentv/logs/g.yaml": EVAL,
            ".hidden/h.yaml": EVAL,
            "node_modules/i.yaml": EVAL,
            "venv/j.yaml": EVAL,
            "compose.yaml": "services: {}\n",
        }
    )
    assert found(project, ".") == {
        "a.yml": "eval",
        "b.yaml": "eval",
        ".agentv/targets.yaml": "targets",
        "deep/logs/d.yaml": "eval",
        "deep/results/c.yaml": "eval",
    }
    everything = discover(["."], project.folder)
    assert everything.skipped == [project.folder / "compose.yaml"]
    assert everything.of_kind("targets", "config") == [project.folder / ".agentv" / "targets.yaml"]


def test_globs_are_ours_to_expand(project: Project) -> None:
    project.write({"evals/a.eval.yaml": EVAL, "evals/deep/b.eval.yaml": EVAL, "evals/c.md": ""})
    assert list(found(project, "evals/**/*.yaml")) == [
        "evals/a.eval.yaml",
        "evals/deep/b.eval.yaml",
    ]
    assert list(found(project, "evals/{deep/b,x}.eval.*")) == ["evals/deep/b.eval.yaml"]
    absolute = str(project.folder / "evals" / "*.yaml")
    assert list(found(project, absolute)) == ["evals/a.eval.yaml"]


def test_each_file_once_in_the_order_of_the_arguments(project: Project) -> None:
    project.write({"a.yaml": EVAL, "b.yaml": EVAL})
    assert list(found(project, "b.yaml", "./b.yaml", ".", "*.yaml")) == ["b.yaml", "a.yaml"]


def test_arguments_that_name_nothing_are_all_listed(project: Project) -> None:
    project.write({"first.eval.yaml": EVAL})
    with pytest.raises(AuthorError) as caught:
        discover(["frist.eval.yaml", "lost", "x/*.yaml"], project.folder)
    assert str(caught.value).split("\n") == [
        "frist.eval.yaml: no such file or folder; did you mean 'first.eval.yaml'?",
        "lost: no such file or folder",
        f"x/*.yaml: no YAML file matches this pattern below {project.folder}",
    ]
