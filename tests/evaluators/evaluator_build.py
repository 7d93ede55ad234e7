"""Evaluators built as a run builds them, by their type's name, for tests."""

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from agentv.loading.files import SearchPath
from agentv.model.options import EvaluatorOptions, OptionProblem
from agentv.model.process import Command, CommandResult
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.model.score import EvaluationContext, Score
from agentv.protocols import EvaluatorBuild, ProcessRunner, Provider
from agentv.registry import Registry
from agentv.transport.process import Processes


class Replies:
    """A judge that says its replies in turn, or raises them, and remembers what it was asked."""

    def __init__(self, *replies: str | Exception | ProviderResponse) -> None:
        self.asked: list[ProviderRequest] = []
        self._replies = list(replies)

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        self.asked.append(request)
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return ProviderResponse(text=reply) if isinstance(reply, str) else reply


class NoProcesses:
    """A process runner for evaluators that must not need one."""

    async def run(
        self, command: Command, listen: Callable[[bytes], None] | None = None
    ) -> CommandResult:
        raise AssertionError("no command may be run here")


def options_of(settings: Mapping[str, Any]) -> EvaluatorOptions:
    """The options that an author's mapping stands for."""
    registry = Registry()
    entry = registry.find("evaluators", settings["type"])
    assert entry is not None
    return msgspec.convert(dict(settings), registry.evaluator_options(entry), strict=True)


def problems_of(settings: Mapping[str, Any], *folders: Path) -> list[OptionProblem]:
    """What is wrong with an author's mapping beyond its types."""
    return list(options_of(settings).problems(SearchPath(folders)))


def context(candidate_answer: str = "It is 4.", **changes: Any) -> EvaluationContext:
    """A trial of a sum, answered."""
    values = {
        "eval_id": "sum",
        "question": "What is 2 + 2?",
        "expected_outcome": "Says four.",
        "reference_answer": "4",
        "target": "default",
    }
    return EvaluationContext(candidate_answer=candidate_answer, **(values | changes))


def score(
    settings: Mapping[str, Any],
    given: EvaluationContext | str,
    *,
    judge: Provider | None = None,
    folder: Path | None = None,
    folders: tuple[Path, ...] = (),
) -> Score:
    """Build the evaluator and let it score once, with real processes if it is handed a folder."""
    case = context(given) if isinstance(given, str) else given

    async def run() -> Score:
        if folder is None:
            return await _evaluate(NoProcesses())
        async with Processes() as processes:
            return await _evaluate(processes)

    async def _evaluate(processes: ProcessRunner) -> Score:
        build = EvaluatorBuild(
            folder=folder or Path.cwd(),
            files=SearchPath(folders or ((folder,) if folder else ())),
            env=dict(os.environ),
            processes=processes,
            judge=judge,
            judge_target="strict",
        )
        return await Registry().build_evaluator(options_of(settings), build).evaluate(case)

    return asyncio.run(run())
