"""What evaluators are given and what they give back."""

from typing import Any

from agentv.model.base import Record


class Usage(Record, frozen=True, kw_only=True):
    """What a call consumed; `None` means unknown, never zero."""

    input_tokens: int | None = None
    """With `cached_tokens` in it, whatever way the vendor counts."""
    cached_tokens: int | None = None
    """Input that was read from the vendor's cache."""
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    """Output that was thinking; in `output_tokens` already."""
    cost_usd: float | None = None


class EvaluationContext(Record, frozen=True, kw_only=True):
    """All that an evaluator may know of a trial."""

    eval_id: str
    question: str
    """Character for character what the candidate was asked."""
    expected_outcome: str
    reference_answer: str
    candidate_answer: str
    """Untrusted: it must not reach a shell, a path or a template unescaped."""
    guideline_paths: tuple[str, ...] = ()
    input_files: tuple[str, ...] = ()
    input_segments: list[dict[str, Any]] = []
    """The input's parts: `{type: text, value}`, `{type: file, path, resolved_path, text}` and, for
    images and PDFs, `{type: media, path, resolved_path, media_type, size, sha256}`."""
    input_messages: list[dict[str, Any]] = []
    output_messages: list[dict[str, Any]] = []
    """The expected messages, for judge templates that ask for them."""
    target: str = ""
    trial: int = 1
    trace: list[dict[str, Any]] | None = None
    """What an agent did on the way: entries of `agentv.model.trace`."""
    workspace: str | None = None
    """The folder that an agent worked in, as it left it."""


class Score(Record, frozen=True, kw_only=True):
    """One evaluator's verdict on one answer."""

    value: float
    """In [0, 1]; finite."""
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    reasoning: str | None = None
    raw_value: float | None = None
    """What was said before clamping, when that differs from `value`."""
    error: str | None = None
    """Why the evaluator could not run at all; `value` is then 0 and means nothing."""
    error_kind: str | None = None
    """A stable word for that, as in a row's `error`, where there is one."""
    parse_error: str | None = None
    """Why the reply held no valid verdict; `value` is then 0 and counts."""
    provider_request: dict[str, Any] | None = None
    usage: Usage | None = None
    cached: bool = False
    """Whether a judge's reply was kept from an earlier call; `usage` is then that call's."""
