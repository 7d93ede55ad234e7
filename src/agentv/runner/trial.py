"""The story of one trial, from its question to its row."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from agentv.errors import ProviderError
from agentv.model.event import AttemptFailed, Event
from agentv.model.options import EvaluatorOptions
from agentv.model.result import TrialResult
from agentv.model.trial import Trial
from agentv.protocols import Evaluator, Provider
from agentv.runner.attempts import Answer, AttemptPolicy, ask
from agentv.runner.inputs import context_of, request_of
from agentv.runner.row import row_of, with_artifacts
from agentv.runner.scoring import Scored, score_once
from agentv.runner.workspaces import conclude


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Where trials of one target are run."""

    provider: Provider
    policy: AttemptPolicy
    build_evaluator: Callable[[EvaluatorOptions], Evaluator]
    emit: Callable[[Event], None]
    now: Callable[[], datetime]
    dry_run: bool = False
    """Ask the stand-in provider, score nothing."""


async def run_trial(trial: Trial, bench: Bench) -> TrialResult:
    """Ask, score, conclude. Whatever goes wrong with this trial becomes its row.

    Raises:
        RunAborted: The whole run cannot go on.
    """
    started = time.perf_counter()
    answer = await _obtain_answer(trial, bench)
    scores = await _score(trial, answer, bench)
    row = row_of(
        trial,
        answer,
        scores,
        ended=bench.now(),
        duration_ms=round((time.perf_counter() - started) * 1000, 3),
        dry_run=bench.dry_run,
    )
    if answer.leavings is None:
        return row
    artifacts = await conclude(answer.leavings, failed=row.verdict != "pass")
    return with_artifacts(row, artifacts)


async def _obtain_answer(trial: Trial, bench: Bench) -> Answer:
    if trial.problem is not None:
        return Answer(attempts=0)

    def tell(attempt: int, error: Exception) -> None:
        bench.emit(
            AttemptFailed(
                eval_id=trial.case.id, target=trial.target, attempt=attempt, message=str(error)
            )
        )

    answer = await ask(bench.provider, request_of(trial), bench.policy, tell)
    response = answer.response
    if response is not None and not response.dry_run and not response.text.strip():
        # Blank text would satisfy every negated check: it is no answer at all.
        empty = ProviderError(
            "the answer is empty",
            kind="empty",
            usage=response.usage,
            trace=response.trace,
            leavings=response.leavings,
        )
        return Answer(attempts=answer.attempts, error=empty)
    return answer


async def _score(trial: Trial, answer: Answer, bench: Bench) -> list[Scored]:
    """Let each evaluator look at the answer, in order; a rehearsed one is not looked at."""
    response = answer.response
    if response is None or response.dry_run or bench.dry_run:
        return []
    context = context_of(trial, response)
    evaluators = trial.case.evaluators
    return [await score_once(options, context, bench.build_evaluator) for options in evaluators]
