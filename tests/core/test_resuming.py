"""What is left to do for one trial, decided from what was recorded and what is planned."""

from typing import Any

import msgspec
import pytest

from agentv.core.resuming import Decision, Known, Planned, decide_trial
from agentv.model.request import Leavings, ProviderResponse, WorkspaceLeft
from agentv.model.result import EvaluatorResult
from agentv.model.step import Answered

JUDGE = Planned(label="judge", type="llm_judge", weight=1.0, digest="j")
CODE = Planned(label="code", type="code", weight=1.0, digest="c", needs_workspace=True)


def answered(leavings: Leavings | None = None, digest: str = "d") -> Answered:
    return Answered(
        suite="s",
        eval_id="e",
        target="t",
        trial=1,
        digest=digest,
        attempts=2,
        duration_ms=5.0,
        response=ProviderResponse(text="4", leavings=leavings),
    )


def said(name: str, *, error: str | None = None) -> EvaluatorResult:
    return EvaluatorResult(
        name=name,
        type="llm_judge",
        score=1.0,
        weight=1.0,
        hits=(),
        misses=(),
        duration_ms=1.0,
        error=error,
        digest="j",
    )


def decided(known: Known, *evaluators: Planned, **changes: Any) -> Decision:
    given = {"target_changed": False, "threshold_changed": False, "retry_errors": False}
    return decide_trial(known, "d", evaluators or (JUDGE,), **{**given, **changes})


@pytest.mark.parametrize(
    ("known", "changed", "why"),
    [
        (Known(), False, "new"),
        (Known(asked=True), False, "in_flight"),
        (Known(answered=answered(digest="other"), asked=True), False, "case_changed"),
        (Known(answered=answered(digest="other")), True, "target_changed"),
    ],
    ids=["never begun", "in flight", "another question", "another target"],
)
def test_without_an_answer_that_stands_everything_is_asked(
    known: Known, changed: bool, why: str
) -> None:
    assert decided(known, target_changed=changed) == Decision(why=why)  # type: ignore[arg-type]


def test_an_answer_is_judged_with_the_verdicts_that_were_had() -> None:
    decision = decided(Known(answered=answered(), judged=(said("judge"),)))
    assert (decision.kept, decision.why) == (False, "unfinished")
    assert decision.prior is not None
    assert (decision.prior.response.text, decision.prior.attempts) == ("4", 2)
    assert decision.prior.verdicts == (said("judge"),)


@pytest.mark.parametrize("retry", [False, True])
def test_a_judge_that_could_not_run_is_asked_again_only_on_demand(retry: bool) -> None:
    known = Known(answered=answered(), judged=(said("judge", error="no answer"),))
    decision = decided(known, retry_errors=retry)
    assert decision.prior is not None
    assert len(decision.prior.verdicts) == (0 if retry else 1)


def test_a_workspace_that_is_gone_matters_to_who_may_look_at_it() -> None:
    """It lay in a temporary folder; a judge sees only the answer."""
    left = Leavings(artifacts={"log": "a.log"}, workspace=WorkspaceLeft(path="/tmp/gone"))
    known = Known(answered=answered(left))
    assert decided(known, JUDGE, CODE) == Decision(why="workspace_gone")
    decision = decided(known, JUDGE)
    assert decision.prior is not None
    expected = msgspec.structs.replace(left, workspace=None)
    assert decision.prior.response.leavings == expected
