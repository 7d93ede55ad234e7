"""What a run leaves besides its rows, and what it prints where."""

import json
from typing import Any

import pytest

from agentv.errors import ExitCode
from agentv.loading.yaml12 import parse_yaml
from agentv.testing import Outcome, Project
from story import case, command, contains, mock, suite, targets

FOUR = contains("four")


def start(project: Project, *cases: Any) -> Project:
    return project.write(
        {
            "a.eval.yaml": suite(*(cases or (case("good", FOUR), case("bad", contains("five"))))),
            "targets.yaml": targets(mock("It is four.")),
        }
    )


def run(project: Project, *options: str) -> Outcome:
    return project.run("eval", "a.eval.yaml", *options)


class TestJson:
    def test_it_is_one_document_and_nothing_else(self, project: Project) -> None:
        outcome = run(start(project), "--json", "--verbose")
        found = outcome.json

        assert outcome.code == found["exit_code"] == ExitCode.GATE_FAILED
        assert (found["counts"]["passed"], found["counts"]["failed"]) == (1, 1)
        assert found["gate"]["holds"] is False
        assert "Running 2 trials" in outcome.err

    def test_mistakes_in_files_are_those_of_validate(self, project: Project) -> None:
        start(project, case("sum", {"type": "contians", "value": "x"}), case("sum"))
        outcome = run(project, "--json")
        found = outcome.json

        assert outcome.code == found["exit_code"] == ExitCode.USAGE
        assert (
            found["problems"] == project.run("validate", "a.eval.yaml", "--json").json["problems"]
        )
        assert found["error"] == f"{len(found['problems'])} mistakes in files"
        assert {problem["code"] for problem in found["problems"]} >= {"unknown-evaluator"}

    @pytest.mark.parametrize(
        ("arguments", "code", "says"),
        [
            pytest.param(("eval", "gone.yaml"), ExitCode.USAGE, "no such file", id="no file"),
            pytest.param(("eval", "a.eval.yaml", "--wrkers", "2"), 2, "--wrkers", id="option"),
            pytest.param(("eval", "a.eval.yaml", "--export", "x.doc"), 2, ".doc", id="suffix"),
            pytest.param(
                ("eval", "a.eval.yaml", "--eval-id", "x"), ExitCode.NOTHING, "'x'", id="filter"
            ),
            pytest.param(("show", "nothing"), ExitCode.USAGE, "no run 'nothing'", id="no run"),
            pytest.param(("validate", "gone.yaml"), ExitCode.USAGE, "gone.yaml", id="validate"),
        ],
    )
    def test_other_errors_are_a_document_too(
        self, project: Project, arguments: tuple[str, ...], code: int, says: str
    ) -> None:
        outcome = start(project).run(*arguments, "--json")

        assert outcome.code == outcome.json["exit_code"] == code
        assert says in outcome.json["error"]
        assert says in outcome.err


class TestQuiet:
    def test_results_without_progress(self, project: Project) -> None:
        outcome = run(start(project), "-q")

        assert outcome.err == ""
        assert "2 planned, 1 passed, 1 failed" in outcome.out

    def test_warnings_are_not_progress(self, project: Project) -> None:
        project.write(
            {
                "a.eval.yaml": suite(case("sum", FOUR)),
                "targets.yaml": targets(
                    mock("four", provider_batching=True, batch_error="no capacity")
                ),
            }
        )
        assert "warning: the batch for target 'default'" in run(project, "-q").err


class TestRunFolder:
    def test_out_names_it(self, project: Project) -> None:
        run(start(project), "--out", "runs/first")

        assert len(project.rows("runs/first")) == 2
        assert not (project.folder / ".agentv").exists()
        assert project.run("show", "runs/first").code == ExitCode.GATE_FAILED

    def test_the_same_folder_twice_is_refused_before_anything_runs(self, project: Project) -> None:
        run(start(project), "--out", "first")
        before = (project.folder / "first/results.jsonl").read_bytes()
        outcome = run(project, "--out", "first")

        assert outcome.code == ExitCode.USAGE
        assert "already holds a run" in outcome.err
        assert (project.folder / "first/results.jsonl").read_bytes() == before

    def test_the_manifest_says_what_was_asked(self, project: Project) -> None:
        run(start(project), "--out", "first", "--max-retries", "0", "--threshold", "0")
        manifest = json.loads((project.folder / "first/run.json").read_text())

        assert manifest["arguments"] == {
            "paths": ["a.eval.yaml"],
            "out": "first",
            "max_retries": 0,
            "threshold": 0.0,
            "dry_run_delay": 0.0,
            "seed": 0,
        }
        [planned] = manifest["suites"]
        assert (planned["path"], planned["cases"], planned["trials"]) == ("a.eval.yaml", 2, 2)
        assert (planned["threshold"], planned["min_pass_rate"]) == (0.0, 1.0)
        assert [target["name"] for target in manifest["targets"]] == ["default"]


class TestExports:
    def test_rows_in_every_format(self, project: Project) -> None:
        run(start(project), "--export", "out/rows.jsonl", "--export", "rows.yaml")
        jsonl = (project.folder / "out/rows.jsonl").read_text().splitlines()
        documents = (project.folder / "rows.yaml").read_text().split("---\n")

        assert [json.loads(line) for line in jsonl] == project.rows()
        assert [parse_yaml(text) for text in documents if text.strip()] == project.rows()

    def test_an_unknown_suffix_is_refused_before_anything_runs(self, project: Project) -> None:
        outcome = run(start(project), "--export", "rows.xls")

        assert outcome.code == ExitCode.USAGE
        assert "'.xls'" in outcome.err
        assert not (project.folder / ".agentv").exists()

    def test_a_file_that_cannot_be_written_costs_neither_rows_nor_summary(
        self, project: Project
    ) -> None:
        start(project).write({"taken/inside": ""})
        options = ("--export", "taken/inside/x.jsonl", "--export", "good.jsonl")
        outcome = run(project, *options, "--min-pass-rate", "0")

        assert outcome.code == ExitCode.USAGE
        assert "taken/inside/x.jsonl cannot be written" in outcome.err
        assert "2 planned, 1 passed" in outcome.out
        assert (project.folder / "good.jsonl").exists()
        assert len(project.rows()) == 2


class TestDumpedPrompts:
    def test_one_file_a_case_with_a_safe_name(self, project: Project) -> None:
        ids = ["../../etc/passwd", "a/b", "é ü", "a b", ".hidden", "x" * 300, "CON", "..."]
        start(project, *(case(id_, FOUR, question=f"Who is {id_}?") for id_ in ids))
        run(project, "--dump-prompts", "prompts")
        files = sorted((project.folder / "prompts").iterdir())
        dumped = [json.loads(file.read_text()) for file in files]

        assert {entry["eval_id"] for entry in dumped} == set(ids)
        assert all(entry["raw_request"]["question"].startswith("Who is ") for entry in dumped)
        assert all(
            (entry["suite"], entry["target"]) == ("a.eval.yaml", "default") for entry in dumped
        )
        for file in files:
            assert file.name.isascii()
            assert len(file.name) < 100
            assert not file.name.startswith(".")
            assert not {*' /\\:*?"<>|'} & {*file.name}

    def test_a_folder_of_its_own_when_none_is_named(self, project: Project) -> None:
        run(start(project), "--dump-prompts")

        assert len(list((project.folder / ".agentv/prompts").iterdir())) == 2

    def test_a_dry_run_dumps_them_too(self, project: Project) -> None:
        run(start(project), "--dry-run", "--dump-prompts", "prompts")

        assert len(list((project.folder / "prompts").iterdir())) == 2

    def test_a_folder_that_vanishes_aborts_the_run_and_keeps_its_rows(
        self, project: Project
    ) -> None:
        start(project, case("one", FOUR), case("two", FOUR))
        project.write({"targets.yaml": targets(command("rm -r prompts; echo four"))})
        outcome = run(project, "--dump-prompts", "prompts")

        assert outcome.code == ExitCode.ERRORS
        assert "Run aborted: prompts/one." in outcome.err
        assert project.rows()[0]["eval_id"] == "one"

    def test_a_folder_that_cannot_be_made_is_said_before_anything_runs(
        self, project: Project
    ) -> None:
        """`--dump-prompts a.eval.yaml b.eval.yaml` takes the first file for its folder."""
        outcome = run(start(project), "--dump-prompts", "targets.yaml")

        assert outcome.code == ExitCode.USAGE
        assert "--dump-prompts targets.yaml: File exists" in outcome.err
        assert not (project.folder / ".agentv").exists()
