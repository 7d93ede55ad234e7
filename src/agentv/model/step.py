"""What is written down of a trial before it has its row: each thing that was paid for.

A line of `steps.jsonl`. Once a trial has its row, its steps mean nothing any more.
"""

from typing import TypedDict

import msgspec

from agentv.model.base import Record
from agentv.model.request import ProviderResponse
from agentv.model.result import EvaluatorResult
from agentv.model.trial import Trial


class StepKey(TypedDict):
    """What tells one trial's steps from another's."""

    suite: str
    eval_id: str
    target: str
    trial: int


def step_key(trial: Trial) -> StepKey:
    """The fields by which a trial's steps are known."""
    return StepKey(
        suite=trial.suite, eval_id=trial.case.id, target=trial.target, trial=trial.number
    )


class _Step(Record, frozen=True, kw_only=True, tag_field="step"):
    suite: str
    eval_id: str
    target: str
    trial: int


class Asked(_Step, frozen=True, kw_only=True, tag="asked"):
    """The target is about to be asked: from here on it may cost something."""


class Answered(_Step, frozen=True, kw_only=True, tag="answered"):
    """There is an answer; its evaluators have not begun."""

    digest: str
    """What shaped the answer: see `agentv.core.digest`."""
    attempts: int
    duration_ms: float
    """From the first attempt to the answer."""
    response: ProviderResponse


class Judged(_Step, frozen=True, kw_only=True, tag="judged"):
    """An evaluator has spoken of the last answer; the next one has not begun."""

    result: EvaluatorResult


Step = Asked | Answered | Judged
"""How a line is told apart: by its key `step`."""

decode_step = msgspec.json.Decoder(Step).decode
