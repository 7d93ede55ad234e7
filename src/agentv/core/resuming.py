"""What is left to do for a trial of which something is known: nothing, judging, or everything.

Pure: from what was recorded and what is planned to what is to be done, and why.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from agentv.model.base import Record
from agentv.model.prior import Prior
from agentv.model.request import Leavings, ProviderResponse
from agentv.model.result import EvaluatorResult, TrialResult
from agentv.model.step import Answered

Why = Literal[
    "new",
    "in_flight",
    "unfinished",
    "case_changed",
    "target_changed",
    "error",
    "workspace_gone",
    "evaluators_changed",
    "limits_changed",
]
"""`new`: never begun. `in_flight`: begun, without an answer. `unfinished`: answered, not judged to
the end. `error`: retried because that was asked for. `limits_changed`: a threshold, a weight or an
evaluator's name; nobody needs to be asked for that."""


class Planned(Record, frozen=True, kw_only=True):
    """One evaluator as it stands in the suite now."""

    label: str
    type: str
    weight: float
    digest: str
    needs_workspace: bool = False
    """Whether it may look at the folder that an agent worked in."""


class Known(Record, frozen=True, kw_only=True):
    """What was recorded of a trial; the row counts for more than the steps."""

    row: TrialResult | None = None
    answered: Answered | None = None
    judged: tuple[EvaluatorResult, ...] = ()
    asked: bool = False


class Decision(Record, frozen=True, kw_only=True):
    """What is to be done."""

    kept: bool = False
    """The row stands as it is."""
    prior: Prior | None = None
    """What need not be asked again; `None` asks for everything."""
    why: Why | None = None
    """Why something is done at all."""


KEPT = Decision(kept=True)


def decide_trial(
    known: Known,
    digest: str,
    evaluators: Sequence[Planned],
    *,
    target_changed: bool,
    threshold_changed: bool,
    retry_errors: bool,
) -> Decision:
    """What is left to do.

    Args:
        known: What was recorded.
        digest: What shapes the answer now.
        evaluators: As the suite has them now, in their order.
        target_changed: Whether the target's settings are others than when it was recorded.
        threshold_changed: Whether a score that passed may fail now, or the other way round.
        retry_errors: Whether trials that ended in an error are tried again.
    """
    recorded = known.row.digest if known.row else known.answered.digest if known.answered else None
    if recorded is None:
        return Decision(why="in_flight" if known.asked else "new")
    if recorded != digest:
        return Decision(why="target_changed" if target_changed else "case_changed")
    if known.row is not None:
        return _with_row(known.row, evaluators, threshold_changed, retry_errors)
    assert known.answered is not None  # noqa: S101 - else there is no digest
    return _answered(known.answered, known.judged, evaluators)


def _with_row(
    row: TrialResult, evaluators: Sequence[Planned], threshold_changed: bool, retry_errors: bool
) -> Decision:
    if row.candidate_answer is None:
        return Decision(why="error") if retry_errors else KEPT
    if retry_errors and any(result.error for result in row.evaluator_results):
        return Decision(prior=prior_of(row), why="error")
    if [_shape(result) for result in row.evaluator_results] != [_plan(e) for e in evaluators]:
        digests = sorted(str(result.digest) for result in row.evaluator_results)
        same = digests == sorted(planned.digest for planned in evaluators)
        why: Why = "limits_changed" if same else "evaluators_changed"
        return Decision(prior=prior_of(row), why=why)
    if threshold_changed:
        return Decision(prior=prior_of(row), why="limits_changed")
    return KEPT


def _answered(
    answered: Answered, judged: tuple[EvaluatorResult, ...], evaluators: Sequence[Planned]
) -> Decision:
    leavings = answered.response.leavings
    if leavings is not None and leavings.workspace is not None:
        # It lay in a temporary folder, which did not outlive the run.
        if any(planned.needs_workspace for planned in evaluators):
            return Decision(why="workspace_gone")
        leavings = Leavings(artifacts=leavings.artifacts)
    response = msgspec.structs.replace(answered.response, leavings=leavings)
    prior = Prior(
        response=response,
        attempts=answered.attempts,
        duration_ms=answered.duration_ms,
        verdicts=judged,
    )
    return Decision(prior=prior, why="unfinished")


def prior_of(row: TrialResult) -> Prior:
    """A row's answer and verdicts, for judging it anew."""
    artifacts = row.artifacts if row.artifacts is not msgspec.UNSET else {}
    judging = sum(result.duration_ms for result in row.evaluator_results)
    response = ProviderResponse(
        text=row.candidate_answer or "",
        usage=row.usage,
        cached=row.cached is True,
        trace=row.trace,
        leavings=Leavings(artifacts=artifacts) if artifacts else None,
    )
    return Prior(
        response=response,
        attempts=row.attempts,
        duration_ms=max(row.duration_ms - judging, 0.0),
        verdicts=row.evaluator_results,
    )


def _shape(result: EvaluatorResult) -> tuple[str, str, float, object]:
    return result.name, result.type, result.weight, result.digest


def _plan(planned: Planned) -> tuple[str, str, float, object]:
    return planned.label, planned.type, planned.weight, planned.digest
