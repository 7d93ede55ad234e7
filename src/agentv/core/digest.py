"""Identity by content: what shapes a trial's answer, as one short text.

Two trials with the same digest ask the same thing of the same system: the same messages, the same
file contents and guidelines, the same target settings. Where the repository lies and what the
evaluators are does not matter, nor does any secret.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from agentv.model.request import Segment, TextSegment, Turn
from agentv.model.trial import Trial

_ENCODER = msgspec.json.Encoder(order="deterministic")


def digest(*parts: Any) -> str:
    """SHA-256 over JSON-like values, as 32 hexadecimal digits."""
    return hashlib.sha256(_ENCODER.encode(parts)).hexdigest()[:32]


def trial_digest(turns: Sequence[Turn], target_digest: str) -> str:
    """The digest of one case on one target.

    Args:
        turns: The case's messages with their files read.
        target_digest: Over the target's settings as written, variables unresolved.
    """
    content = [(turn.role, [_as_shown(segment) for segment in turn.segments]) for turn in turns]
    return digest(target_digest, content)


def evaluator_digest(shaping: Any, judge_digest: str | None) -> str:
    """The digest of an evaluator; short, since every row holds it.

    Args:
        shaping: `EvaluatorOptions.shaping`.
        judge_digest: Over the settings of the target that it asks, if it asks one.
    """
    return digest(shaping, judge_digest)[:16]


def verdict_digest(evaluator: str, trial: Trial) -> str:
    """The digest of an evaluator's verdict on a case: the evaluator, and what it measures by.

    Args:
        evaluator: Its own digest.
        trial: What the author expects of the answer is as much a part of the verdict as the
            evaluator is, and no part of the question.
    """
    case = trial.case
    if not (case.expected_outcome or case.expected_messages):
        return evaluator
    expected = case.expected_outcome, case.expected_messages, trial.reference_answer
    return digest(evaluator, *expected)[:16]


def _as_shown(segment: Segment) -> dict[str, Any]:
    """As the target is shown it: not where it lies, and no white space around it."""
    fields: dict[str, Any] = msgspec.to_builtins(segment)
    fields.pop("resolved_path", None)
    if isinstance(segment, TextSegment):
        fields["value"] = segment.value.strip()
    return fields
