"""What a trial hands over: to its candidate, and to its evaluators."""

from collections.abc import Sequence
from typing import Any

import msgspec

from agentv.model.case import Message
from agentv.model.request import (
    GuidelineSegment,
    MediaSegment,
    ProviderRequest,
    ProviderResponse,
    Segment,
    TextSegment,
)
from agentv.model.score import EvaluationContext
from agentv.model.trial import Trial


def request_of(trial: Trial) -> ProviderRequest:
    """What the candidate is sent on the first attempt."""
    prompt = trial.prompt
    return ProviderRequest(
        eval_id=trial.case.id,
        suite=trial.suite,
        question=prompt.question,
        guidelines=prompt.guidelines,
        guideline_paths=prompt.guideline_paths,
        input_files=prompt.input_files,
        chat_prompt=prompt.chat_prompt,
        media=prompt.media,
        trial=trial.number,
    )


def context_of(trial: Trial, response: ProviderResponse) -> EvaluationContext:
    """All that an evaluator may know of a trial and its answer."""
    case, prompt = trial.case, trial.prompt
    return EvaluationContext(
        eval_id=case.id,
        question=prompt.question,
        expected_outcome=case.expected_outcome,
        reference_answer=trial.reference_answer,
        candidate_answer=response.text,
        guideline_paths=prompt.guideline_paths,
        input_files=prompt.input_files,
        input_segments=_segments(trial),
        input_messages=_plain(case.input_messages),
        output_messages=_plain(case.expected_messages),
        target=trial.target,
        trial=trial.number,
        trace=response.trace,
        workspace=_workspace(response),
    )


def _workspace(response: ProviderResponse) -> str | None:
    leavings = response.leavings
    if leavings is None:
        return None
    # A kept one, when the answer is from before.
    return leavings.workspace.path if leavings.workspace else leavings.artifacts.get("workspace")


def _segments(trial: Trial) -> list[dict[str, Any]]:
    return [
        {**_segment(segment), "role": turn.role}
        for turn in trial.turns
        for segment in turn.segments
    ]


def _segment(segment: Segment) -> dict[str, Any]:
    if isinstance(segment, TextSegment | MediaSegment):
        plain: dict[str, Any] = msgspec.to_builtins(segment)
        return plain
    return {
        "type": "file",
        "path": segment.path,
        "resolved_path": segment.resolved_path,
        "text": segment.text,
        "guideline": isinstance(segment, GuidelineSegment),
    }


def _plain(messages: Sequence[Message]) -> list[dict[str, Any]]:
    return [msgspec.to_builtins(message) for message in messages]
