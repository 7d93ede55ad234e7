"""Attempts at one answer: limited in time, and repeated when time ran out."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from agentv.errors import ProviderError, ProviderTimeout, RunAborted
from agentv.model.base import Record
from agentv.model.request import Leavings, ProviderRequest, ProviderResponse
from agentv.protocols import Provider
from agentv.runner.cancelling import is_being_cancelled
from agentv.runner.workspaces import conclude


class AttemptPolicy(Record, frozen=True, kw_only=True):
    """How long an attempt may take, and how many may follow a time-out."""

    timeout_seconds: float | None
    max_retries: int

    def __post_init__(self) -> None:
        if self.max_retries < 0:
            raise ValueError("max_retries must not be negative")


class Answer(Record, frozen=True, kw_only=True):
    """What the attempts came to: a response or the last error."""

    attempts: int
    response: ProviderResponse | None = None
    error: ProviderError | None = None

    @property
    def leavings(self) -> Leavings | None:
        """What the last attempt left on disk."""
        last = self.response or self.error
        return last.leavings if last is not None else None


async def ask(
    provider: Provider,
    request: ProviderRequest,
    policy: AttemptPolicy,
    on_retry: Callable[[int, ProviderError], None],
) -> Answer:
    """Ask until there is an answer, an error that is not a time-out, or no budget left.

    Every time-out counts against the same budget, whoever noticed it: an HTTP client, an agent's
    process, or the limit set here. Only `RunAborted` and cancellation pass through.
    """
    attempt = 1
    while True:
        try:
            response = await _once(provider, request, policy.timeout_seconds)
            return Answer(attempts=attempt, response=response)
        except ProviderTimeout as error:
            if attempt > policy.max_retries:
                return Answer(attempts=attempt, error=error)
            on_retry(attempt, error)
            await conclude(error.leavings, failed=True)
        except ProviderError as error:
            return Answer(attempts=attempt, error=error)
        attempt += 1
        request = msgspec.structs.replace(request, attempt=attempt)


class RetryingProvider:
    """A provider behind the same attempts as a candidate's: what judges are asked through."""

    def __init__(self, provider: Provider, policy: AttemptPolicy) -> None:
        self._provider = provider
        self._policy = policy

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        """The first answer within the budget; raises the last error."""
        answer = await ask(self._provider, request, self._policy, lambda *_: None)
        await conclude(answer.leavings, failed=answer.response is None)
        if answer.response is None:
            raise answer.error or ProviderError("no answer")
        return answer.response


async def _once(
    provider: Provider, request: ProviderRequest, limit: float | None
) -> ProviderResponse:
    try:
        async with asyncio.timeout(limit) as timer:
            return _sound(await provider.respond(request))
    except TimeoutError as error:
        if timer.expired():
            raise ProviderTimeout(f"no answer within {limit:g} s") from error
        raise ProviderTimeout(f"timed out: {error}" if str(error) else "timed out") from error
    except (ProviderError, RunAborted):
        raise
    except asyncio.CancelledError as error:
        if is_being_cancelled():
            raise
        message = "something inside the provider was cancelled"
        raise ProviderError(message, kind="crash") from error
    except Exception as error:
        # A bug in a provider (or in a user's function) is that trial's error, not the run's end.
        raise ProviderError(f"{type(error).__name__}: {error}", kind="crash") from error


def _sound(response: Any) -> ProviderResponse:
    """A response that can be written into a row, whoever gave it."""
    if not isinstance(response, ProviderResponse):
        raise TypeError(f"the provider returned {type(response).__name__}, not a ProviderResponse")
    return msgspec.convert(msgspec.to_builtins(response), ProviderResponse)
