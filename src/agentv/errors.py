"""Every exception of ours, as a tree whose branches say who must act.

    AgentVError
    ├── AuthorError            whoever wrote the YAML or typed the arguments  -> exit 2
    ├── SetupError             whoever set up this machine                    -> exit 2
    ├── RunAborted             the run cannot go on; finished rows are kept   -> exit 3
    └── ProviderError          the remote side: an attempt has no answer      -> a row
        ├── ProviderTimeout    the same, because time ran out; retried
        └── ReplayMiss         the same, because a replay has no recording of it

Errors that belong to a place in a file are `agentv.model.problem.Problem` records, raised
together in a `LoadError` (a kind of `AuthorError`) so that all mistakes are seen at once.
"""

from enum import IntEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentv.model.request import Leavings
    from agentv.model.score import Usage


class ExitCode(IntEnum):
    """What the process tells a CI gate. `docs/exit-codes.md` is the public page."""

    OK = 0
    """The gate holds."""
    GATE_FAILED = 1
    """Enough trials failed on quality that the gate does not hold."""
    USAGE = 2
    """The user's files, arguments or machine are wrong; nothing was judged."""
    ERRORS = 3
    """The gate fails only because trials ended in `error`, or the run is incomplete."""
    NOTHING = 5
    """Nothing ran, or nothing was asserted."""
    INTERRUPTED = 130


class AgentVError(Exception):
    """Root of all errors this package raises on purpose; the message is fit for a person."""

    exit_code: ExitCode = ExitCode.USAGE


class AuthorError(AgentVError):
    """The author of a file or a command line must change it."""


class SetupError(AgentVError):
    """This machine lacks something: a program, a permission, space on a disk."""


class RunAborted(AgentVError):  # noqa: N818 - says what happened to the run
    """The run cannot go on (a health check failed, the journal cannot be written)."""

    exit_code = ExitCode.ERRORS


class ProviderError(AgentVError):
    """One attempt ended without an answer.

    Args:
        message: One line for a person.
        kind: A stable word for filters and dashboards: `exit`, `spawn`, `empty`, `timeout`, ….
        detail: What helps to find the cause (the end of stderr, say); may have many lines.
        usage: What the attempt consumed all the same, where that is known (a refusal costs, too).
        trace: What an agent did before it failed.
        leavings: What the attempt left on disk.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str = "provider",
        detail: str | None = None,
        usage: "Usage | None" = None,
        trace: list[dict[str, Any]] | None = None,
        leavings: "Leavings | None" = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.detail = detail
        self.usage = usage
        self.trace = trace
        self.leavings = leavings


class ProviderTimeout(ProviderError):  # noqa: N818 - a time-out is an error by its base
    """An attempt ran out of time, whoever noticed it; the only kind that the runner retries."""

    def __init__(
        self,
        message: str,
        *,
        detail: str | None = None,
        usage: "Usage | None" = None,
        trace: list[dict[str, Any]] | None = None,
        leavings: "Leavings | None" = None,
    ) -> None:
        super().__init__(
            message, kind="timeout", detail=detail, usage=usage, trace=trace, leavings=leavings
        )


REPLAY_MISS = "replay_miss"
"""The kind of a `ReplayMiss`, by which rows tell of it."""


class ReplayMiss(ProviderError):  # noqa: N818 - says what happened to the request
    """A replay was asked for something that was never recorded; no other try would find it."""

    def __init__(self, message: str, *, detail: str | None = None) -> None:
        super().__init__(message, kind=REPLAY_MISS, detail=detail)
