"""Answers that were asked for all at once, handed out one at a time."""

from collections.abc import Callable, Mapping, Sequence

from agentv.errors import ProviderError, ReplayMiss, RunAborted
from agentv.model.event import Event, Notice
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.protocols import BatchProvider, Provider

Key = tuple[str, str, int]
Outcome = ProviderResponse | ProviderError | None
"""`None` leaves a request to be sent singly."""


class BatchedProvider:
    """A provider whose first attempts were answered by a batch; retries go one at a time."""

    def __init__(self, provider: Provider, outcomes: Mapping[Key, Outcome]) -> None:
        self._provider = provider
        self._outcomes = dict(outcomes)

    def answer_to(self, request: ProviderRequest) -> ProviderResponse | None:
        """The batch's answer, if it has one; it is still to be handed out."""
        outcome = self._outcomes.get(key_of(request))
        return outcome if isinstance(outcome, ProviderResponse) else None

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        """The batch's outcome for this request, else the provider's own answer."""
        outcome = self._outcomes.pop(key_of(request), None) if request.attempt == 1 else None
        if outcome is None:
            return await self._provider.respond(request)
        if isinstance(outcome, ProviderError):
            raise outcome
        return outcome


async def dispatch_batch(
    target: str,
    provider: Provider,
    requests: Sequence[ProviderRequest],
    emit: Callable[[Event], None],
) -> Provider:
    """Send all requests in one call and return the provider that hands out what came back.

    Where the provider knows no batches, or its batch throws, the requests are left to be sent one
    at a time (the specification's fallback) and a notice says why.
    """
    if not isinstance(provider, BatchProvider):
        message = f"target '{target}' asks for batching, which its provider lacks; sending singly"
        emit(Notice(level="verbose", message=message))
        return provider
    try:
        outcomes = _by_key(requests, await provider.respond_batch(requests))
    except RunAborted:
        raise
    except ReplayMiss as missed:
        # Sent singly they would be missed, too: the batch is what differs from its recording.
        return BatchedProvider(provider, dict.fromkeys(map(key_of, requests), missed))
    except Exception as error:  # noqa: BLE001 - whatever broke the batch, the cases can still run
        message = f"the batch for target '{target}' could not be made ({error}); sending singly"
        emit(Notice(level="warning", message=message))
        return provider
    return BatchedProvider(provider, outcomes)


def key_of(request: ProviderRequest) -> Key:
    """What tells requests of one batch apart."""
    return request.suite, request.eval_id, request.trial


def _by_key(requests: Sequence[ProviderRequest], outcomes: Sequence[Outcome]) -> dict[Key, Outcome]:
    if len(outcomes) != len(requests):
        # Which answers are missing cannot be known: one case must not be given another's.
        raise ProviderError(f"{len(outcomes)} answers came back for {len(requests)} cases")
    keys = map(key_of, requests)
    return dict(zip(keys, outcomes, strict=True))
