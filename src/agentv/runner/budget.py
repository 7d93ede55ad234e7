"""What a run may cost: no trial begins once the money that is known to be spent is enough."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from agentv.core.money import dollars, known_cost
from agentv.errors import ProviderError
from agentv.model.event import Event, Notice
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.model.score import Usage
from agentv.model.summary import BudgetUse
from agentv.protocols import Provider

Job = TypeVar("Job")


class Budget:
    """The known cost of the calls that are over, candidates' and judges', against a limit.

    What is in flight when the limit is reached goes on to its end, and is all that can be spent
    beyond it.
    """

    def __init__(self, limit_usd: float, emit: Callable[[Event], None]) -> None:
        self._limit_usd = limit_usd
        self._spent_usd = 0.0
        self._emit = emit
        self._unknown: set[str] = set()
        self.has_stopped = False
        """Whether a trial was not begun, for want of money."""

    @property
    def is_reached(self) -> bool:
        """Whether nothing is left."""
        return BudgetUse(limit_usd=self._limit_usd, spent_usd=self._spent_usd).is_reached

    def spend(self, target: str, usage: Usage | None) -> None:
        """A call is over; the first of a target whose cost is unknown is worth a warning."""
        cost = known_cost(usage)
        if cost is not None:
            self._spent_usd += cost
        elif target not in self._unknown:
            self._unknown.add(target)
            self._warn(f"the cost of target '{target}' is unknown, so the budget cannot see it")

    def within(self, jobs: Iterator[Job]) -> Iterator[Job]:
        """The jobs, one at a time, until there are no more or the budget is reached."""
        while (job := next(jobs, None)) is not None:
            if self.is_reached:
                self._stop()
                return
            yield job

    def _stop(self) -> None:
        if not self.has_stopped:
            self.has_stopped = True
            limit, spent = dollars(self._limit_usd), dollars(self._spent_usd)
            self._warn(f"budget of {limit} reached ({spent} spent): no further trial is started")

    def _warn(self, message: str) -> None:
        self._emit(Notice(level="warning", message=message))


class MeteredProvider:
    """A provider whose calls are paid from a budget."""

    def __init__(self, provider: Provider, target: str, budget: Budget) -> None:
        self._provider = provider
        self._target = target
        self._budget = budget

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        """The provider's answer, paid; an error is paid where it says what it took."""
        try:
            response = await self._provider.respond(request)
        except ProviderError as error:
            if error.usage is not None:
                self._budget.spend(self._target, error.usage)
            raise
        self._budget.spend(self._target, response.usage)
        return response
