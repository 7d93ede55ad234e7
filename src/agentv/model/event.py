"""What a run tells its sinks while it is under way."""

from typing import Literal

from agentv.model.base import Record
from agentv.model.result import TrialResult


class RunStarted(Record, frozen=True, kw_only=True):
    """The plan stands; no trial has begun."""

    total: int
    workers: int
    folder: str | None
    done: int = 0
    """Rows that were there before."""
    dry_run: bool = False
    rescoring: bool = False
    """Whether no candidate is asked."""


class Reason(Record, frozen=True, kw_only=True):
    """Why some trials are asked or judged again, or count no more."""

    why: str
    """One of `agentv.core.resuming.Why`."""
    trials: int
    examples: tuple[str, ...]
    """The ids of the first few cases."""
    names: tuple[str, ...] = ()
    """The first few targets or evaluators that changed, if that is why."""


class RunResumed(Record, frozen=True, kw_only=True):
    """A run goes on: what stands, and what is left to do."""

    kept: int
    """Trials whose rows stand."""
    judged: int
    """Trials whose answers stand, and that are only judged."""
    asked: int
    """Trials that are asked, for the first time or again."""
    set_aside: int
    """Rows that do not stand any more; they are in `superseded.jsonl`."""
    reasons: tuple[Reason, ...]
    unanswered: int = 0
    """Trials without an answer in a run in which nobody may be asked; they get no row."""
    errors_kept: int = 0
    """Of the kept rows, those with an error that could be tried again."""
    torn: tuple[str, ...] = ()
    """The names of files whose last line was cut off in the middle; it counts for nothing."""


class EvaluatorWork(Record, frozen=True, kw_only=True):
    """What is left to do for one evaluator when answers are judged anew."""

    name: str
    type: str
    judge: str | None
    """The target that it asks; `None` if it asks nobody."""
    anew: int
    stands: int
    """Verdicts that are taken over: what shaped them is the same."""
    cost_usd: float | None
    """About what it will cost, by its calls in the earlier run; `None` when that is unknown."""


class RunRescored(Record, frozen=True, kw_only=True):
    """Answers of an earlier run are judged anew: what stands, and what is to be done."""

    run_id: str
    """Of the earlier run."""
    kept: int
    """Trials without an answer whose rows stay: they ended in an error."""
    judged: int
    """Trials with an answer."""
    unanswered: int
    """Trials that have no answer which fits; they get no row."""
    reasons: tuple[Reason, ...]
    """Why not."""
    evaluators: tuple[EvaluatorWork, ...]
    workspaces_gone: int = 0
    """Answers of agents whose workspace an evaluator may want to look at, and which is gone."""
    without_row: int = 0
    """Trials of the earlier run that have no row: it was cut short, or is being written."""


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

    level: Literal["warning", "news", "verbose"]
    message: str


class LaneState(Record, frozen=True, kw_only=True):
    """What is going on on the way to one endpoint and model."""

    endpoint: str
    model: str
    in_flight: int
    """Requests that were sent and are not answered."""
    waiting: int
    """Requests that will be sent."""
    wait_seconds: float
    """Until the first of these goes; 0 when none waits."""


class LanesWaiting(Record, frozen=True, kw_only=True):
    """Requests wait for a rate limit; told about twice a second, and once more when none does."""

    lanes: tuple[LaneState, ...]


class BatchWaiting(Record, frozen=True, kw_only=True):
    """A batch was looked at; told after every look."""

    model: str
    """Who works on it: `azure/gpt-x`."""
    batch_id: str
    word: str
    """The vendor's own word for its state."""
    done: int
    """Requests that were answered."""
    failed: int
    total: int
    next_look_seconds: float | None
    """`None` once it has ended."""


Event = (
    RunStarted
    | RunResumed
    | RunRescored
    | TrialStarted
    | AttemptFailed
    | TrialFinished
    | Notice
    | LanesWaiting
    | BatchWaiting
)
