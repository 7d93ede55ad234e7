"""Trials, and benches to run them on, for tests of the runner."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from agentv.model.case import EvalCase, Message
from agentv.model.event import Event
from agentv.model.options import EvaluatorOptions
from agentv.model.request import Prompt
from agentv.model.score import EvaluationContext, Score
from agentv.model.step import Step
from agentv.model.trial import Trial
from agentv.protocols import Evaluator, Provider
from agentv.runner.attempts import AttemptPolicy
from agentv.runner.trial import Bench

PATIENT = AttemptPolicy(timeout_seconds=10, max_retries=2)
NOON = datetime(2030, 1, 2, 12, 0, tzinfo=UTC)


class Opinion:
    """An evaluator that has its mind made up, or that fails in a given way."""

    def __init__(self, opinion: Any) -> None:
        self._opinion = opinion
        self.seen: list[EvaluationContext] = []

    async def evaluate(self, context: EvaluationContext) -> Score:
        self.seen.append(context)
        if isinstance(self._opinion, BaseException):
            raise self._opinion
        found: Score = self._opinion
        return found


def trial(id_: str = "sum", *evaluators: str, **changes: Any) -> Trial:
    """A case whose evaluators are known to the bench by their names."""
    message = Message(role="user", content="2 + 2?")
    options = tuple(EvaluatorOptions(type=name) for name in evaluators)
    values = {
        "suite": "sums.eval.yaml",
        "dataset": "sums",
        "case": EvalCase(id=id_, input_messages=(message,), evaluators=options),
        "target": "default",
        "prompt": Prompt(question="2 + 2?", guidelines="", guideline_paths=(), input_files=()),
        "threshold": 0.8,
        "digest": "d",
    }
    return Trial(**{**values, **changes})


def bench(
    provider: Provider,
    evaluators: Mapping[str, Evaluator] | None = None,
    *,
    policy: AttemptPolicy = PATIENT,
    emit: Callable[[Event], None] = lambda event: None,
    note: Callable[[Step], None] = lambda step: None,
    dry_run: bool = False,
) -> Bench:
    """A bench with this provider and these evaluators."""
    known = evaluators or {}
    return Bench(
        provider=provider,
        policy=policy,
        build_evaluator=lambda options: known[options.type],
        emit=emit,
        now=lambda: NOON,
        digest_of=lambda options, _trial: f"digest of {options.label}",
        takes_time=lambda options: options.type in known,
        note=note,
        dry_run=dry_run,
    )


async def never() -> None:
    """Wait for what does not come."""
    await asyncio.Event().wait()
