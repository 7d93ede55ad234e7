"""The Python API: run a suite from a program, with functions as target and as evaluators.

from agentv import evaluate

run = evaluate(
    [{"id": "sum", "input_messages": [{"role": "user", "content": "2 + 2?"}]}],
    target=lambda request: "4",
    evaluators=[{"type": "equals", "value": "4"}],
)
assert run.passed, run.reason
"""

import asyncio
import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from itertools import chain, count
from pathlib import Path
from typing import Any

import msgspec

from agentv.assembly.earlier import Resume
from agentv.assembly.functions import (
    EvaluatorFunction,
    FunctionEvaluator,
    FunctionProvider,
    TargetFunction,
)
from agentv.assembly.options import CustomTarget, RunOptions
from agentv.core.summary import RunSummary
from agentv.errors import ExitCode, SetupError
from agentv.execution.recorded_variables import recorded_variables
from agentv.execution.report import RunReport
from agentv.execution.request import RunRequest
from agentv.execution.run import execute
from agentv.loading.document import Document
from agentv.loading.suites import LoadContext, LoadedSuite, load_document
from agentv.loading.workspace import Workspace, load_workspace
from agentv.model.options import EvaluatorOptions
from agentv.model.problem import LoadError
from agentv.model.result import TrialResult
from agentv.protocols import Evaluator, EvaluatorBuild, Provider, Sink
from agentv.registry import Entry, Registry
from agentv.storage.rows import open_rows
from agentv.storage.run_folder import RunFolder
from agentv.transport.borders import Borders

SuiteLike = str | Path | Mapping[str, Any] | Sequence[str | Path] | Sequence[Mapping[str, Any]]

_SPARE_THREADS = 32
"""For calls that timed out: a function that hangs keeps its thread."""


class EvalRun(msgspec.Struct, frozen=True):
    """What came of a run. Everything here is recomputed from the rows on disk."""

    report: RunReport

    @property
    def passed(self) -> bool:
        """Whether the gate holds."""
        return self.report.exit_code == ExitCode.OK

    @property
    def exit_code(self) -> ExitCode:
        """What the command line would have exited with."""
        return self.report.exit_code

    @property
    def reason(self) -> str:
        """The gate's decision in a sentence, with its numbers."""
        return self.report.aborted or self.report.decision.reason

    @property
    def summary(self) -> RunSummary:
        """Counts and statistics, each with its denominator."""
        return self.report.summary

    @property
    def folder(self) -> Path:
        """Where `run.json` and `results.jsonl` lie."""
        return self.report.folder.path

    def rows(self) -> Iterator[TrialResult]:
        """The rows in the order in which trials finished, read one at a time."""
        return iter(open_rows(self.report.folder.journal_path, TrialResult))


def evaluate(suite: SuiteLike, **settings: Any) -> EvalRun:
    """Run a suite and return what came of it; see `aevaluate` for the settings.

    Raises:
        RuntimeError: An event loop is running here; `await aevaluate(...)` instead.
    """
    if _is_in_event_loop():
        raise RuntimeError("evaluate() cannot run in an event loop; use `await aevaluate(...)`.")
    return asyncio.run(aevaluate(suite, **settings))


async def aevaluate(
    suite: SuiteLike,
    *,
    target: str | TargetFunction | Provider | None = None,
    evaluators: Sequence[EvaluatorFunction | Mapping[str, Any]] | None = None,
    workers: int | None = None,
    threshold: float | None = None,
    min_pass_rate: float | None = None,
    agent_timeout: float | None = None,
    max_retries: int = 2,
    budget_usd: float | None = None,
    cache: bool = False,
    record: str | Path | None = None,
    replay: str | Path | None = None,
    targets_file: str | Path | None = None,
    out: str | Path | None = None,
    cwd: str | Path | None = None,
    resume: str | Path | None = None,
    retry_errors: bool = False,
    sinks: Sequence[Sink] = (),
) -> EvalRun:
    """Run a suite.

    Args:
        suite: The path of an eval file, several paths, a mapping with the keys of an eval file, or
            a list of cases with the keys of a case.
        target: A target's name, or a function (sync or async) or `Provider` that answers in place
            of every target the suite names. A sync function runs in a thread, so a time-out gives
            up on its answer but cannot end it.
        evaluators: Used for every case that names none itself: functions (sync or async) that
            return a `Score`, a number in [0, 1] or a bool, or mappings as in an eval file.
        workers: Trials in flight at once.
        threshold: A case passes at this score (the suite's, or 0.8).
        min_pass_rate: The gate: this share of all cases must pass (the suite's, or 1.0).
        agent_timeout: Seconds an attempt may take.
        max_retries: Attempts that may follow a time-out.
        budget_usd: Start no further trial once calls are known to have cost this much; a run that
            is cut short by it is incomplete and does not pass.
        cache: Take answers from the response cache, and keep new ones in it. A function's or a
            provider's of yours are not kept.
        record: Record what targets are asked and what they answer in this cassette, a folder. A
            function's or a provider's of yours is not recorded.
        replay: Take every answer from this cassette; variables need not be set.
        targets_file: Found from the suite upwards when not given.
        out: The run's folder; a new one below `.agentv/results` when not given.
        cwd: Relative paths start here; the working directory when not given.
        resume: The folder of a run that goes on: rows that stand are kept, answers that were had
            are only judged. What a function of yours says is taken to be the same as it was.
        retry_errors: With `resume`: try trials again that ended in an error.
        sinks: Told of everything as it happens.

    Raises:
        LoadError: The suite has mistakes; all of them are in `problems`.
        NothingToRunError: There is no case to run.
        SetupError: The machine lacks something.
        CancelledError: The call was cancelled; the rows that were finished are in the folder.
    """
    base = Path(cwd or ".").absolute()  # noqa: ASYNC240 - touches no disk
    registry = Registry()
    threads = ThreadPoolExecutor((workers or 1) + _SPARE_THREADS, thread_name_prefix="agentv")
    custom = _custom_target(target, threads)
    context = LoadContext(
        cwd=base,
        process_env=os.environ,
        registry=registry,
        targets_path=base / targets_file if targets_file else None,
        target_names=(target,) if isinstance(target, str) else (),
        targets_needed=custom is None,
        recorded_variables=recorded_variables(base / replay if replay else None),
        evaluators=_registered(evaluators, registry, threads),
    )
    workspace = _load(suite, base, context)
    if workspace.errors:
        raise LoadError(workspace.errors)
    request = RunRequest(
        workspace=workspace,
        options=RunOptions(
            workers=workers,
            agent_timeout=agent_timeout,
            max_retries=max_retries,
            threshold=threshold,
            min_pass_rate=min_pass_rate,
            budget_usd=budget_usd,
            cache=cache,
        ),
        registry=registry,
        cwd=base,
        out=Path(out) if out else None,
        custom=custom,
        resume=_resume(base, resume, retry_errors=retry_errors),
        record=Path(record) if record else None,
        replay=Path(replay) if replay else None,
        sinks=sinks,
    )
    try:
        async with Borders() as borders:
            report = await execute(request, borders)
    finally:
        threads.shutdown(wait=False)
    if report.exit_code == ExitCode.INTERRUPTED:
        raise asyncio.CancelledError
    return EvalRun(report)


def _resume(base: Path, run: str | Path | None, *, retry_errors: bool) -> Resume | None:
    if run is None:
        return None
    folder = RunFolder(base / run)
    if not folder.manifest_path.is_file():
        raise SetupError(f"{run} holds no run: there is no {folder.manifest_path.name} in it.")
    return Resume(folder=folder, retry_errors=retry_errors)


def _is_in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _custom_target(target: Any, threads: Executor) -> CustomTarget | None:
    if target is None or isinstance(target, str):
        return None
    if hasattr(target, "respond"):
        return CustomTarget(name=type(target).__name__, provider=target)
    name = getattr(target, "__name__", type(target).__name__).strip("<>")
    return CustomTarget(name=name, provider=FunctionProvider(target, threads))


def _registered(
    evaluators: Sequence[EvaluatorFunction | Mapping[str, Any]] | None,
    registry: Registry,
    threads: Executor,
) -> tuple[Mapping[str, Any], ...] | None:
    """Evaluators as an eval file writes them; functions get a name in the registry."""
    if evaluators is None:
        return None
    return tuple(
        dict(item) if isinstance(item, Mapping) else {"type": _register(item, registry, threads)}
        for item in evaluators
    )


def _register(function: EvaluatorFunction, registry: Registry, threads: Executor) -> str:
    own = getattr(function, "__name__", type(function).__name__).strip("<>")
    names = chain([own], (f"{own}_{number}" for number in count(2)))
    name = next(name for name in names if registry.find("evaluators", name) is None)

    def build(options: EvaluatorOptions, given: EvaluatorBuild) -> Evaluator:
        del options, given
        return FunctionEvaluator(function, threads)

    registry.evaluators[name] = Entry(
        factory=build, options=EvaluatorOptions, summary=inspect.getdoc(function) or name
    )
    return name


def _load(suite: SuiteLike, base: Path, context: LoadContext) -> Workspace:
    if isinstance(suite, str | Path):
        return load_workspace([base / suite], context)
    if isinstance(suite, Mapping):
        return load_workspace([], context, extra=[_from_objects(dict(suite), base, context)])
    if all(isinstance(item, Mapping) for item in suite):
        tree = {"evalcases": [dict(item) for item in suite if isinstance(item, Mapping)]}
        return load_workspace([], context, extra=[_from_objects(tree, base, context)])
    return load_workspace([base / str(item) for item in suite], context)


def _from_objects(tree: dict[str, Any], base: Path, context: LoadContext) -> LoadedSuite:
    return load_document(Document(shown="<suite>", text=None, tree=tree), base / "suite", context)
