"""One case on one target once, ready to run."""

from agentv.model.base import Record
from agentv.model.case import EvalCase
from agentv.model.request import Prompt, Turn
from agentv.model.result import ErrorInfo


class Trial(Record, frozen=True, kw_only=True):
    """Everything that is asked and against which the answer is held."""

    suite: str
    """The suite's path as rows show it."""
    dataset: str
    case: EvalCase
    target: str
    number: int = 1
    """1-based; grows with each repetition."""
    turns: tuple[Turn, ...] = ()
    prompt: Prompt
    reference_answer: str = ""
    threshold: float
    digest: str
    problem: ErrorInfo | None = None
    """Why this trial cannot be run (an attachment has vanished since loading)."""
