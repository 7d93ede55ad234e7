"""Functions of a program as targets and as evaluators."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from typing import Any

from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.model.score import EvaluationContext, Score

Reply = str | ProviderResponse
TargetFunction = Callable[[ProviderRequest], Reply | Awaitable[Reply]]
Opinion = Score | float | bool
EvaluatorFunction = Callable[[EvaluationContext], Opinion | Awaitable[Opinion]]


class FunctionProvider:
    """A function as a target."""

    def __init__(self, function: TargetFunction, threads: Executor) -> None:
        self._function = function
        self._threads = threads

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        """What the function returns, as an answer."""
        reply = await _call(self._function, request, self._threads)
        if isinstance(reply, ProviderResponse):
            return reply
        if not isinstance(reply, str):
            raise TypeError(f"the target returned {type(reply).__name__}, not a text")
        return ProviderResponse(text=reply)


class FunctionEvaluator:
    """A function as an evaluator."""

    def __init__(self, function: EvaluatorFunction, threads: Executor) -> None:
        self._function = function
        self._threads = threads

    async def evaluate(self, context: EvaluationContext) -> Score:
        """What the function returns, as a score; the runner clamps it and refuses NaN."""
        opinion = await _call(self._function, context, self._threads)
        if isinstance(opinion, Score):
            return opinion
        if not isinstance(opinion, int | float):
            raise TypeError(f"the evaluator returned {type(opinion).__name__}, not a score")
        return Score(value=float(opinion))


async def _call(function: Callable[[Any], Any], argument: Any, threads: Executor) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(argument)
    # In a thread: a function that waits for a network must not hold up every other trial.
    loop = asyncio.get_running_loop()
    result = await loop.run_in_executor(threads, _contained, function, argument)
    return await result if inspect.isawaitable(result) else result


def _contained(function: Callable[[Any], Any], argument: Any) -> Any:
    try:
        return function(argument)
    except (StopIteration, SystemExit) as error:
        # A future cannot carry the first, and the second would end the whole program.
        raise RuntimeError(f"{type(error).__name__}({error})") from error
