"""`agentv.evaluate`: suites from a program, with functions as targets and as evaluators."""

import asyncio
import math
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentv import (
    EvaluationContext,
    ExitCode,
    LoadError,
    ProviderError,
    ProviderRequest,
    ProviderResponse,
    ProviderTimeout,
    Score,
    TrialResult,
    aevaluate,
    evaluate,
)
from agentv.errors import AuthorError
from agentv.execution.nothing import NothingToRunError
from agentv.model.event import Event, TrialFinished
from agentv.storage.rows import open_rows
from agentv.testing import Project, Reply, ScriptedProvider
from media_samples import PDF, PNG, sha256

CASE: dict[str, Any] = {
    "id": "sum",
    "outcome": "It is four.",
    "input_messages": [{"role": "user", "content": "2 + 2?"}],
}
FOUR = [{"type": "contains", "value": "4"}]
SUITE = """\
evalcases:
  - id: sum
    outcome: It is four.
    input_messages: [{role: user, content: 2 + 2?}]
    evaluators: [{type: contains, value: "4"}]
"""
TARGETS = """\
targets:
  - {name: default, provider: mock, response: "4"}
  - {name: wrong, provider: mock, response: "5"}
"""
JUDGE = """\
targets:
  - {name: judge, provider: mock, response: '{"score": 1}'}
  - {name: unready, provider: mock, response: "${{ NO_SUCH_VARIABLE }}"}
"""


@pytest.fixture(autouse=True)
def here(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are left in a folder that goes away."""
    monkeypatch.chdir(project.folder)


def says(text: str) -> ScriptedProvider:
    return ScriptedProvider(lambda request: text)


def only_row(suite: Any = (CASE,), **given: Any) -> TrialResult:
    [row] = evaluate(list(suite), **{"target": says("4"), "evaluators": FOUR, **given}).rows()
    return row


class TestSuites:
    def test_a_path(self, project: Project) -> None:
        project.write({"evals/a.eval.yaml": SUITE, "targets.yaml": TARGETS})

        assert evaluate("evals/a.eval.yaml").passed
        assert evaluate(Path("evals") / "a.eval.yaml", target="wrong").exit_code == 1

    def test_several_paths(self, project: Project) -> None:
        project.write({"a.eval.yaml": SUITE, "b.eval.yaml": SUITE, "targets.yaml": TARGETS})
        run = evaluate(["a.eval.yaml", "b.eval.yaml"], workers=2)

        assert {row.suite for row in run.rows()} == {"a.eval.yaml", "b.eval.yaml"}

    def test_paths_start_in_cwd(self, project: Project, tmp_path: Path) -> None:
        project.write({"deep/a.eval.yaml": SUITE, "deep/t.yaml": TARGETS})
        run = evaluate("a.eval.yaml", cwd="deep", targets_file="t.yaml", out="run")

        assert run.passed
        assert (tmp_path / "deep/run/results.jsonl").exists()

    def test_a_mapping_with_the_keys_of_an_eval_file(self) -> None:
        suite = {"dataset": "sums", "execution": {"evaluators": FOUR}, "evalcases": [CASE]}
        [row] = evaluate(suite, target=lambda request: "4").rows()

        assert (row.dataset, row.verdict) == ("sums", "pass")

    def test_a_list_of_cases(self) -> None:
        run = evaluate([CASE, {**CASE, "id": "again"}], target=says("4"), evaluators=FOUR)

        assert [row.eval_id for row in run.rows()] == ["sum", "again"]

    def test_every_mistake_is_listed(self) -> None:
        wrong = [{**CASE, "outcme": "x"}, {**CASE, "input_messages": []}]
        with pytest.raises(LoadError) as caught:
            evaluate(wrong, target=says("4"), evaluators=[{"type": "contians", "value": "4"}])

        found = {(problem.file, problem.code) for problem in caught.value.problems}
        assert ("<evaluators>", "unknown-evaluator") in found
        assert sum(file == "<suite>" for file, _ in found) >= 2
        assert caught.value.__context__ is None

    @pytest.mark.parametrize(
        ("suite", "given"),
        [
            pytest.param([], {}, id="no cases"),
            pytest.param([CASE], {"evaluators": []}, id="no evaluators"),
            pytest.param("gone.eval.yaml", {}, id="no file"),
        ],
    )
    def test_nothing_to_judge_is_an_error_and_no_run(
        self, project: Project, suite: Any, given: dict[str, Any]
    ) -> None:
        with pytest.raises((LoadError, NothingToRunError)):
            evaluate(suite, **{"target": says("4"), "evaluators": FOUR, **given})
        assert not (project.folder / ".agentv").exists()

    def test_a_judge_that_does_not_exist_is_a_mistake(self) -> None:
        with pytest.raises(AuthorError, match="needs the target 'strict', but has no targets file"):
            evaluate(
                [CASE], target=says("4"), evaluators=[{"type": "llm_judge", "target": "strict"}]
            )


class TestTargets:
    def test_a_function(self) -> None:
        def answer(request: ProviderRequest) -> str:
            return f"{request.question} 4"

        row = only_row(target=answer)
        assert (row.target, row.candidate_answer) == ("answer", "2 + 2? 4")

    def test_an_async_function(self) -> None:
        async def answer(request: ProviderRequest) -> ProviderResponse:
            await asyncio.sleep(0)
            return ProviderResponse(text="4", trace=[{"step": 1}])

        row = only_row(target=answer)
        assert (row.target, row.verdict, row.trace) == ("answer", "pass", [{"step": 1}])

    def test_an_object_with_a_memory(self) -> None:
        class Agent:
            def __call__(self, request: ProviderRequest) -> str:
                return "4"

        assert only_row(target=Agent()).target == "Agent"

    def test_a_provider(self) -> None:
        provider = ScriptedProvider({"sum": "4"})
        row = only_row(target=provider)

        assert row.verdict == "pass"
        assert [request.eval_id for request in provider.requests] == ["sum"]

    @pytest.mark.parametrize(
        ("reply", "kind", "message"),
        [
            pytest.param(None, "crash", "returned NoneType, not a text", id="nothing"),
            pytest.param(4, "crash", "returned int, not a text", id="number"),
            pytest.param("", "empty", "the answer is empty", id="empty"),
            pytest.param(ZeroDivisionError("oops"), "crash", "oops", id="crash"),
            pytest.param(ProviderError("no quota", kind="quota"), "quota", "no quota", id="error"),
            pytest.param(StopIteration(), "crash", "StopIteration", id="end of an iterator"),
            pytest.param(SystemExit(3), "crash", "SystemExit(3)", id="exit"),
        ],
    )
    def test_what_is_no_answer_is_that_trials_error(
        self, reply: Any, kind: str, message: str
    ) -> None:
        def answer(request: ProviderRequest) -> str:
            if isinstance(reply, BaseException):
                raise reply
            found: str = reply
            return found

        row = only_row(target=answer)
        assert (row.verdict, row.attempts) == ("error", 1)
        assert row.error is not None
        assert row.error.kind == kind
        assert message in row.error.message

    @pytest.mark.parametrize("error", [TimeoutError("slow"), ProviderTimeout("slow")])
    def test_a_time_out_is_tried_again(self, error: Exception) -> None:
        """Scenario: Timeout with retry."""
        row = only_row(target=ScriptedProvider([error, error, "4"]))

        assert (row.attempts, row.verdict) == (3, "pass")
        assert only_row(target=ScriptedProvider([error, "4"]), max_retries=0).verdict == "error"

    def test_a_function_that_hangs_is_given_up(self) -> None:
        release = threading.Event()

        def answer(request: ProviderRequest) -> str:
            release.wait(20)
            return "4"

        try:
            row = only_row(target=answer, agent_timeout=0.02, max_retries=1)
        finally:
            release.set()
        assert (row.attempts, row.verdict) == (2, "error")

    def test_as_many_functions_run_at_once_as_there_are_workers(self) -> None:
        """Scenario: Configurable concurrency. They wait until all forty are there."""
        crowd = threading.Barrier(40, timeout=10)

        def answer(request: ProviderRequest) -> str:
            crowd.wait()
            return "4"

        cases = [{**CASE, "id": f"c{number}"} for number in range(40)]
        run = evaluate(cases, target=answer, evaluators=FOUR, workers=40)

        assert run.summary.counts.passed == 40


class TestEvaluators:
    @pytest.mark.parametrize(
        ("opinion", "verdict", "score", "raw"),
        [
            pytest.param(Score(value=0.9, hits=("a",)), "pass", 0.9, None, id="Score"),
            pytest.param(0.5, "fail", 0.5, None, id="float"),
            pytest.param(1, "pass", 1.0, None, id="int"),
            pytest.param(True, "pass", 1.0, None, id="true"),
            pytest.param(False, "fail", 0.0, None, id="false"),
            pytest.param(7, "pass", 1.0, 7.0, id="too much"),
            pytest.param(Score(value=-2.0), "fail", 0.0, -2.0, id="too little"),
            pytest.param(math.nan, "fail", 0.0, None, id="NaN"),
            pytest.param(Score(value=math.inf), "fail", 0.0, None, id="infinite"),
            pytest.param(None, "error", None, None, id="nothing"),
            pytest.param("1", "error", None, None, id="text"),
            pytest.param(KeyError("oops"), "error", None, None, id="raises"),
        ],
    )
    @pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
    def test_what_a_function_may_return(
        self, opinion: Any, verdict: str, score: float | None, raw: float | None, is_async: bool
    ) -> None:
        def check(context: EvaluationContext) -> Any:
            if isinstance(opinion, Exception):
                raise opinion
            return opinion

        async def acheck(context: EvaluationContext) -> Any:
            return check(context)

        row = only_row(evaluators=[acheck if is_async else check])
        [result] = row.evaluator_results

        assert (row.verdict, row.score, result.raw_score) == (verdict, score, raw)
        assert (result.error is not None) == (verdict == "error")
        assert result.name == ("acheck" if is_async else "check")

    def test_functions_see_the_whole_case(self) -> None:
        seen: list[EvaluationContext] = []

        def look(context: EvaluationContext) -> bool:
            seen.append(context)
            return True

        only_row(evaluators=[look])
        [context] = seen
        assert (context.question, context.candidate_answer) == ("2 + 2?", "4")
        assert (context.expected_outcome, context.target) == ("It is four.", "ScriptedProvider")

    def test_functions_and_mappings_beside_each_other(self) -> None:
        """Scenario: Aggregating multiple evaluators. Two functions may have the same name."""
        row = only_row(evaluators=[lambda context: 1.0, FOUR[0], lambda context: 0.4])

        assert [result.name for result in row.evaluator_results] == [
            "lambda",
            "contains",
            "lambda_2",
        ]
        assert row.score == pytest.approx(0.8)

    def test_a_function_called_like_a_built_in_does_not_replace_it(self) -> None:
        def contains(context: EvaluationContext) -> bool:
            return False

        row = only_row(evaluators=[contains, FOUR[0]])
        assert [result.score for result in row.evaluator_results] == [0.0, 1.0]

    def test_a_case_keeps_its_own_evaluators(self) -> None:
        own = {**CASE, "evaluators": FOUR}

        assert only_row([own], evaluators=[lambda context: 0.0]).verdict == "pass"


class TestJudges:
    """A provider that is target and judge in one: a judge's request has a system prompt."""

    def judged(
        self, messages: Sequence[Mapping[str, Any]], reply: str
    ) -> tuple[ScriptedProvider, Any]:
        def script(request: ProviderRequest) -> Reply:
            return reply if request.system_prompt else "An answer."

        provider = ScriptedProvider(script)
        case = {**CASE, "input_messages": messages}
        [row] = evaluate([case], target=provider).rows()
        return provider, row

    @pytest.mark.parametrize(
        ("reply", "verdict"),
        [
            ('{"score": 1, "hits": ["right"]}', "pass"),
            ('{"score": 0.3}', "fail"),
            ("Looks fine.", "fail"),
        ],
    )
    def test_its_verdict_counts(self, reply: str, verdict: str) -> None:
        _, row = self.judged(CASE["input_messages"], reply)

        assert row.verdict == verdict

    def test_a_targets_file_may_hold_the_judge_alone(self, project: Project) -> None:
        """What the suite's own target would need does not matter: nobody asks it."""
        project.write({"targets.yaml": JUDGE})
        checks = [{"type": "llm_judge", "target": "judge"}]
        pinned = {**CASE, "execution": {"target": "unready"}}

        assert evaluate([CASE, {**pinned, "id": "own"}], target=says("4"), evaluators=checks).passed

    def test_a_conversation_is_shown_with_its_markers(self) -> None:
        """Scenarios: Multi-turn conversation evaluation, Evaluator receives same context as
        candidate.
        """
        roles = ("system", "user", "assistant", "user")
        turns = [{"role": role, "content": f"{role} {n}"} for n, role in enumerate(roles)]
        provider, row = self.judged(turns, '{"score": 1}')
        asked, judge = provider.requests
        question = (
            "@[System]:\nsystem 0\n\n@[User]:\nuser 1\n\n@[Assistant]:\nassistant 2\n\n"
            "@[User]:\nuser 3"
        )

        assert asked.question == row.raw_request.question == question
        assert asked.chat_prompt is not None
        assert f"[[ ## question ## ]]\n{question}\n\n[[ ## reference_answer ## ]]" in judge.question
        assert judge.guidelines == ""

    def test_a_judge_is_asked_about_an_image_and_not_shown_it(self, project: Project) -> None:
        project.write({"a.png": PNG})
        turns = [{"role": "user", "content": [{"type": "image", "value": "a.png"}]}]
        provider, row = self.judged(turns, '{"score": 1}')
        asked, judge = provider.requests

        assert asked.question == row.raw_request.question == "<Attached: a.png>"
        assert [(file.path, file.at) for file in asked.media] == [("a.png", 17)]
        assert "[[ ## question ## ]]\n<Attached: a.png>\n" in judge.question
        assert (judge.media, judge.input_files) == ((), ())

    def test_guidelines_are_not_repeated_to_the_judge(self, project: Project) -> None:
        """Scenario: Multi-turn conversation evaluation (its last sentence)."""
        project.write({"style.instructions.md": "Never use the word banana."})
        parts = [
            {"type": "file", "value": "style.instructions.md"},
            {"type": "text", "value": "Go on."},
        ]
        turns: list[dict[str, Any]] = [
            {"role": "assistant", "content": "Yes?"},
            {"role": "user", "content": parts},
        ]
        provider, _ = self.judged(turns, '{"score": 1}')
        asked, judge = provider.requests

        assert "banana" in asked.guidelines
        assert "banana" not in judge.question + str(judge.system_prompt) + judge.guidelines
        assert "<Attached: style.instructions.md>" in judge.question

    _texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
    _turns = st.lists(
        st.fixed_dictionaries(
            {"role": st.sampled_from(("system", "user", "assistant", "tool")), "content": _texts}
        ),
        min_size=1,
        max_size=4,
    )

    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(turns=_turns)
    def test_it_sees_the_candidates_question_character_for_character(
        self, turns: Sequence[Mapping[str, Any]]
    ) -> None:
        """Scenarios: Evaluator receives same context as candidate, Single-turn conversation
        evaluation.
        """
        provider, row = self.judged(turns, '{"score": 1}')
        asked, judge = provider.requests
        _, _, rest = judge.question.partition("[[ ## question ## ]]\n")

        assert asked.question == row.raw_request.question
        assert rest.startswith(f"{asked.question}\n\n[[ ## reference_answer ## ]]\n")
        assert row.verdict == "pass"


class TestTheRun:
    def test_it_tells_all_there_is_to_know(self, project: Project) -> None:
        run = evaluate(
            [CASE, {**CASE, "id": "other"}],
            target=ScriptedProvider({"sum": "4", "other": "five"}),
            evaluators=FOUR,
            out="runs/1",
        )

        assert (run.passed, run.exit_code) == (False, ExitCode.GATE_FAILED)
        assert "pass rate 0.50 (1 of 2) is below the gate of 1.00" in run.reason
        assert (run.summary.counts.passed, run.summary.counts.failed) == (1, 1)
        assert [row.verdict for row in run.rows()] == ["pass", "fail"]
        assert [row.verdict for row in run.rows()] == ["pass", "fail"], "they can be read again"
        assert (project.folder / run.folder / "run.json").exists()

    @pytest.mark.parametrize(
        ("given", "code"),
        [
            pytest.param({}, 1, id="defaults"),
            pytest.param({"threshold": 0.5}, 0, id="threshold"),
            pytest.param({"min_pass_rate": 0.0}, 0, id="gate"),
        ],
    )
    def test_thresholds_and_gates(self, given: dict[str, float], code: int) -> None:
        assert (
            evaluate([CASE], target=says("4"), evaluators=[lambda c: 0.6], **given).exit_code
            == code
        )

    def test_sinks_are_told_in_order(self) -> None:
        events: list[Event] = []

        class Ear:
            def handle(self, event: Event) -> None:
                events.append(event)

        evaluate([CASE], target=says("4"), evaluators=FOUR, sinks=[Ear()])

        assert [type(event).__name__ for event in events] == [
            *("RunStarted", "TrialStarted", "TrialFinished")
        ]

    def test_text_that_is_no_text_loses_no_row(self) -> None:
        """Half a character, from a program that cut a text in its middle."""
        row = only_row(target=says("4 \ud83d"))

        assert (row.verdict, row.candidate_answer) == ("pass", "4 ?")


class TestEventLoops:
    def test_awaited_in_a_loop(self) -> None:
        async def story() -> bool:
            return (await aevaluate([CASE], target=says("4"), evaluators=FOUR)).passed

        assert asyncio.run(story())

    def test_the_blocking_form_is_refused_in_a_loop(self) -> None:
        async def story() -> None:
            evaluate([CASE], target=says("4"), evaluators=FOUR)

        with pytest.raises(RuntimeError, match=r"await aevaluate\(\.\.\.\)"):
            asyncio.run(story())

    def test_two_runs_beside_each_other(self) -> None:
        async def story() -> list[bool]:
            runs = (aevaluate([CASE], target=says("4"), evaluators=FOUR) for _ in range(2))
            return [run.passed for run in await asyncio.gather(*runs)]

        assert asyncio.run(story()) == [True, True]

    def test_a_caller_that_gives_up_is_heard_and_finished_rows_are_kept(
        self, project: Project
    ) -> None:
        """A cancelled call must not look like one that came back."""
        done = asyncio.Event()

        async def answer(request: ProviderRequest) -> str:
            if request.eval_id == "hangs":
                await asyncio.Event().wait()
            return "4"

        class Ear:
            def handle(self, event: Event) -> None:
                if isinstance(event, TrialFinished):
                    done.set()

        async def story() -> None:
            cases = [CASE, {**CASE, "id": "hangs"}]
            run = aevaluate(cases, target=answer, evaluators=FOUR, out="run", sinks=[Ear()])
            task = asyncio.create_task(run)
            await done.wait()
            task.cancel()
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(story())
        rows = open_rows(project.folder / "run/results.jsonl")
        assert [row.eval_id for row in rows] == ["sum"]


def test_importing_the_package_costs_nothing(project: Project) -> None:
    code = "import agentv, sys; print({'msgspec', 'asyncio', 'yaml', 'click'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_functions_are_told_of_images_and_may_read_them(project: Project) -> None:
    project.write({"a.png": PNG, "b.pdf": PDF})
    parts = [{"type": "image", "value": "a.png"}, {"type": "file", "value": "b.pdf"}]
    seen: list[dict[str, Any]] = []

    def target(request: ProviderRequest) -> str:
        return f"{[Path(file.resolved_path).read_bytes() for file in request.media] == [PNG, PDF]}"

    def check(context: EvaluationContext) -> bool:
        seen.extend(context.input_segments)
        return context.candidate_answer == "True"

    case = {"id": "one", "input_messages": [{"role": "user", "content": parts}]}
    assert evaluate([case], target=target, evaluators=[check], cwd=project.folder).passed
    assert seen[0] == {
        "type": "media",
        "path": "a.png",
        "resolved_path": str(project.folder / "a.png"),
        "media_type": "image/png",
        "size": len(PNG),
        "sha256": sha256(PNG),
        "role": "user",
    }
    assert (seen[1]["media_type"], len(seen)) == ("application/pdf", 2)
