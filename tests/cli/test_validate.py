"""`agentv validate` names every mistake, where it is and what would be right."""

import pytest

from agentv.errors import ExitCode
from agentv.testing import Project
from story import case, contains, mock, suite, targets

TYPOS = """\
evalcases:
  - id: one
    outcome: Says four.
    input_mesages:
      - role: user
        content: 2 + 2?
    evaluators:
      - type: contians
        value: four
  - id: one
    outcome: Says five.
    input_messages:
      - role: usr
        content: 2 + 3?
    evaluators:
      - type: contains
        vlaue: five
"""
FOUR = contains("four")
GOOD = {"a.eval.yaml": suite(case("sum", FOUR)), "targets.yaml": targets(mock("four"))}


def test_everything_is_right(project: Project) -> None:
    outcome = project.write(GOOD).run("validate")

    assert (outcome.code, outcome.err) == (ExitCode.OK, "")
    assert outcome.out == "valid: 2 files, 1 eval case, 0 errors\n"


def test_every_mistake_of_a_file_is_reported_at_once_with_its_place(project: Project) -> None:
    outcome = project.write({**GOOD, "b.eval.yaml": TYPOS}).run("validate", "b.eval.yaml")

    assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
    found = [line.split("  ")[:2] for line in outcome.err.splitlines()]
    assert found[:-1] == [
        ["b.eval.yaml:4:5", "evalcases[0].input_mesages"],
        ["b.eval.yaml:8:15", "evalcases[0].evaluators[0].type"],
        ["b.eval.yaml:10:9", "evalcases[1].id"],
        ["b.eval.yaml:13:15", "evalcases[1].input_messages[0].role"],
        ["b.eval.yaml:17:9", "evalcases[1].evaluators[0].vlaue"],
    ]
    for near in ("'input_messages'", "'contains'", "'user'", "'value'"):
        assert near in outcome.err
    assert outcome.err.splitlines()[-1].startswith("not valid: 1 file, 2 eval cases, 5 errors")


def test_eval_and_validate_agree(project: Project) -> None:
    project.write({**GOOD, "b.eval.yaml": TYPOS})
    checked = project.run("validate", "b.eval.yaml")
    refused = project.run("eval", "b.eval.yaml")

    assert checked.code == refused.code == ExitCode.USAGE
    assert checked.err.splitlines()[:-1] == refused.err.splitlines()


def test_json_has_the_same_mistakes(project: Project) -> None:
    project.write({**GOOD, "b.eval.yaml": TYPOS})
    outcome = project.run("validate", ".", "--json")
    found = outcome.json

    assert (outcome.code, outcome.err) == (ExitCode.USAGE, "")
    assert (found["valid"], found["exit_code"]) == (False, ExitCode.USAGE)
    assert {file["file"]: (file["kind"], file["valid"]) for file in found["files"]} == {
        "a.eval.yaml": ("eval", True),
        "b.eval.yaml": ("eval", False),
        "targets.yaml": ("targets", True),
    }
    first = found["problems"][0]
    assert (first["file"], first["line"], first["column"]) == ("b.eval.yaml", 4, 5)
    assert first["path"] == "evalcases[0].input_mesages"
    assert {"severity", "code", "message", "hint"} <= set(first)


@pytest.mark.parametrize(
    ("files", "code"),
    [
        pytest.param({}, ExitCode.NOTHING, id="nothing to check"),
        pytest.param({"other.yaml": "services: {}\n"}, ExitCode.NOTHING, id="nothing of ours"),
        pytest.param({**GOOD, "a.eval.yaml": suite()}, ExitCode.NOTHING, id="no cases"),
        pytest.param({**GOOD, "a.eval.yaml": "evalcases: ["}, ExitCode.USAGE, id="not YAML"),
        pytest.param(
            {**GOOD, "targets.yaml": targets(mock("x"), mock("y"))}, ExitCode.USAGE, id="targets"
        ),
        pytest.param(
            {**GOOD, "targets.yaml": targets(mock("${{ NOT_SET_ANYWHERE }}"))},
            ExitCode.USAGE,
            id="variable",
        ),
        pytest.param(
            {**GOOD, ".agentv.yaml": "guideline_paterns: []\n"}, ExitCode.USAGE, id="config"
        ),
    ],
)
def test_the_exit_code_is_for_a_gate(
    project: Project, files: dict[str, str], code: ExitCode
) -> None:
    assert project.write(files).run("validate", ".").code == code


def test_a_warning_counts_only_when_strict(project: Project) -> None:
    """A marker in a text may be what a case is about, or a slip."""
    spoken = case("sum", FOUR, question="@[User]:\n2 + 2?")
    project.write({**GOOD, "a.eval.yaml": suite(spoken)})
    lenient, strict = project.run("validate"), project.run("validate", "--strict")

    assert (lenient.code, strict.code) == (ExitCode.OK, ExitCode.USAGE)
    assert "warning:" in lenient.err
    assert "1 warning" in lenient.out


def test_quiet_says_nothing_when_all_is_well(project: Project) -> None:
    outcome = project.write(GOOD).run("validate", "-q")

    assert (outcome.code, outcome.out, outcome.err) == (ExitCode.OK, "", "")


def test_a_secret_is_not_asked_for_where_nothing_calls_its_target(project: Project) -> None:
    """A suite needs the variables of the targets it calls, and of no others."""
    project.write({**GOOD, "targets.yaml": targets(mock("x"), mock("${{ UNSET }}", name="other"))})

    assert project.run("validate", "a.eval.yaml").code == ExitCode.OK
    assert project.run("validate", "targets.yaml").code == ExitCode.USAGE
