"""Why something is left to do for trials, or why their rows go: told one by one, counted."""

from collections.abc import Callable, Iterable, Sequence

from agentv.core.resuming import Why
from agentv.model.event import Reason
from agentv.model.trial import Trial

_EXAMPLES = 3
_NAMES = 20
"""How many names of targets or evaluators are told."""


class Reasons:
    """Counts, and keeps the first few cases of each."""

    def __init__(self) -> None:
        self._counts: dict[Why, int] = {}
        self._examples: dict[Why, list[str]] = {}
        self._names: dict[Why, dict[str, None]] = {}

    def add(self, why: Why | None, trial: Trial, changed: Iterable[str] = ()) -> None:
        """One more; `None` is no reason.

        Args:
            why: The reason.
            trial: For which something is done.
            changed: The evaluators that are why.
        """
        if why is None:
            return
        self._counts[why] = self._counts.get(why, 0) + 1
        examples = self._examples.setdefault(why, [])
        if len(examples) < _EXAMPLES:
            examples.append(trial.case.id)
        names = self._names.setdefault(why, {})
        for name in [trial.target] if why == "target_changed" else changed:
            if len(names) < _NAMES:
                names[name] = None

    def tell(self, why: Why, places: Sequence[int], case_at: Callable[[int], str]) -> None:
        """Rows that go, by where they begin."""
        if places:
            self._counts[why] = len(places)
            self._examples[why] = [case_at(place) for place in places[:_EXAMPLES]]

    def all(self) -> tuple[Reason, ...]:
        """In the order in which they came up."""
        return tuple(
            Reason(
                why=why,
                trials=self._counts[why],
                examples=tuple(ids),
                names=tuple(self._names.get(why, ())),
            )
            for why, ids in self._examples.items()
        )
