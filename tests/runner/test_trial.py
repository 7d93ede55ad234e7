"""The story of one trial: ask, score, conclude; whatever goes wrong becomes its row."""

import asyncio
import math
from typing import Any

import pytest
from msgspec.structs import replace
from trial_build import NOON, Opinion, bench, trial

from agentv.errors import ProviderError, ProviderTimeout, RunAborted
from agentv.model.case import EvalCase, Message
from agentv.model.event import AttemptFailed, Event
from agentv.model.options import EvaluatorOptions
from agentv.model.request import ChatMessage, Leavings, Prompt, ProviderResponse, TextSegment, Turn
from agentv.model.result import ErrorInfo, TrialResult
from agentv.model.score import Score, Usage
from agentv.model.step import Step
from agentv.model.trial import Trial
from agentv.protocols import Evaluator
from agentv.runner.trial import run_trial
from agentv.testing import ScriptedProvider

GOOD = Opinion(Score(value=1.0))


def row_of(
    trial: Trial, provider: ScriptedProvider, evaluators: dict[str, Evaluator] | None = None
) -> TrialResult:
    return asyncio.run(run_trial(trial, bench(provider, evaluators or {"good": GOOD})))


def scored(opinion: Any) -> TrialResult:
    """The row of a trial whose only evaluator is of this opinion."""
    return row_of(trial("sum", "only"), ScriptedProvider(["4"]), {"only": Opinion(opinion)})


def test_the_provider_gets_the_whole_prompt_and_its_answer_is_scored() -> None:
    """Scenario: Successful test execution."""
    prompt = Prompt(
        question="@[User]:\n2 + 2?",
        guidelines="Be brief.",
        guideline_paths=("/r/brief.instructions.md",),
        input_files=("/r/brief.instructions.md", "/r/table.csv"),
        chat_prompt=(ChatMessage(role="user", content="2 + 2?"),),
    )
    provider = ScriptedProvider([ProviderResponse(text="4", usage=Usage(input_tokens=7))])
    judge = Opinion(Score(value=0.9, hits=("four",), reasoning="right"))
    row = row_of(trial("sum", "judge", prompt=prompt), provider, {"judge": judge})

    [request] = provider.requests
    assert (request.eval_id, request.suite, request.trial) == ("sum", "sums.eval.yaml", 1)
    assert (request.question, request.guidelines) == (prompt.question, prompt.guidelines)
    assert request.guideline_paths == prompt.guideline_paths
    assert request.input_files == prompt.input_files
    assert request.chat_prompt == prompt.chat_prompt
    assert (row.candidate_answer, row.verdict, row.score) == ("4", "pass", 0.9)
    assert (row.attempts, row.usage) == (1, Usage(input_tokens=7))
    assert row.timestamp == NOON.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def test_the_evaluator_is_shown_the_candidates_own_question() -> None:
    """Scenario: Evaluator receives same context as candidate."""
    turns = (Turn(role="user", segments=(TextSegment(value="2 + 2?"),)),)
    judge = Opinion(Score(value=1.0))
    provider = ScriptedProvider(["4"])
    row_of(trial("sum", "judge", turns=turns, reference_answer="4"), provider, {"judge": judge})

    [context] = judge.seen
    assert context.question == provider.requests[0].question
    assert (context.candidate_answer, context.reference_answer) == ("4", "4")
    assert context.input_segments == [{"type": "text", "value": "2 + 2?", "role": "user"}]
    assert context.input_messages == [{"role": "user", "content": "2 + 2?"}]


def test_evaluators_run_in_order_and_are_averaged() -> None:
    """Scenario: Aggregating multiple evaluators."""
    order: list[str] = []

    class Noting(Opinion):
        def __init__(self, name: str, score: Score) -> None:
            super().__init__(score)
            self.name = name

        async def evaluate(self, context: Any) -> Score:
            order.append(self.name)
            return await super().evaluate(context)

    first = Noting("first", Score(value=1.0, hits=("a",), reasoning="one"))
    second = Noting("second", Score(value=0.5, hits=("b",), misses=("c",), reasoning="two"))
    row = row_of(
        trial("sum", "first", "second"), ScriptedProvider(["4"]), {"first": first, "second": second}
    )

    assert order == ["first", "second"]
    assert [result.score for result in row.evaluator_results] == [1.0, 0.5]
    assert row.score == 0.75
    assert (row.hits, row.misses) == (("a", "b"), ("c",))
    assert row.reasoning == "first: one\nsecond: two"


def test_weights_shift_the_mean() -> None:
    options = (EvaluatorOptions(type="a", weight=3), EvaluatorOptions(type="b", name="B"))
    message = Message(role="user", content="?")
    case = EvalCase(id="sum", input_messages=(message,), evaluators=options)
    evaluators: dict[str, Evaluator] = {"a": GOOD, "b": Opinion(Score(value=0.0))}
    row = row_of(trial(case=case), ScriptedProvider(["4"]), evaluators)

    assert row.score == 0.75
    assert [(r.name, r.type, r.weight) for r in row.evaluator_results] == [
        ("a", "a", 3.0),
        ("B", "b", 1.0),
    ]


@pytest.mark.parametrize(
    ("value", "score", "raw"),
    [
        pytest.param(9.0, 1.0, 9.0, id="scale of ten"),
        pytest.param(-0.5, 0.0, -0.5, id="negative"),
        pytest.param(1, 1.0, None, id="whole number"),
        pytest.param(0.85, 0.85, None, id="in range"),
    ],
)
def test_a_score_out_of_range_is_clamped_and_marked(
    value: float, score: float, raw: float | None
) -> None:
    [result] = scored(Score(value=value)).evaluator_results

    assert (result.score, result.raw_score) == (score, raw)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_finite_number_is_no_verdict(value: float) -> None:
    row = scored(Score(value=value))
    [result] = row.evaluator_results

    assert (row.verdict, row.score, result.score, result.raw_score) == ("fail", 0.0, 0.0, None)
    assert result.parse_error is not None
    assert result.error is None


@pytest.mark.parametrize(
    "opinion",
    [
        pytest.param(None, id="nothing"),
        pytest.param(1.0, id="bare number"),
        pytest.param(Score(value="1"), id="text as value"),  # type: ignore[arg-type]
        pytest.param(Score(value=1.0, misses=(5,)), id="number as miss"),  # type: ignore[arg-type]
        pytest.param(ZeroDivisionError("oops"), id="crash"),
        pytest.param(asyncio.CancelledError(), id="cancelled inside"),
    ],
)
def test_an_evaluator_that_gives_no_score_could_not_run(opinion: Any) -> None:
    """Never a pass, and not a score of 0 either."""
    row = scored(opinion)
    [result] = row.evaluator_results

    assert (row.verdict, row.score) == ("error", None)
    assert result.error is not None
    assert result.misses == (f"Evaluator failed: {result.error}",)
    assert row.error is not None
    assert row.error.kind == "evaluator"
    assert result.error in row.error.message


def test_a_crash_beside_a_perfect_score_never_passes() -> None:
    crash = Opinion(ZeroDivisionError("oops"))
    row = row_of(
        trial("sum", "good", "good", "good", "good", "good", "crash", threshold=0.8),
        ScriptedProvider(["4"]),
        {"good": GOOD, "crash": crash},
    )

    assert row.score == pytest.approx(5 / 6)
    assert row.verdict == "fail"


@pytest.mark.parametrize("text", ["", "  ", "\n\t\n"])
def test_an_empty_answer_is_an_error(text: str) -> None:
    judge = Opinion(Score(value=1.0))
    row = row_of(trial("sum", "judge"), ScriptedProvider([text]), {"judge": judge})

    assert (row.verdict, row.score, row.candidate_answer) == ("error", None, None)
    assert row.error is not None
    assert row.error.kind == "empty"
    assert judge.seen == []


def test_an_error_is_in_the_row_with_what_helps_to_find_its_cause() -> None:
    """Scenario: Maximum retries exceeded."""
    error = ProviderError("the command failed with exit code 3", kind="exit", detail="stderr")
    row = row_of(trial("sum", "good"), ScriptedProvider([error]))

    assert (row.verdict, row.score, row.attempts) == ("error", None, 1)
    assert row.error == ErrorInfo(kind="exit", message=str(error), detail="stderr")
    assert row.evaluator_results == ()
    assert row.raw_request is not None


def test_each_attempt_that_fails_is_told() -> None:
    """Scenario: Timeout with retry."""
    events: list[Event] = []
    provider = ScriptedProvider([ProviderTimeout("slow"), "4"])
    row = asyncio.run(
        run_trial(trial("sum", "good"), bench(provider, {"good": GOOD}, emit=events.append))
    )

    assert (row.attempts, row.verdict) == (2, "pass")
    assert events == [AttemptFailed(eval_id="sum", target="default", attempt=1, message="slow")]


def test_a_trial_that_cannot_be_asked_is_not_asked() -> None:
    problem = ErrorInfo(kind="attachment", message="table.csv is gone")
    provider = ScriptedProvider(["4"])
    row = row_of(trial("sum", "good", problem=problem), provider)

    assert (row.verdict, row.attempts, row.error) == ("error", 0, problem)
    assert row.raw_request is None
    assert provider.requests == []


def test_a_dry_run_scores_nothing_and_says_so() -> None:
    judge = Opinion(Score(value=1.0))
    rehearsal = bench(ScriptedProvider(["(nobody was asked)"]), {"judge": judge}, dry_run=True)
    row = asyncio.run(run_trial(trial("sum", "judge"), rehearsal))

    assert (row.verdict, row.score, row.dry_run) == ("skipped", None, True)
    assert judge.seen == []


def test_what_ends_the_run_passes_through() -> None:
    judge = Opinion(RunAborted("the disk is full"))

    with pytest.raises(RunAborted, match="the disk is full"):
        row_of(trial("sum", "judge"), ScriptedProvider(["4"]), {"judge": judge})


def steps_of(response: ProviderResponse, *evaluators: str) -> list[str]:
    """What is written down of a trial, in order, before it has its row."""
    noted: list[Step] = []
    known = {"slow": GOOD}
    place = bench(ScriptedProvider([response]), known, note=noted.append)
    instant = replace(place, build_evaluator=lambda _options: GOOD)
    asyncio.run(run_trial(trial("sum", *evaluators), instant))
    return [type(step).__name__ for step in noted]


def test_what_is_paid_for_is_written_down_before_anything_is_waited_for() -> None:
    """An instant evaluator is asked again for nothing, and so needs no line."""
    answer = ProviderResponse(text="4")
    assert steps_of(answer, "slow", "quick", "slow") == ["Asked", "Answered", "Judged", "Judged"]
    assert steps_of(answer, "quick") == ["Asked"]


def test_the_answer_of_an_agent_is_written_down_before_its_folder_is_looked_after() -> None:
    """Moving a workspace takes a while, whatever the evaluators are."""
    answer = ProviderResponse(text="4", leavings=Leavings(artifacts={"log": "agent.log"}))
    assert steps_of(answer, "quick") == ["Asked", "Answered"]
