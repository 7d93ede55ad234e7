"""What judging the answers of an earlier run anew comes to, and about what it costs.

Pure: from what was recorded and what the suites ask for now to counts.
"""

import math
from array import array
from collections.abc import Sequence

import msgspec

from agentv.core.money import known_cost
from agentv.core.resuming import Decision, Known, Planned, decide_trial
from agentv.model.event import EvaluatorWork
from agentv.model.prior import Prior
from agentv.model.result import EvaluatorResult, TrialResult
from agentv.model.trial import Trial


def decide_rescoring(known: Known, digest: str, evaluators: Sequence[Planned]) -> Decision:
    """What can be done for a trial without asking its target.

    Every answer that fits is judged anew as far as its evaluators changed; a row that ended in an
    error without an answer stands. A decision without either says why there is nothing to judge.

    Args:
        known: What the earlier run recorded.
        digest: What shapes the answer now, on the target as it was then.
        evaluators: As the suite has them now, in their order.
    """
    decision = decide_trial(
        known,
        digest,
        evaluators,
        target_changed=False,
        threshold_changed=True,
        retry_errors=False,
    )
    if decision.prior is None:
        return decision
    return msgspec.structs.replace(decision, prior=from_elsewhere(decision.prior))


def from_elsewhere(prior: Prior) -> Prior:
    """An answer and its verdicts as another run takes them: it did not pay for them.

    An evaluator that could not run has no verdict that could stand.
    """
    verdicts = [said for said in prior.verdicts if said.error is None]
    return msgspec.structs.replace(
        prior,
        response=msgspec.structs.replace(prior.response, cached=True),
        verdicts=tuple(msgspec.structs.replace(said, cached=True) for said in verdicts),
    )


def row_from_elsewhere(row: TrialResult, trial: Trial) -> TrialResult:
    """A row that stands as another run takes it; its suite may be called otherwise by now."""
    results = tuple(msgspec.structs.replace(said, cached=True) for said in row.evaluator_results)
    return msgspec.structs.replace(
        row,
        suite=trial.suite,
        dataset=trial.dataset,
        conversation_id=trial.case.conversation_id,
        cached=True,
        evaluator_results=results,
    )


class WorkTally:
    """What there is to do for each evaluator, told trial by trial."""

    def __init__(self) -> None:
        self._works: dict[tuple[str, str, str | None], _Work] = {}

    def add(self, planned: Planned, judge: str | None, *, stands: bool) -> None:
        """An evaluator of a trial: its verdict stands, or it is asked again."""
        work = self._works.setdefault((planned.label, planned.type, judge), _Work())
        if stands:
            work.stands += 1
        else:
            work.anew += 1

    def paid(self, planned: Planned, judge: str, said: EvaluatorResult) -> None:
        """What the same evaluator took of the same judge in the earlier run."""
        cost = known_cost(said.usage)
        if cost is not None:
            work = self._works.setdefault((planned.label, planned.type, judge), _Work())
            work.costs.append(cost)

    def works(self) -> tuple[EvaluatorWork, ...]:
        """Of each evaluator, in the order in which they came."""
        return tuple(
            EvaluatorWork(
                name=name,
                type=type_,
                judge=judge,
                anew=work.anew,
                stands=work.stands,
                cost_usd=_estimate(work, judge),
            )
            for (name, type_, judge), work in self._works.items()
        )


class _Work:
    def __init__(self) -> None:
        self.anew = self.stands = 0
        self.costs = array("d")


def _estimate(work: _Work, judge: str | None) -> float | None:
    if judge is None or not work.anew:
        return 0.0
    if not work.costs:
        return None
    return math.fsum(work.costs) / len(work.costs) * work.anew
