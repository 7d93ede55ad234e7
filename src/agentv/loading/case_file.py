"""How suites and cases are written: the records behind validation and the JSON Schema."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from agentv.model.base import AuthoredRecord
from agentv.model.case import Message
from agentv.model.options import Name

Share = Annotated[float, Meta(ge=0, le=1)]
Messages = Annotated[list[Message], Meta(min_length=1)]
Evaluators = list[Any]
"""Each is checked against the options model of its own type."""


class CaseExecution(AuthoredRecord, frozen=True, kw_only=True):
    """How one case is run, where it differs from its suite."""

    target: Name | None = None
    evaluators: Evaluators | None = None


class CaseFile(AuthoredRecord, frozen=True, kw_only=True):
    """An eval case, as it is written."""

    id: Name
    """Unique in its suite."""
    outcome: str | None = None
    """What a good answer achieves; an LLM judge needs it."""
    expected_outcome: str | None = None
    """The same key's other spelling."""
    conversation_id: str | None = None
    """Groups cases that are moments of one conversation."""
    note: str | None = None
    """For readers; it changes nothing."""
    input_messages: Messages
    expected_messages: list[Message] | None = None
    """The reference answer."""
    execution: CaseExecution | None = None
    evaluators: Evaluators | None = None
    evaluator: Name | None = None
    """The kind used when no list is given."""


class SuiteExecution(AuthoredRecord, frozen=True, kw_only=True):
    """How a suite is run and when it passes."""

    target: Name | None = None
    evaluators: Evaluators | None = None
    """For every case that names none of its own."""
    threshold: Share | None = None
    """A case passes at this score; 0.8 when unset."""
    min_pass_rate: Share | None = None
    """The gate: this share of all cases must pass; 1.0 when unset."""


class SuiteFile(AuthoredRecord, frozen=True, kw_only=True):
    """An eval file, as it is written."""

    schema: Literal["agentv-eval-v2"] | None = msgspec.field(name="$schema", default=None)
    description: str | None = None
    dataset: Name | None = None
    """The name in results; the file's stem when unset."""
    target: Name | None = None
    execution: SuiteExecution | None = None
    evaluator: Name | None = None
    """The kind of evaluator used when no list is given; `llm_judge` when unset."""
    evalcases: list[CaseFile] | str
    """The cases, or the path of a `.jsonl` file with one case a line."""
