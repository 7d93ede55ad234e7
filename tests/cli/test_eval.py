"""What `agentv eval` concludes, and what it tells a CI gate."""

import json
from typing import Any

import pytest

from agentv.errors import ExitCode
from agentv.testing import Outcome, Project
from story import by_id, case, command, contains, mock, suite, targets

FOUR = contains("four")
FIVE = contains("five")


def run(
    project: Project, *cases: Any, target: Any = None, options: str = "", **top: Any
) -> Outcome:
    """Run one suite against a target that says "It is four."."""
    project.write(
        {
            "a.eval.yaml": suite(*cases, **top),
            "targets.yaml": targets(target or mock("It is four.")),
        }
    )
    return project.run("eval", "a.eval.yaml", *options.split())


def judged(project: Project, reply: str, *more: dict[str, Any]) -> tuple[Outcome, dict[str, Any]]:
    """A case with a good answer whose judge replies like this; the outcome and its only row."""
    candidate = mock("It is four.", judge_target="judge")
    project.write(
        {
            "a.eval.yaml": suite(case("sum", {"type": "llm_judge"}, *more)),
            "targets.yaml": targets(candidate, mock(reply, name="judge")),
        }
    )
    outcome = project.run("eval", "a.eval.yaml")
    [row] = project.rows()
    return outcome, row


class TestExitCodes:
    def test_all_pass(self, project: Project) -> None:
        """Scenarios: Successful test execution, Mock provider for dry-run."""
        outcome = run(project, case("sum", FOUR))
        [row] = project.rows()

        assert outcome.code == ExitCode.OK
        assert "1 planned, 1 passed, 0 failed, 0 errors" in outcome.out
        assert (row["verdict"], row["score"], row["candidate_answer"]) == (
            "pass",
            1.0,
            "It is four.",
        )
        assert row["raw_request"] == {"question": "?", "guidelines": "", "guideline_paths": []}

    def test_one_fails(self, project: Project) -> None:
        outcome = run(project, case("good", FOUR), case("bad", FIVE))

        assert outcome.code == ExitCode.GATE_FAILED
        assert 'bad (default)  does not contain "five"' in outcome.out
        assert "is below the gate of 1.00 in suite a.eval.yaml (exit 1)" in outcome.out

    def test_one_ends_in_error_and_nothing_else_is_wrong(self, project: Project) -> None:
        """Scenario: Maximum retries exceeded."""
        target = mock(replies={"bad": {"error": "out of memory"}, "*": "It is four."})
        outcome = run(project, case("good", FOUR), case("bad", FOUR), target=target)

        assert outcome.code == ExitCode.ERRORS
        assert "! bad (default)  mock: out of memory" in outcome.out
        assert "only because 1 trial ended in error (exit 3)" in outcome.out

    def test_a_failure_beside_an_error_is_a_failure(self, project: Project) -> None:
        target = mock(replies={"crash": {"error": "out of memory"}, "*": "It is four."})
        outcome = run(project, case("crash", FOUR), case("bad", FIVE), target=target)

        assert outcome.code == ExitCode.GATE_FAILED

    def test_files_that_are_wrong(self, project: Project) -> None:
        outcome = run(project, case("sum", {"type": "contians", "value": "four"}))

        assert outcome.code == ExitCode.USAGE
        assert outcome.out == ""
        assert "evalcases[0].evaluators[0].type" in outcome.err
        assert "contains" in outcome.err
        assert not (project.folder / ".agentv").exists()

    @pytest.mark.parametrize(
        ("content", "options"),
        [
            pytest.param(suite(), "", id="no cases"),
            pytest.param(suite(case("sum", FOUR)), "--eval-id other", id="filter"),
            pytest.param(suite(case("sum"), execution={"evaluators": []}), "", id="no evaluators"),
        ],
    )
    def test_nothing_is_asserted(self, project: Project, content: str, options: str) -> None:
        project.write({"a.eval.yaml": content, "targets.yaml": targets(mock("It is four."))})
        outcome = project.run("eval", "a.eval.yaml", *options.split())

        assert outcome.code == ExitCode.NOTHING
        assert outcome.out == ""

    def test_no_file_at_all(self, project: Project) -> None:
        assert project.run("eval", "nowhere").code == ExitCode.USAGE
        assert project.run("eval").code == ExitCode.USAGE


class TestThresholdsAndGates:
    @pytest.mark.parametrize(
        ("own", "options", "code"),
        [
            pytest.param({}, "", ExitCode.GATE_FAILED, id="defaults"),
            pytest.param({"threshold": 0.5}, "", ExitCode.OK, id="suite threshold"),
            pytest.param({"threshold": 0.5}, "--threshold 0.6", ExitCode.GATE_FAILED, id="flag"),
            pytest.param({}, "--threshold 0", ExitCode.OK, id="threshold of zero"),
            pytest.param({"min_pass_rate": 0.5}, "", ExitCode.OK, id="suite gate"),
            pytest.param(
                {"min_pass_rate": 0.5}, "--min-pass-rate 0.6", ExitCode.GATE_FAILED, id="gate flag"
            ),
            pytest.param({}, "--min-pass-rate 0.5", ExitCode.OK, id="gate flag alone"),
        ],
    )
    def test_flags_win_over_the_suite_and_the_suite_over_defaults(
        self, project: Project, own: dict[str, float], options: str, code: ExitCode
    ) -> None:
        """One case scores 1, the other 0.5."""
        cases = case("whole", FOUR), case("half", FOUR, FIVE)

        assert run(project, *cases, execution=own, options=options).code == code

    def test_each_suite_has_its_own(self, project: Project) -> None:
        half = case("half", FOUR, FIVE)
        project.write(
            {
                "lenient.eval.yaml": suite(half, execution={"threshold": 0.5}),
                "strict.eval.yaml": suite(half),
                "targets.yaml": targets(mock("It is four.")),
            }
        )
        outcome = project.run("eval", ".", "--json")

        assert outcome.code == ExitCode.GATE_FAILED
        gates = {gate["path"]: gate["holds"] for gate in outcome.json["gate"]["suites"]}
        assert gates == {"lenient.eval.yaml": True, "strict.eval.yaml": False}


class TestNeverAPass:
    @pytest.mark.parametrize(
        "reply",
        [
            pytest.param('{"foo": 1}', id="no score"),
            pytest.param('{"score": "1"}', id="text"),
            pytest.param('{"score": true}', id="boolean"),
            pytest.param('{"score": NaN}', id="NaN"),
            pytest.param('{"score": 1e999}', id="infinite"),
            pytest.param("null", id="null"),
            pytest.param("<html>504 Gateway Time-out</html>", id="HTML"),
            pytest.param("", id="nothing"),
            pytest.param("I would give it full marks.", id="prose"),
        ],
    )
    def test_a_judge_that_says_no_verdict(self, project: Project, reply: str) -> None:
        """Scenario: Parse JSON evaluator response (its last sentence)."""
        outcome, row = judged(project, reply)
        [result] = row["evaluator_results"]

        assert outcome.code == ExitCode.GATE_FAILED
        assert (row["verdict"], row["score"], result["score"]) == ("fail", 0.0, 0.0)
        assert result["hits"] == result["misses"] == []
        assert result["parse_error"]
        assert "warning" not in outcome.err
        assert "1 evaluator replies held no valid verdict" in outcome.out

    def test_a_judge_that_cannot_be_had(self, project: Project) -> None:
        project.write(
            {
                "a.eval.yaml": suite(case("sum", {"type": "llm_judge"})),
                "targets.yaml": targets(
                    mock("four", judge_target="judge"), mock(name="judge", error="no quota")
                ),
            }
        )
        outcome = project.run("eval", "a.eval.yaml")
        [row] = project.rows()

        assert outcome.code == ExitCode.ERRORS
        assert (row["verdict"], row["score"], row["error"]["kind"]) == ("error", None, "evaluator")
        assert "judge 'judge' did not answer: no quota" in row["error"]["message"]

    @pytest.mark.parametrize("answer", ["", "   ", "\n"])
    def test_an_empty_answer_with_negated_checks(self, project: Project, answer: str) -> None:
        outcome = run(project, case("sum", contains("secret", negate=True)), target=mock(answer))
        [row] = project.rows()

        assert outcome.code == ExitCode.ERRORS
        assert (row["verdict"], row["error"]["kind"]) == ("error", "empty")

    def test_a_code_evaluator_that_crashes(self, project: Project) -> None:
        """Scenario: Code evaluator execution (its last sentence)."""
        crash = {"type": "code", "script": "echo '{\"score\": 1}'; echo oops >&2; exit 7"}
        outcome = run(project, case("sum", crash, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR))
        [row] = project.rows()
        result = row["evaluator_results"][0]

        assert outcome.code == ExitCode.GATE_FAILED
        assert (row["verdict"], result["score"]) == ("fail", 0.0)
        assert row["score"] == pytest.approx(6 / 7)
        assert "oops" in result["error"]
        assert any("oops" in miss for miss in row["misses"])
        assert "1 evaluators could not run" in outcome.out

    def test_a_score_out_of_range_is_marked_where_it_was_clamped(self, project: Project) -> None:
        """Scenario: Parse JSON evaluator response. A judge on a scale of ten is noticed."""
        outcome, row = judged(project, '{"score": 9}')
        [result] = row["evaluator_results"]

        assert (result["score"], result["raw_score"]) == (1.0, 9.0)
        assert "1 rows hold a score outside [0, 1], clamped" in outcome.out
        assert project.run("show", "--json").json["clamped_scores"] == 1

    def test_a_clean_run_mentions_no_clamping(self, project: Project) -> None:
        outcome, row = judged(project, '{"score": 1}')

        assert row["evaluator_results"][0].get("raw_score") is None
        assert "clamped" not in outcome.out


class TestEvaluators:
    def test_several_are_averaged_in_order(self, project: Project) -> None:
        """Scenario: Aggregating multiple evaluators."""
        reply = '{"score": 0.5, "hits": ["sum"], "misses": ["units"], "reasoning": "no units"}'
        script = 'echo \'{"score": 0, "misses": ["too short"], "reasoning": "3 words"}\''
        outcome, row = judged(
            project, reply, FOUR, {"type": "code", "name": "length", "script": script}
        )

        assert outcome.code == ExitCode.GATE_FAILED
        assert [r["name"] for r in row["evaluator_results"]] == ["llm_judge", "contains", "length"]
        assert [r["score"] for r in row["evaluator_results"]] == [0.5, 1.0, 0.0]
        assert row["score"] == 0.5
        assert row["hits"] == ["sum", 'contains "four"']
        assert row["misses"] == ["units", "too short"]
        assert row["reasoning"] == "llm_judge: no units\nlength: 3 words"

    def test_a_custom_prompt_replaces_the_template(self, project: Project) -> None:
        """Scenario: Custom prompt for LLM judge."""
        project.write({"rubric.md": "Question: {{ question }}\nAnswer: {{ candidate_answer }}"})
        judge = {"type": "llm_judge", "target": "judge", "prompt": "rubric.md"}
        project.write(
            {
                "a.eval.yaml": suite(case("sum", judge, question="2 + 2?")),
                "targets.yaml": targets(mock("four"), mock('{"score": 1}', name="judge")),
            }
        )
        outcome = project.run("eval", "a.eval.yaml")
        [row] = project.rows()
        asked = row["evaluator_results"][0]["evaluator_provider_request"]

        assert outcome.code == ExitCode.OK
        assert asked["userPrompt"] == "Question: 2 + 2?\nAnswer: four"
        assert asked["target"] == "judge"

    def test_a_script_gets_the_case_as_json(self, project: Project) -> None:
        """Scenario: Code evaluator execution."""
        project.write({"checks/keep.sh": "cat > seen.json; echo '{\"score\": 1}'"})
        script = {"type": "code", "script": "sh keep.sh", "cwd": "checks", "config": {"least": 3}}
        outcome = run(project, case("sum", script, question="2 + 2?"))
        seen = json.loads((project.folder / "checks/seen.json").read_text())

        assert outcome.code == ExitCode.OK
        assert (seen["eval_id"], seen["question"]) == ("sum", "2 + 2?")
        assert seen["candidate_answer"] == "It is four."
        assert seen["config"] == {"least": 3}


class TestRetries:
    @pytest.mark.parametrize(
        ("timeouts", "options", "attempts", "verdict"),
        [
            pytest.param(2, "", 3, "pass", id="within the default budget"),
            pytest.param(3, "", 3, "error", id="beyond it"),
            pytest.param(3, "--max-retries 3", 4, "pass", id="within a larger one"),
            pytest.param(1, "--max-retries 0", 1, "error", id="without one"),
        ],
    )
    def test_time_outs_count_against_the_budget(
        self, project: Project, timeouts: int, options: str, attempts: int, verdict: str
    ) -> None:
        """Scenarios: Timeout with retry, Maximum retries exceeded."""
        target = mock("It is four.", timeouts=timeouts)
        outcome = run(project, case("sum", FOUR), target=target, options=options)
        [row] = project.rows()

        assert (row["attempts"], row["verdict"]) == (attempts, verdict)
        assert outcome.code == (ExitCode.OK if verdict == "pass" else ExitCode.ERRORS)
        assert outcome.err.count("trying again") == attempts - 1

    def test_a_command_that_hangs_is_ended_and_tried_again(self, project: Project) -> None:
        """Scenario: Timeout with retry. `{ATTEMPT}` tells the command which one it is."""
        template = "if [ {ATTEMPT} = 3 ]; then echo four; else sleep 60; fi"
        outcome = run(
            project, case("sum", FOUR), target=command(template), options="--agent-timeout 0.05"
        )
        [row] = project.rows()

        assert outcome.code == ExitCode.OK
        assert row["attempts"] == 3
        assert "after a time-out" in outcome.out

    def test_a_command_that_fails_is_tried_once(self, project: Project) -> None:
        """Scenario: Render and execute template (its last sentence)."""
        target = command("echo tried >> log; echo no licence >&2; exit 4")
        outcome = run(project, case("sum", FOUR), target=target)
        [row] = project.rows()

        assert outcome.code == ExitCode.ERRORS
        assert (project.folder / "log").read_text() == "tried\n"
        assert (row["attempts"], row["error"]["kind"]) == (1, "exit")
        assert row["error"]["message"] == "the command failed with exit code 4: no licence"


class TestHealthChecks:
    @pytest.mark.parametrize("judges", [False, True], ids=["candidate", "judge"])
    def test_a_failed_one_ends_the_run_before_the_first_request(
        self, project: Project, judges: bool
    ) -> None:
        """Scenario: Optional health check."""
        check = {"type": "command", "command_template": "echo licence expired >&2; exit 7"}
        sick = command("touch asked; echo four", name="sick", healthcheck=check)
        project.write(
            {
                "a.eval.yaml": suite(case("sum", {"type": "llm_judge"})),
                "targets.yaml": targets(sick, mock("four", judge_target="sick")),
            }
        )
        outcome = project.run("eval", "a.eval.yaml", "--target", "default" if judges else "sick")

        assert outcome.code == ExitCode.ERRORS
        assert "Run aborted: The health check of target 'sick' failed" in outcome.err
        assert "licence expired" in outcome.err
        assert project.rows() == []
        assert not (project.folder / "asked").exists()
        assert "Aborted: The health check" in outcome.out
        later = project.run("show")
        assert later.code == ExitCode.ERRORS
        assert "The run is incomplete: rows for 1 of 1 trial are missing" in later.out

    def test_a_run_that_was_aborted_says_so_in_json(self, project: Project) -> None:
        check = {"type": "http", "url": "http://127.0.0.1:1/"}
        target = command("echo four", healthcheck=check)
        outcome = run(project, case("sum", FOUR), target=target, options="--json")

        assert outcome.code == outcome.json["exit_code"] == ExitCode.ERRORS
        assert "health check" in outcome.json["gate"]["reason"]
        assert outcome.json["counts"]["missing"] == 1

    def test_one_that_succeeds_runs_once(self, project: Project) -> None:
        """Scenario: Optional health check. In another folder than the target's."""
        check = {"type": "command", "command_template": "echo probed >> log", "cwd": "probe"}
        project.write({"probe/.keep": ""})
        outcome = run(
            project,
            case("a", FOUR),
            case("b", FOUR),
            target=command("echo four", healthcheck=check),
        )

        assert outcome.code == ExitCode.OK
        assert (project.folder / "probe/log").read_text() == "probed\n"


class TestBatching:
    @pytest.mark.parametrize(
        ("more", "said"),
        [
            pytest.param({}, "", id="one call"),
            pytest.param({"batch_error": "no capacity"}, "no capacity", id="fallback"),
        ],
    )
    def test_every_case_gets_its_own_answer(
        self, project: Project, more: dict[str, Any], said: str
    ) -> None:
        """Scenario: Enabled for batching-capable provider."""
        ids = [f"n{number}" for number in range(5)]
        target = mock(replies={id_: f"I am {id_}." for id_ in ids}, provider_batching=True, **more)
        outcome = run(project, *(case(id_, contains(id_)) for id_ in ids), target=target)

        assert outcome.code == ExitCode.OK
        assert said in outcome.err
        answers = {id_: row["candidate_answer"] for id_, row in by_id(project.rows()).items()}
        assert answers == {id_: f"I am {id_}." for id_ in ids}

    def test_a_provider_without_batches_is_asked_one_at_a_time(self, project: Project) -> None:
        """Scenario: Fallback when provider cannot batch. Only `--verbose` speaks of it."""
        target = command("echo four", provider_batching=True)
        quiet = run(project, case("sum", FOUR), target=target)
        verbose = run(project, case("sum", FOUR), target=target, options="--verbose")

        assert (quiet.code, verbose.code) == (ExitCode.OK, ExitCode.OK)
        assert "batching" not in quiet.err
        assert "asks for batching, which its provider lacks" in verbose.err
