"""The story of one trial, from its question to its row."""

import time
from collections.abc import Callable
from datetime import datetime

from agentv.errors import ProviderError
from agentv.model.base import Record
from agentv.model.event import AttemptFailed, Event
from agentv.model.options import EvaluatorOptions
from agentv.model.prior import Prior
from agentv.model.request import ProviderResponse
from agentv.model.result import TrialResult
from agentv.model.step import Answered, Asked, Judged, Step, step_key
from agentv.model.trial import Trial
from agentv.protocols import Evaluator, Provider
from agentv.runner.attempts import Answer, AttemptPolicy, ask
from agentv.runner.inputs import context_of, request_of
from agentv.runner.prior import Verdicts
from agentv.runner.row import row_of, with_artifacts
from agentv.runner.scoring import Scored, score_once, taken_over
from agentv.runner.workspaces import conclude


class Bench(Record, frozen=True, kw_only=True):
    """Where trials of one target are run."""

    provider: Provider
    policy: AttemptPolicy
    build_evaluator: Callable[[EvaluatorOptions], Evaluator]
    emit: Callable[[Event], None]
    now: Callable[[], datetime]
    digest_of: Callable[[EvaluatorOptions, Trial], str]
    """What shapes an evaluator's verdict on a trial's answer: see `agentv.core.digest`."""
    takes_time: Callable[[EvaluatorOptions], bool]
    """Whether an evaluator waits for something, so that much may happen before it has spoken."""
    costs: bool = True
    """Whether asking costs anything: time of a service, money."""
    note: Callable[[Step], None] = lambda _step: None
    """Writes a step down before the next one begins."""
    dry_run: bool = False
    """Ask the stand-in provider, score nothing."""
    attribute: Callable[[Trial, Prior | None], None] | None = None
    """Told whose turn it is, where exchanges are recorded or replayed."""


async def run_trial(trial: Trial, bench: Bench, prior: Prior | None = None) -> TrialResult:
    """Ask, score, conclude. Whatever goes wrong with this trial becomes its row.

    Args:
        trial: What is asked.
        bench: Where.
        prior: What is known from before: its answer is not asked for again, and the verdicts that
            still hold are taken over.

    Raises:
        RunAborted: The whole run cannot go on.
    """
    started = time.perf_counter() - (prior.duration_ms / 1000 if prior else 0)
    if bench.attribute is not None:
        bench.attribute(trial, prior)
    answer = await _obtain_answer(trial, bench, started) if prior is None else _known(prior)
    scores = await _score(trial, answer, bench, prior)
    row = row_of(
        trial,
        answer,
        scores,
        ended=bench.now(),
        duration_ms=_milliseconds_since(started),
        dry_run=bench.dry_run,
    )
    if answer.leavings is None:
        return row
    artifacts = await conclude(answer.leavings, failed=row.verdict != "pass")
    return with_artifacts(row, artifacts)


def _known(prior: Prior) -> Answer:
    return Answer(attempts=prior.attempts, response=prior.response)


async def _obtain_answer(trial: Trial, bench: Bench, started: float) -> Answer:
    if trial.problem is not None:
        return Answer(attempts=0)
    key = step_key(trial)
    if bench.costs:
        bench.note(Asked(**key))

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
    if response is not None and _may_be_lost(response, trial, bench):
        bench.note(
            Answered(
                **key,
                digest=trial.digest,
                attempts=answer.attempts,
                duration_ms=_milliseconds_since(started),
                response=response,
            )
        )
    return answer


def _may_be_lost(response: ProviderResponse, trial: Trial, bench: Bench) -> bool:
    """Whether anything is waited for between this answer and its row."""
    return response.leavings is not None or any(map(bench.takes_time, trial.case.evaluators))


async def _score(trial: Trial, answer: Answer, bench: Bench, prior: Prior | None) -> list[Scored]:
    """Let each evaluator look at the answer, in order; a rehearsed one is not looked at."""
    response = answer.response
    if response is None or response.dry_run or bench.dry_run:
        return []
    context = context_of(trial, response)
    known = Verdicts(prior.verdicts if prior else ())
    scores = []
    for options in trial.case.evaluators:
        digest = bench.digest_of(options, trial)
        said = known.take(digest)
        if said is not None:
            scores.append(taken_over(options, said, digest))
            continue
        scored = await score_once(options, context, bench.build_evaluator, digest)
        if bench.takes_time(options):
            bench.note(Judged(**step_key(trial), result=scored.result()))
        scores.append(scored)
    return scores


def _milliseconds_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
