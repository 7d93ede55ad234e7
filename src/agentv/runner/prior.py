"""Taking over what was known of a trial before."""

from collections.abc import Iterable

from agentv.model.result import EvaluatorResult


class Verdicts:
    """Verdicts from before, each to be taken over once.

    Two evaluators that are alike (a judge asked twice) have two verdicts.
    """

    def __init__(self, results: Iterable[EvaluatorResult]) -> None:
        self._left = list(results)

    def take(self, digest: str) -> EvaluatorResult | None:
        """The first that was shaped by the same evaluator, and that is not taken yet."""
        for place, result in enumerate(self._left):
            if result.digest == digest:
                return self._left.pop(place)
        return None
