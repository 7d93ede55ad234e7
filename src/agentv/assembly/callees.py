"""Which targets a run calls that goes on: no other needs to be there, or is probed."""

from collections.abc import Sequence

from agentv.assembly.stations import Station
from agentv.assembly.trials import Part
from agentv.core.resuming import Planned
from agentv.model.prior import Prior
from agentv.model.trial import Trial
from agentv.runner.prior import Verdicts


class Callees:
    """Told of what is left, trial by trial."""

    def __init__(self) -> None:
        self._known: set[int] = set()

    def has(self, station: Station) -> bool:
        """Whether a target will be called."""
        return id(station) in self._known

    def add(
        self, trial: Trial, part: Part, planned: Sequence[Planned], prior: Prior | None
    ) -> None:
        """A trial calls its target, unless it has an answer, and the judges that have not spoken.

        Args:
            trial: What is left.
            part: Of which it is.
            planned: Its evaluators, in their order.
            prior: Its answer and the verdicts that are taken over.
        """
        if prior is None:
            self._known.add(id(part.station))
        said = Verdicts(prior.verdicts if prior else ())
        for options, evaluator in zip(trial.case.evaluators, planned, strict=True):
            judge = part.judge_of(options)
            if said.take(evaluator.digest) is None and judge is not None:
                self._known.add(id(judge))
