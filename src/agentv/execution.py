"""A run from its first probe to its gate: open the folder, run the crews, count the rows."""

import asyncio
import platform
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

import msgspec

from agentv import __version__
from agentv.assembly.assemble import Assembly, assemble
from agentv.assembly.options import CustomTarget, RunOptions, Surroundings
from agentv.assembly.resuming import refuse_unlike, take_up
from agentv.core.gate import GateDecision, decide
from agentv.core.redaction import Redactor
from agentv.core.summary import RunSummary, summarise
from agentv.errors import AgentVError, ExitCode, RunAborted
from agentv.loading.target_secrets import is_secret_name
from agentv.loading.workspace import Workspace
from agentv.model.event import (
    AttemptFailed,
    Event,
    Notice,
    RunResumed,
    RunStarted,
    TrialFinished,
)
from agentv.model.result import TrialResult
from agentv.model.run import RunManifest
from agentv.model.score import Usage
from agentv.protocols import Sink
from agentv.registry import Registry
from agentv.runner.crews import run_crews
from agentv.runner.watching import watching
from agentv.storage.journal import Journal
from agentv.storage.manifest import read_manifest, write_manifest
from agentv.storage.prior_run import PriorRun
from agentv.storage.response_cache import CACHE_PATH, SqliteResponseCache
from agentv.storage.rows import open_rows
from agentv.storage.run_folder import RunFolder, new_run_id
from agentv.storage.run_lock import RunLock
from agentv.transport.borders import Borders

RESULTS_ROOT = Path(".agentv") / "results"


class NothingToRunError(AgentVError):
    """No trial would be run, so nothing could be said of any target."""

    exit_code = ExitCode.NOTHING


@dataclass(frozen=True, kw_only=True)
class Resume:
    """Go on with a run that was cut short, or that is to be brought up to date."""

    folder: RunFolder
    retry_errors: bool = False


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """What is to be run, and where its folder goes."""

    workspace: Workspace
    options: RunOptions
    registry: Registry
    cwd: Path
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """For the manifest."""
    out: Path | None = None
    """The run's folder; a new one below `.agentv/results` when `None`."""
    custom: CustomTarget | None = None
    resume: "Resume | None" = None
    """The run that goes on; a new one is made when `None`."""
    sinks: Sequence[Sink] = ()


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """What came of a run, recomputed from its rows."""

    folder: RunFolder
    manifest: RunManifest
    summary: RunSummary
    decision: GateDecision
    aborted: str | None = None
    """Why the run could not go on."""
    resumed: RunResumed | None = None
    """What was left to do, if the run was there before."""

    @property
    def exit_code(self) -> ExitCode:
        """The gate's, unless the run was cut short by something other than its trials."""
        return ExitCode.ERRORS if self.aborted else self.decision.exit_code


async def execute(request: RunRequest, borders: Borders) -> RunReport:
    """Run it. Cancelling ends everything in flight, keeps every finished row and still reports.

    Raises:
        NothingToRunError: The plan is empty.
        SetupError: The folder cannot be made, or the response cache cannot be used.
    """
    emit = _Broadcast(request.sinks)
    with ExitStack() as stack:
        cache = stack.enter_context(_open_cache(request, emit)) if _is_caching(request) else None
        return await _execute(request, borders, emit, cache)


async def _execute(
    request: RunRequest,
    borders: Borders,
    emit: "_Broadcast",
    cache: SqliteResponseCache | None,
) -> RunReport:
    around = Surroundings(
        processes=borders.processes,
        http=borders.http,
        traffic=borders.traffic,
        registry=request.registry,
        emit=emit,
        now=_utc_now,
        cache=cache,
        cwd=request.cwd,
    )
    assembly = assemble(request.workspace, request.options, around, request.custom)
    if not assembly.planned:
        raise NothingToRunError(_why_nothing(request))
    emit.redactor = _redactor(request.workspace, assembly)
    if cache is not None:
        cache.keep_secret(emit.redactor)
    await assembly.check()
    folder = _open_folder(request)
    with RunLock(folder.lock_path):
        folder.remove_drafts()
        manifest = _take_up(request, assembly, folder)
        async with watching(borders.traffic.waiting, emit):
            ending = await _run_trials(assembly, folder, emit)
        summary = summarise(manifest, open_rows(folder.journal_path))
        if summary.is_complete:
            folder.steps_path.unlink(missing_ok=True)
    return RunReport(
        resumed=assembly.left.announcement if assembly.left else None,
        folder=folder,
        manifest=manifest,
        summary=summary,
        decision=decide(summary, interrupted=ending.interrupted),
        aborted=ending.aborted,
    )


def _is_caching(request: RunRequest) -> bool:
    return request.options.cache and not request.options.dry_run


def _open_cache(request: RunRequest, emit: "_Broadcast") -> SqliteResponseCache:
    def warn(message: str) -> None:
        emit(Notice(level="warning", message=message))

    return SqliteResponseCache(_below(request.cwd, CACHE_PATH), warn)


class _Broadcast:
    """Hands events to every sink, with secrets taken out of what they say.

    Rows come from the journal, which has done that already.
    """

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = sinks
        self.redactor = Redactor({})

    def __call__(self, event: Event) -> None:
        if isinstance(event, AttemptFailed | Notice):
            event = msgspec.structs.replace(event, message=self.redactor.text(event.message))
        for sink in self._sinks:
            sink.handle(event)


@dataclass(frozen=True, kw_only=True)
class _Ending:
    """How a run stopped, besides having done everything."""

    interrupted: bool = False
    aborted: str | None = None


async def _run_trials(assembly: Assembly, folder: RunFolder, emit: _Broadcast) -> _Ending:
    def durable(rows: Sequence[TrialResult]) -> None:
        for row in rows:
            emit(TrialFinished(result=row))

    crews = assembly.crews()
    emit(
        RunStarted(
            total=assembly.planned,
            workers=sum(crew.workers for crew in crews),
            folder=str(folder.path),
            done=assembly.left.announcement.kept if assembly.left else 0,
            dry_run=assembly.options.dry_run,
        )
    )
    if assembly.left is not None:
        emit(assembly.left.announcement)
    journal = Journal(folder.journal_path, emit.redactor, durable, steps=folder.steps_path)
    assembly.note = journal.note
    try:
        async with journal:
            try:
                await assembly.prepare()
                await run_crews(assembly.crews(), journal.append)
                assembly.settle()
            finally:
                await assembly.aclose()
    except asyncio.CancelledError:
        if (task := asyncio.current_task()) is not None:
            task.uncancel()
        return _Ending(interrupted=True)
    except RunAborted as error:
        return _Ending(aborted=emit.redactor.text(str(error)))
    return _Ending()


def _open_folder(request: RunRequest) -> RunFolder:
    if request.resume is not None:
        return request.resume.folder
    name = request.out or RESULTS_ROOT / new_run_id(_utc_now(), token_hex(2))
    # Relative where it was given so: what is printed can be typed again.
    return RunFolder.create(_below(request.cwd, name))


def _take_up(request: RunRequest, assembly: Assembly, folder: RunFolder) -> RunManifest:
    """Write down what is asked; of a run that goes on, find out first what is left."""
    if request.resume is None:
        manifest = _manifest(request, assembly, folder.path.name, _utc_now())
    else:
        before = read_manifest(folder.manifest_path)
        refuse_unlike(before, request.options)
        budget = assembly.asking.budget
        with PriorRun(folder) as prior:
            assembly.left = take_up(
                assembly.parts,
                assembly.suites,
                prior,
                before,
                request.registry,
                retry_errors=request.resume.retry_errors,
                pay=budget.spend if budget else _ignore,
            )
        manifest = _manifest(request, assembly, before.run_id, _utc_now())
        manifest = msgspec.structs.replace(
            manifest,
            started=before.started,
            resumed=(*before.resumed, manifest.started),
            merged=before.merged,
        )
    write_manifest(folder.manifest_path, manifest)
    return manifest


def _ignore(target: str, usage: Usage) -> None:
    del target, usage


def _manifest(request: RunRequest, assembly: Assembly, run_id: str, now: datetime) -> RunManifest:
    used = {station.name: station.record for station in assembly.stations.all()}
    return RunManifest(
        run_id=run_id,
        started=now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        version=__version__,
        python=platform.python_version(),
        git_commit=_git_commit(request.cwd),
        arguments=dict(request.arguments),
        dry_run=request.options.dry_run,
        budget_usd=request.options.budget_usd,
        cache=request.options.cache,
        shard=request.options.shard,
        suites=assembly.suites,
        targets=tuple(used.values()),
    )


def _redactor(workspace: Workspace, assembly: Assembly) -> Redactor:
    """Knows the targets' secrets, and what `.env` files call secret: commands inherit those."""
    from_files = {
        name: suite.environment.values[name]
        for suite in workspace.suites
        for name in suite.environment.from_file
        if is_secret_name(name)
    }
    return Redactor({**from_files, **assembly.secrets})


def _why_nothing(request: RunRequest) -> str:
    cases = sum(suite.total_cases for suite in request.workspace.suites)
    asked = request.arguments.get("eval_ids")
    if cases and asked:
        wanted = ", ".join(f"'{glob}'" for glob in asked)
        if not any(len(suite.suite.cases) for suite in request.workspace.suites):
            return f"Nothing ran: none of the {cases} eval cases has an id that matches {wanted}."
    if cases and (shard := request.options.shard):
        return (
            f"Nothing ran: there are fewer trials than shards, so shard {shard.number} of "
            f"{shard.of} is empty."
        )
    return "Nothing ran: there are no eval cases."


def _below(cwd: Path, path: Path) -> Path:
    return path if cwd == Path.cwd() else cwd / path


def _git_commit(cwd: Path) -> str | None:
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=cwd, capture_output=True, text=True, timeout=5
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def _utc_now() -> datetime:
    return datetime.now(UTC)
