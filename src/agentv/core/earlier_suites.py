"""How suites were called in an earlier run: their files may have been moved since."""

from collections.abc import Iterable

from agentv.model.run import SuitePlan


class EarlierSuites:
    """The suites of an earlier run, found by what they are called now."""

    def __init__(self, plans: Iterable[SuitePlan]) -> None:
        self._plans = {plan.path: plan for plan in plans}

    def path_of(self, path: str, dataset: str) -> str:
        """The path then; a suite that was moved is the only one of its dataset."""
        if path in self._plans:
            return path
        moved = [plan.path for plan in self._plans.values() if plan.dataset == dataset]
        return moved[0] if len(moved) == 1 else path

    def plan(self, path: str) -> SuitePlan | None:
        """What was planned of the suite that had this path then."""
        return self._plans.get(path)
