"""What came of a run."""

from agentv.core.gate import GateDecision
from agentv.core.summary import RunSummary
from agentv.errors import ExitCode
from agentv.model.base import Record
from agentv.model.event import RunRescored, RunResumed
from agentv.model.exchange import CassetteReport
from agentv.model.flips import FlipReport
from agentv.model.run import RunManifest
from agentv.storage.run_folder import RunFolder


class RunReport(Record, frozen=True, kw_only=True):
    """Recomputed from the run's rows."""

    folder: RunFolder
    manifest: RunManifest
    summary: RunSummary
    decision: GateDecision
    aborted: str | None = None
    """Why the run could not go on."""
    resumed: RunResumed | RunRescored | None = None
    """What was left to do, if the run or its answers were there before."""
    flips: FlipReport | None = None
    """How its verdicts differ from those of the run whose answers it judged anew, if it did and
    that run can still be read."""
    cassette: CassetteReport | None = None
    """What was recorded or replayed."""

    @property
    def exit_code(self) -> ExitCode:
        """The gate's, unless the run was cut short by something other than its trials.

        What a replay missed was not asked, so whatever the gate says of the rest is no verdict.
        """
        if self.aborted or (self.has_missed and not self.was_interrupted):
            return ExitCode.ERRORS
        return self.decision.exit_code

    @property
    def has_missed(self) -> bool:
        """Whether a replay was asked for something that was never recorded."""
        if self.cassette is not None and self.cassette.missed > 0:
            return True
        return self.manifest.replayed is not None and self.summary.replay_misses > 0

    @property
    def was_interrupted(self) -> bool:
        """Whether somebody stopped it."""
        return self.decision.exit_code == ExitCode.INTERRUPTED
