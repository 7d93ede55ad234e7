"""Everything a run needs, loaded and checked together."""

import pytest
from loaded import CASE, MOCK, context, lines, load, said, suite

from agentv.loading.workspace import Workspace, load_workspace, used_targets
from agentv.testing import Project

TWO = MOCK + "  - {name: other, provider: mock, response: ho, judge_target: judge}\n"
THREE = TWO + "  - {name: judge, provider: mock, response: '{}'}\n"
IS_JSON = "evaluator: is_json\n"


def both(project: Project, **known: object) -> Workspace:
    """Two suites of one project."""
    paths = [project.folder / name for name in ("a.eval.yaml", "b.eval.yaml")]
    return load_workspace(paths, context(project, **known))  # type: ignore[arg-type]


def test_mistakes_of_shared_files_are_said_once(project: Project) -> None:
    project.write(
        {
            "targets.yaml": MOCK.replace("hi", "hi, wrkers: 1"),
            ".agentv.yaml": "x: 1\n",
            "a.eval.yaml": f"evalcases:\n{CASE}",
            "b.eval.yaml": f"evalcases:\n{CASE}    nte: x\n",
        }
    )
    assert [line.split("  ")[0] for line in lines(both(project).problems, project.folder)] == [
        *(".agentv.yaml:1:1", "b.eval.yaml:5:5", "targets.yaml:2:51")
    ]


def test_a_file_that_cannot_be_read_does_not_hide_the_next(project: Project) -> None:
    project.write(
        {"targets.yaml": MOCK, "a.eval.yaml": "[", "b.eval.yaml": f"evalcases:\n{CASE}    nte: x\n"}
    )
    assert [problem.file for problem in both(project).problems] == ["a.eval.yaml", "b.eval.yaml"]


def test_warnings_forbid_nothing(project: Project) -> None:
    marked = CASE.replace("content: Hello", 'content: "@[User]:"')
    project.write({"a.eval.yaml": f"evalcases:\n{marked}"})
    workspace = load(project)
    assert [problem.severity for problem in workspace.problems] == ["warning"]
    assert workspace.errors == []


@pytest.mark.parametrize(
    ("text", "asked", "expected"),
    [
        (f"{IS_JSON}evalcases:\n{CASE}", (), ["default"]),
        (f"evalcases:\n{CASE}", (), ["default"]),
        (f"target: other\nevalcases:\n{CASE}", (), ["other", "judge"]),
        (f"{IS_JSON}target: other\nevalcases:\n{CASE}", (), ["other"]),
        (f"evalcases:\n{CASE}    execution: {{target: other}}\n", (), ["other", "judge"]),
        (f"evalcases:\n{CASE}", ("other", "default"), ["other", "default", "judge"]),
        (
            f"evalcases:\n{CASE}    evaluators: [{{type: llm_judge, target: judge}}]\n",
            ("other",),
            ["other", "judge"],
        ),
        (
            f"evalcases:\n{CASE}    evaluators: [{{type: llm_judge, target: default}}]\n",
            ("other",),
            ["other", "default"],
        ),
    ],
    ids=[
        *("no judge", "judged by itself", "judged by another", "a judge not needed"),
        *("only a case's own", "asked for", "a judge named twice", "an evaluator's own judge"),
    ],
)
def test_targets_that_a_run_calls(
    project: Project, text: str, asked: tuple[str, ...], expected: list[str]
) -> None:
    """Those of cases and those of judges, and no target that nobody would ask."""
    project.write({"targets.yaml": THREE, "a.eval.yaml": text})
    assert used_targets(suite(project, target_names=asked)) == expected


def test_only_targets_in_use_must_be_ready(project: Project) -> None:
    unready = MOCK + "  - {name: other, provider: mock, response: '${{ UNSET }}'}\n"
    pinned = CASE.replace("one", "two") + "    execution: {target: other}\n"
    project.write({"targets.yaml": unready, "a.eval.yaml": f"evalcases:\n{CASE}{pinned}"})
    assert [line.split(";")[0] for line in said(project)] == [
        "targets.yaml:3:45  targets[1].response  "
        "the variable UNSET is not set, and target 'other' needs it for 'response'"
    ]
    assert said(project, select=lambda id_: id_ == "one") == []
    assert said(project, resolve=False) == []
    assert said(project, env={"UNSET": "set"}) == []


def test_a_default_that_no_case_uses_need_not_be_ready(project: Project) -> None:
    """Shared targets files often begin with a default that not everybody can call."""
    shared = TWO.replace("mock, response: hi", "codex").replace(", judge_target: judge", "")
    pinned = CASE + "    execution: {target: other}\n"
    project.write({"targets.yaml": shared, "a.eval.yaml": f"evalcases:\n{pinned}"})
    assert said(project) == []


def test_targets_that_were_asked_for_must_exist(project: Project) -> None:
    project.write({"targets.yaml": THREE, "a.eval.yaml": f"evalcases:\n{CASE}"})
    assert said(project, target_names=("othr", "zzz")) == [
        "a.eval.yaml  --target 'othr' is not in targets.yaml; did you mean 'other'?",
        "a.eval.yaml  --target 'zzz' is not in targets.yaml; it has default, other, judge",
    ]


def test_the_same_name_may_mean_two_things_in_two_projects(project: Project) -> None:
    for name, answer in (("x", "one"), ("y", "two")):
        project.write(
            {
                f"{name}/targets.yaml": MOCK.replace("hi", answer),
                f"{name}/a.eval.yaml": f"evalcases:\n{CASE}",
            }
        )
    paths = [project.folder / name / "a.eval.yaml" for name in ("x", "y")]
    workspace = load_workspace(paths, context(project))
    answers = [workspace.target(loaded, "default").settings for loaded in workspace.suites]
    assert [settings["response"] for settings in answers] == ["one", "two"]
