"""Which globs make a file a guideline, and what reading a case makes of that."""

import pytest
from loaded import CASE, MOCK, lines, said, suite

from agentv.core.guidelines import DEFAULT_PATTERNS
from agentv.loading.config import load_guideline_patterns
from agentv.model.problem import LoadError
from agentv.model.request import GuidelineSegment
from agentv.testing import Project

SUITE = "evals/deep/a.eval.yaml"


def patterns(project: Project) -> tuple[str, ...]:
    """The globs that hold for the suite."""
    project.write({SUITE: f"evalcases:\n{CASE}"})
    return suite(project, SUITE).suite.guideline_patterns


def guidelines(project: Project, *references: str) -> list[str]:
    """Which of some references are read as guidelines."""
    parts = "".join(f"\n          - {{type: file, value: {name}}}" for name in references)
    messages = f"    input_messages:\n      - role: user\n        content:{parts}\n"
    project.write({SUITE: f"evalcases:\n  - id: one\n    outcome: x\n{messages}"})
    loaded = suite(project, SUITE)
    (case,) = loaded.suite.cases
    (turn,) = loaded.turns.turns(case.input_messages)
    return [s.path for s in turn.segments if isinstance(s, GuidelineSegment)]


def test_load_custom_guideline_patterns(project: Project) -> None:
    """Scenario "Load custom guideline patterns": they replace the defaults."""
    project.write(
        {
            "evals/deep/.agentv.yaml": "guideline_patterns: ['**/RULES.md']\n",
            "evals/deep/RULES.md": "Be brief.",
            "evals/deep/a.instructions.md": "Be kind.",
        }
    )
    assert patterns(project) == ("**/RULES.md",)
    assert guidelines(project, "RULES.md", "a.instructions.md") == ["RULES.md"]


def test_use_defaults_when_config_absent(project: Project) -> None:
    """Scenario "Use defaults when config absent"."""
    assert (
        patterns(project)
        == DEFAULT_PATTERNS
        == (
            *("**/*.instructions.md", "**/instructions/**"),
            *("**/*.prompt.md", "**/prompts/**"),
        )
    )


def test_match_files_with_glob_patterns(project: Project) -> None:
    """Scenario "Match files with glob patterns": on the path from the repository root.

    How the author wrote the reference does not matter, nor does a file of the same name elsewhere.
    """
    project.write(
        {
            ".agentv/config.yaml": "guideline_patterns: ['docs/*.md', 'evals/**/rules/*']\n",
            "docs/a.md": "A",
            "docs/deep/b.md": "B",
            "evals/docs/c.md": "C",
            "evals/deep/rules/d.txt": "D",
        }
    )
    assert guidelines(
        project,
        *("../../docs/a.md", "docs/deep/b.md", "docs/c.md", "rules/d.txt", "/docs/a.md"),
    ) == ["../../docs/a.md", "rules/d.txt", "/docs/a.md"]


def test_whose_configuration_wins(project: Project) -> None:
    """The suite's folder, then `.agentv/config.yaml` from there upwards, nearest first."""
    for name in (
        ".agentv/config.yaml",
        "evals/.agentv/config.yaml",
        "evals/deep/.agentv/config.yaml",
        "evals/deep/.agentv.yaml",
    ):
        project.write({name: f"$schema: agentv-config-v2\nguideline_patterns: ['{name}']\n"})
        assert patterns(project) == (name,)


def test_files_that_do_not_count(project: Project) -> None:
    """`.agentv.yaml` of another folder, and whatever lies outside the repository."""
    project.write(
        {
            "evals/.agentv.yaml": "guideline_patterns: [x]\n",
            "outside/.agentv/config.yaml": "guideline_patterns: [y]\n",
            "outside/repo/.git/HEAD": "",
            "targets.yaml": MOCK,
            "outside/repo/targets.yaml": MOCK,
            "outside/repo/a.eval.yaml": f"evalcases:\n{CASE}",
        }
    )
    assert patterns(project) == DEFAULT_PATTERNS
    name = "outside/repo/a.eval.yaml"
    here = project.folder / "outside"
    assert suite(project, name, cwd=here).suite.guideline_patterns == DEFAULT_PATTERNS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("guideline_patterns: []\n", ()),
        ("$schema: agentv-config-v2\n", DEFAULT_PATTERNS),
        ("guideline_patterns:\n", DEFAULT_PATTERNS),
    ],
    ids=["no guidelines at all", "nothing said", "left open"],
)
def test_what_a_configuration_leaves_open(
    project: Project, text: str, expected: tuple[str, ...]
) -> None:
    project.write({".agentv/config.yaml": text})
    assert patterns(project) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "guidline_patterns: [x]\n",
            ".agentv/config.yaml:1:1  guidline_patterns  unknown key 'guidline_patterns'; "
            "did you mean 'guideline_patterns'?",
        ),
        (
            "guideline_patterns: '**/*.md'\n",
            ".agentv/config.yaml:1:21  guideline_patterns  "
            "expected a list, found the text '**/*.md'; put it in a list",
        ),
        (
            "guideline_patterns: [a, '']\n",
            ".agentv/config.yaml:1:25  guideline_patterns[1]  must not be empty",
        ),
        (
            "$schema: agentv-config-v1\n",
            ".agentv/config.yaml:1:10  $schema  unknown $schema 'agentv-config-v1'; "
            "did you mean 'agentv-config-v2'?",
        ),
        (
            "# nothing\n",
            ".agentv/config.yaml:1:1  the file is empty; "
            "write `guideline_patterns:`, or delete the file",
        ),
        ("- x\n", ".agentv/config.yaml:1:1  expected a mapping, found a list"),
    ],
    ids=["misspelt", "no list", "blank glob", "schema", "empty", "a list"],
)
def test_an_invalid_configuration_is_an_error(project: Project, text: str, expected: str) -> None:
    """There is no silent fallback; and it does not hide what is wrong with the suite."""
    project.write({".agentv/config.yaml": text, "a.eval.yaml": f"evalcases:\n{CASE}    nte: x\n"})
    assert said(project) == [
        expected,
        "a.eval.yaml:5:5  evalcases[0].nte  unknown key 'nte'; did you mean 'note'?",
    ]
    with pytest.raises(LoadError) as caught:
        load_guideline_patterns(project.folder / ".agentv" / "config.yaml", project.folder)
    assert lines(list(caught.value.problems), project.folder) == [expected]
