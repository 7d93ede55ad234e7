"""A dry run asks nobody, scores nothing, and says so."""

import pytest

from agentv.errors import ExitCode
from agentv.testing import Project
from story import PYTHON, case, command, contains, mock, suite, targets

CRASH = {"type": "code", "script": "touch evaluated; exit 1"}
UNSET = "${{ NO_SUCH_VARIABLE }}"


def test_no_target_is_asked_and_no_evaluator_run(project: Project) -> None:
    project.write(
        {
            "a.eval.yaml": suite(
                case("sum", CRASH, contains("x", negate=True)), case("two", CRASH)
            ),
            "targets.yaml": targets(command(f'{PYTHON} -c \'open("asked", "w")\'')),
        }
    )
    outcome = project.run("eval", "a.eval.yaml", "--dry-run")
    rows = project.rows()

    assert outcome.code == ExitCode.OK
    assert [(row["verdict"], row["score"], row["dry_run"]) for row in rows] == [
        ("skipped", None, True)
    ] * 2
    assert not {"asked", "evaluated"} & {path.name for path in project.folder.iterdir()}


def test_the_summary_and_its_json_say_it_loudly(project: Project) -> None:
    project.write({"a.eval.yaml": suite(case("sum", CRASH)), "targets.yaml": targets(mock("x"))})
    text = project.run("eval", "a.eval.yaml", "--dry-run")
    data = project.run("eval", "a.eval.yaml", "--dry-run", "--json")

    assert "DRY RUN: no target was asked and nothing was scored. This is no verdict." in text.out
    assert "pass rate" not in text.out
    assert "DRY RUN: rehearsing 1 trial" in text.err
    assert data.json["dry_run"] is True
    assert (data.json["counts"]["skipped"], data.json["counts"]["passed"]) == (1, 0)
    assert data.json["gate"]["holds"] is None
    assert "DRY RUN" in project.run("show").out


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(mock(UNSET), id="variable that is not set"),
        pytest.param({"name": "default", "provider": "codex", "model": "m"}, id="no such provider"),
        pytest.param(
            command("x", healthcheck={"type": "command", "command_template": "false"}),
            id="failing health check",
        ),
    ],
)
def test_targets_need_not_be_ready(project: Project, target: dict[str, object]) -> None:
    project.write({"a.eval.yaml": suite(case("sum", CRASH)), "targets.yaml": targets(target)})

    assert project.run("eval", "a.eval.yaml", "--dry-run").code == ExitCode.OK


def test_a_target_that_does_not_exist_is_still_a_mistake(project: Project) -> None:
    project.write(
        {
            "a.eval.yaml": suite(case("sum", CRASH), target="othr"),
            "targets.yaml": targets(mock("x")),
        }
    )
    assert project.run("eval", "a.eval.yaml", "--dry-run").code == ExitCode.USAGE


def test_prompts_are_formatted_for_the_target(project: Project) -> None:
    """The rehearsal shows what would have been sent."""
    agent = command("x", prompt_mode="agent")
    content = [{"type": "file", "value": "table.csv"}, {"type": "text", "value": "Sum it up."}]
    messages = [{"role": "user", "content": content}]
    project.write(
        {
            "a.eval.yaml": suite({**case("sum", CRASH), "input_messages": messages}),
            "targets.yaml": targets(agent),
            "table.csv": "1;2",
        }
    )
    project.run("eval", "a.eval.yaml", "--dry-run")
    [row] = project.rows()

    assert row["raw_request"]["question"] == '<file: path="table.csv">\n\nSum it up.'


def test_rehearsed_answers_may_take_their_time(project: Project) -> None:
    project.write({"a.eval.yaml": suite(case("sum", CRASH)), "targets.yaml": targets(mock("x"))})

    def took(*options: str) -> float:
        assert project.run("eval", "a.eval.yaml", "--dry-run", *options).code == ExitCode.OK
        [row] = project.rows()
        duration: float = row["duration_ms"]
        return duration

    assert took("--dry-run-delay", "60") >= 59
    assert took("--dry-run-delay-min", "40", "--dry-run-delay-max", "50") >= 39


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("--dry-run-delay-min", "9", "--dry-run-delay-max", "3"), id="swapped"),
        pytest.param(("--dry-run-delay-min", "9"), id="half"),
        pytest.param(("--dry-run-delay", "-1"), id="negative"),
    ],
)
def test_delays_that_mean_nothing_are_refused(project: Project, options: tuple[str, ...]) -> None:
    project.write({"a.eval.yaml": suite(case("sum", CRASH)), "targets.yaml": targets(mock("x"))})
    outcome = project.run("eval", "a.eval.yaml", "--dry-run", *options)

    assert outcome.code == ExitCode.USAGE
    assert "--dry-run-delay" in outcome.err
    assert not (project.folder / ".agentv").exists()
