"""What is left to do for a trial of which something is known: nothing, judging, or everything.

Pure: from what was recorded and what is planned to what is to be done, and why.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

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
    "changed_back",
    "gone",
    "repeated",
]
"""`new`: never begun. `in_flight`: begun, without an answer. `unfinished`: answered, not judged to
the end. `error`: retried because that was asked for. `limits_changed`: a threshold, a weight or an
evaluator's name; nobody needs to be asked for that. `changed_back`: what shapes the answer is as it
was when an answer was had that has been set aside since. Of rows for which nothing is done: `gone`,
the trial is not planned any more; `repeated`, a later row is of the same trial."""


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
    changed: tuple[str, ...] = ()
    """The evaluators that came, went or changed, by name, if that is why."""


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
        row = _with_digests(known.row, evaluators)
        return _with_row(row, evaluators, threshold_changed, retry_errors)
    assert known.answered is not None  # noqa: S101 - else there is no digest
    judged = _without_errors(known.judged) if retry_errors else known.judged
    return _answered(known.answered, judged, evaluators)


def decide_superseded(row: TrialResult) -> Decision:
    """What is left to do where a row that was set aside has the answer that is wanted now."""
    return Decision(prior=prior_of(row), why="changed_back")


def _with_row(
    row: TrialResult, evaluators: Sequence[Planned], threshold_changed: bool, retry_errors: bool
) -> Decision:
    if row.candidate_answer is None or row.dry_run is True:
        return Decision(why="error") if retry_errors and row.error else KEPT
    why: Why | None = None
    if retry_errors and any(result.error for result in row.evaluator_results):
        why = "error"
    elif [_shape(result) for result in row.evaluator_results] != [_plan(e) for e in evaluators]:
        digests = sorted(str(result.digest) for result in row.evaluator_results)
        same = digests == sorted(planned.digest for planned in evaluators)
        why = "limits_changed" if same else "evaluators_changed"
    elif threshold_changed:
        why = "limits_changed"
    if why is None:
        return KEPT
    changed = _changed(row, evaluators) if why == "evaluators_changed" else ()
    return Decision(prior=prior_of(row, errors_stand=not retry_errors), why=why, changed=changed)


def _changed(row: TrialResult, evaluators: Sequence[Planned]) -> tuple[str, ...]:
    # Several may say the same of an answer: they are told apart by how many there are.
    then = Counter(result.digest for result in row.evaluator_results)
    now = Counter(planned.digest for planned in evaluators)
    came = _without(then, ((planned.label, planned.digest) for planned in evaluators))
    went = _without(now, ((result.name, result.digest) for result in row.evaluator_results))
    return tuple(dict.fromkeys([*came, *went]))


def _without(known: Counter[Any], named: Iterable[tuple[str, object]]) -> Iterator[str]:
    for name, digest in named:
        if known[digest] <= 0:
            yield name
        known[digest] -= 1


def _with_digests(row: TrialResult, evaluators: Sequence[Planned]) -> TrialResult:
    """The row with digests: rows of older versions have none.

    Their evaluators are taken to be those that are called the same now; judging everything anew
    because of an update would be paid for.
    """
    if all(result.digest is not msgspec.UNSET for result in row.evaluator_results):
        return row
    left = list(evaluators)
    results = []
    for result in row.evaluator_results:
        same = next((e for e in left if (e.label, e.type) == (result.name, result.type)), None)
        if result.digest is msgspec.UNSET and same is not None:
            left.remove(same)
            result = msgspec.structs.replace(result, digest=same.digest)
        results.append(result)
    return msgspec.structs.replace(row, evaluator_results=tuple(results))


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


def prior_of(row: TrialResult, *, errors_stand: bool = False) -> Prior:
    """A row's answer and verdicts, for judging it anew.

    Args:
        row: It must have an answer.
        errors_stand: Whether an evaluator that could not run is left at that.
    """
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
        verdicts=row.evaluator_results if errors_stand else _without_errors(row.evaluator_results),
    )


def _without_errors(results: tuple[EvaluatorResult, ...]) -> tuple[EvaluatorResult, ...]:
    return tuple(result for result in results if result.error is None)


def _shape(result: EvaluatorResult) -> tuple[str, str, float, object]:
    return result.name, result.type, result.weight, result.digest


def _plan(planned: Planned) -> tuple[str, str, float, object]:
    return planned.label, planned.type, planned.weight, planned.digest
