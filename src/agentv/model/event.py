"""What a run tells its sinks while it is under way."""

from typing import Literal

from agentv.model.base import Record
from agentv.model.result import TrialResult


class RunStarted(Record, frozen=True, kw_only=True):
    """The plan stands; no trial has begun."""

    total: int
    workers: int
    folder: str | None
    dry_run: bool = False


class TrialStarted(Record, frozen=True, kw_only=True):
    """A worker took a trial up."""

    eval_id: str
    target: str


class AttemptFailed(Record, frozen=True, kw_only=True):
    """An attempt timed out and another follows."""

    eval_id: str
    target: str
    attempt: int
    message: str


class TrialFinished(Record, frozen=True, kw_only=True):
    """A row is on disk."""

    result: TrialResult


class Notice(Record, frozen=True, kw_only=True):
    """Something worth a line; `verbose` ones are shown only when asked for."""

    level: Literal["warning", "verbose"]
    message: str


Event = RunStarted | TrialStarted | AttemptFailed | TrialFinished | Notice
