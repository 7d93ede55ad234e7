"""Which run `--resume` means, and what is said where it means none."""

from pathlib import Path

import pytest

from agentv.errors import ExitCode
from agentv.testing import Project
from story import case, contains, mock, suite, targets

NEW = "There is no run to resume yet: a new one begins.\n"


@pytest.fixture
def ran(project: Project) -> Project:
    """A project with a run of its one suite."""
    project.write(
        {
            "evals/a.eval.yaml": suite(
                case("one", contains("four")), case("two", contains("four"))
            ),
            "targets.yaml": targets(mock("four"), mock("four", name="other")),
        }
    )
    assert project.run("eval", "evals").code == ExitCode.OK
    return project


@pytest.mark.parametrize(
    "part",
    [("--eval-id", "one"), ("--target", "other"), ("--shard", "1/2"), ("--dry-run",)],
    ids=lambda part: part[0],
)
def test_another_part_of_the_suites_has_a_run_of_its_own(
    ran: Project, part: tuple[str, ...]
) -> None:
    """The same command can be repeated until it comes to its end, from its first time on."""
    first = ran.run("eval", "evals", "--resume", *part)
    assert (first.code, first.err.startswith(NEW)) == (ExitCode.OK, True)
    again = ran.run("eval", "evals", "--resume", *part)
    assert (again.code, NEW in again.err) == (ExitCode.OK, False)
    assert ran.run("eval", "evals", "--resume", "--json").json["resumed"]["kept"] == 2


def test_a_filter_that_was_forgotten_begins_no_new_run(project: Project) -> None:
    """The answers of the run that was cut short would be paid for again."""
    project.write(
        {
            "a.eval.yaml": suite(case("one", contains("four")), case("two", contains("four"))),
            "targets.yaml": targets(mock("four"), mock("four", name="other")),
        }
    )
    assert project.run("eval", "a.eval.yaml", "--target", "other").code == ExitCode.OK
    [run] = (project.folder / ".agentv" / "results").iterdir()
    cut_short(run)

    outcome = project.run("eval", "a.eval.yaml", "--resume")

    assert outcome.code == ExitCode.USAGE
    assert outcome.err == (
        f"Error: The run {run.name} was started with --target other: go on with just that, or "
        "start a new run.\n"
    )
    assert project.run("eval", "a.eval.yaml", "--resume", "--target", "other").code == ExitCode.OK


def cut_short(run: Path) -> None:
    """What a kill leaves after the first row."""
    rows = (run / "results.jsonl").read_bytes().splitlines(keepends=True)
    (run / "results.jsonl").write_bytes(rows[0])
    (run / "steps.jsonl").touch()


def test_filters_count_whatever_their_order(ran: Project) -> None:
    both = ("--eval-id", "one", "--eval-id", "t*")
    run = ran.run("eval", "evals", *both, "--json").json["run_id"]
    again = ran.run("eval", "evals", "--eval-id", "t*", "--eval-id", "one", "--resume", "--json")
    assert again.json["run_id"] == run


def test_a_run_of_fewer_suites_is_named_before_everything_is_asked_anew(ran: Project) -> None:
    ran.write({"evals/b.eval.yaml": suite(case("three", contains("four")))})
    [run] = (ran.folder / ".agentv" / "results").iterdir()
    said = ran.run("eval", "evals", "--resume").err
    hint = (
        f"(The run {run.name} is of some of these suites; `--resume {run.name}` adds the others.)"
    )
    assert said.startswith(f"{NEW}{hint}\n")
    outcome = ran.run("eval", "evals", "--resume", run.name, "--json")
    assert (outcome.json["resumed"]["kept"], outcome.json["resumed"]["asked"]) == (2, 1)


def test_a_manifest_that_cannot_be_read_is_passed_over_aloud(ran: Project) -> None:
    [run] = (ran.folder / ".agentv" / "results").iterdir()
    (run / "run.json").write_text("{")
    said = ran.run("eval", "evals", "--resume").err
    assert said.startswith(
        f"warning: .agentv/results/{run.name}/run.json is not a manifest that this version of "
        "AgentV understands: Input data was truncated. It is passed over.\n" + NEW
    )


def test_a_run_goes_on_where_it_lies(ran: Project) -> None:
    outcome = ran.run("eval", "evals", "--resume", "latest", "--out", "new")
    assert outcome.code == ExitCode.USAGE
    assert outcome.err == (
        "Error: --resume latest and --out new name two folders: leave --out away, since a run goes "
        "on where it lies.\n"
    )
    assert not (ran.folder / "new").exists()


def test_a_path_that_was_taken_for_a_run(ran: Project) -> None:
    outcome = ran.run("eval", "--resume", "evals")
    assert outcome.code == ExitCode.USAGE
    assert outcome.err.endswith(
        "Error: Missing argument 'PATHS...'. What stands behind --resume is taken for a run: put "
        "the paths before it.\n"
    )
    assert ran.run("eval").err.endswith("Error: Missing argument 'PATHS...'.\n")


@pytest.mark.parametrize("command", ["resume", "rescore", "rerun"])
def test_suites_that_have_another_name_by_now(ran: Project, command: str) -> None:
    """The message says how the run is told."""
    (ran.folder / "evals").rename(ran.folder / "specs")
    outcome = ran.run(command, "latest")
    assert outcome.code == ExitCode.USAGE
    assert outcome.err == (
        f"Error: The run latest was started with evals, which is not in {ran.folder}. Go to the "
        "folder in which it was started; or, where the suites have other names by now, tell the "
        "run with `agentv eval PATHS --resume latest`.\n"
    )
    told = ran.run("eval", "specs", "--resume", "latest", "--json")
    assert told.json["resumed"]["kept"] == 2
    assert ran.run(command, "latest").code == ExitCode.OK
