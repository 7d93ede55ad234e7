"""A run from its first probe to its gate: open the folder, run the crews, count the rows."""

import asyncio
import platform
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentv import __version__
from agentv.assembly.assemble import Assembly, assemble
from agentv.assembly.comparing import flips_since
from agentv.assembly.earlier import (
    Rerun,
    Rescore,
    Resume,
    plan_rescoring,
    refuse_unknown_evaluators,
    scope_of,
    take_up_earlier,
)
from agentv.assembly.left_out import left_out, why_nothing
from agentv.assembly.options import CustomTarget, RunOptions, Surroundings
from agentv.core.gate import GateDecision, decide
from agentv.core.judge_prompt import without_codes
from agentv.core.moved_suites import SuiteName
from agentv.core.redaction import Redactor
from agentv.core.summary import RunSummary, summarise
from agentv.errors import AgentVError, AuthorError, ExitCode, RunAborted
from agentv.loading.target_secrets import is_secret_name
from agentv.loading.workspace import Workspace
from agentv.model.base import Record
from agentv.model.event import (
    AttemptFailed,
    Event,
    Notice,
    RunRescored,
    RunResumed,
    RunStarted,
    TrialFinished,
)
from agentv.model.exchange import CassetteReport
from agentv.model.flips import FlipReport
from agentv.model.result import TrialResult
from agentv.model.run import RunManifest
from agentv.protocols import Cassette, Sink
from agentv.registry import Registry
from agentv.runner.crews import run_crews
from agentv.runner.watching import watching
from agentv.storage.chosen import write_chosen
from agentv.storage.journal import Journal
from agentv.storage.manifest import write_manifest
from agentv.storage.rows import open_rows
from agentv.storage.run_folder import RunFolder, new_run_folder
from agentv.storage.run_lock import RunLock
from agentv.transport.borders import Borders

if TYPE_CHECKING:
    from agentv.storage.response_cache import SqliteResponseCache

__all__ = [
    "RESULTS_ROOT",
    "NothingToRunError",
    "Rerun",
    "Rescore",
    "Resume",
    "RunReport",
    "RunRequest",
    "execute",
    "recorded_variables",
    "refuse_cassette_with",
    "rehearse_rescoring",
]

RESULTS_ROOT = Path(".agentv") / "results"


def recorded_variables(replay: Path | None) -> dict[str, str] | None:
    """What a replay's variables were recorded with; `None` when there is no replay.

    Raises:
        SetupError: There is no cassette.
    """
    if replay is None:
        return None
    from agentv.transport.cassettes.folder import CassetteFolder

    return CassetteFolder(replay).header().variables


def refuse_cassette_with(
    *, record: Path | None, replay: Path | None, cache: bool, dry_run: bool
) -> None:
    """Refuse what makes no sense together with a cassette; raises `AuthorError`."""
    if record is None and replay is None:
        return
    if record is not None and replay is not None:
        raise AuthorError("--record and --replay exclude each other.")
    option = "--replay" if record is None else "--record"
    if cache:
        raise AuthorError(
            f"{option} and --cache exclude each other: an answer out of the response cache is no "
            "exchange that could be recorded or replayed."
        )
    if dry_run:
        raise AuthorError(f"{option} and --dry-run exclude each other: a rehearsal asks nobody.")


class NothingToRunError(AgentVError):
    """No trial would be run, so nothing could be said of any target."""

    exit_code = ExitCode.NOTHING


class RunRequest(Record, frozen=True, kw_only=True):
    """What is to be run, and where its folder goes."""

    workspace: Workspace
    options: RunOptions
    registry: Registry
    cwd: Path
    arguments: Mapping[str, Any] = {}
    """For the manifest."""
    out: Path | None = None
    """The run's folder; a new one below `.agentv/results` when `None`."""
    custom: CustomTarget | None = None
    resume: Resume | None = None
    """The run that goes on; a new one is made when `None`."""
    origin: Rescore | Rerun | None = None
    """The earlier run that the new one comes of, if any."""
    record: Path | None = None
    """The cassette that the run's exchanges are recorded in."""
    replay: Path | None = None
    """The cassette that answers in place of the world."""
    sinks: Sequence[Sink] = ()

    def __post_init__(self) -> None:
        refuse_cassette_with(
            record=self.record,
            replay=self.replay,
            cache=self.options.cache,
            dry_run=self.options.dry_run,
        )


class RunReport(Record, frozen=True, kw_only=True):
    """What came of a run, recomputed from its rows."""

    folder: RunFolder
    manifest: RunManifest
    summary: RunSummary
    decision: GateDecision
    aborted: str | None = None
    """Why the run could not go on."""
    resumed: RunResumed | RunRescored | None = None
    """What was left to do, if the run or its answers were there before."""
    flips: FlipReport | None = None
    """How its verdicts differ from those of the run whose answers it judged anew, if it did and
    that run can still be read."""
    cassette: CassetteReport | None = None
    """What was recorded or replayed."""

    @property
    def exit_code(self) -> ExitCode:
        """The gate's, unless the run was cut short by something other than its trials.

        What a replay missed was not asked, so whatever the gate says of the rest is no verdict.
        """
        if self.aborted or (self.has_missed and not self.was_interrupted):
            return ExitCode.ERRORS
        return self.decision.exit_code

    @property
    def has_missed(self) -> bool:
        """Whether a replay was asked for something that was never recorded."""
        if self.cassette is not None and self.cassette.missed > 0:
            return True
        return self.manifest.replayed is not None and self.summary.replay_misses > 0

    @property
    def was_interrupted(self) -> bool:
        """Whether somebody stopped it."""
        return self.decision.exit_code == ExitCode.INTERRUPTED


async def execute(request: RunRequest, borders: Borders) -> RunReport:
    """Run it. Cancelling ends everything in flight, keeps every finished row and still reports.

    Raises:
        NothingToRunError: The plan is empty.
        SetupError: The folder cannot be made, the response cache cannot be used, or the earlier
            run cannot be read.
    """
    emit = _Broadcast(request.sinks)
    cassette = _cassette(request, emit)
    with ExitStack() as stack:
        cache = stack.enter_context(_open_cache(request, emit)) if _is_caching(request) else None
        return await _execute(request, borders, emit, cache, cassette)


async def _execute(
    request: RunRequest,
    borders: Borders,
    emit: "_Broadcast",
    cache: "SqliteResponseCache | None",
    cassette: Cassette | None,
) -> RunReport:
    around = _surroundings(request, borders, emit, cache, cassette)
    assembly = _assemble(request, around)
    emit.redactor = _redactor(request.workspace, assembly)
    if cache is not None:
        cache.keep_secret(emit.redactor)
    if cassette is not None:
        cassette.begin(
            emit.redactor.text, without_codes, _variables(request.workspace, emit.redactor)
        )
    await assembly.check()
    folder = _open_folder(request)
    with RunLock(folder.lock_path):
        folder.remove_drafts()
        manifest = _take_up(request, assembly, folder)
        if isinstance(request.origin, Rerun):
            _tell_left_out(request.origin, assembly, request.workspace.suite_names, emit)
        assembly.run = f"{manifest.run_id} {manifest.started}"
        assembly.asks_anew = manifest.rerun_of is not None
        async with watching(borders.traffic.waiting, emit):
            ending = await _run_trials(assembly, folder, emit)
        summary = summarise(manifest, open_rows(folder.journal_path))
        if summary.is_complete:
            folder.steps_path.unlink(missing_ok=True)
    return RunReport(
        flips=flips_since(folder, manifest, _below(request.cwd, RESULTS_ROOT)),
        resumed=assembly.left.announcement if assembly.left else None,
        folder=folder,
        manifest=manifest,
        summary=summary,
        decision=decide(summary, interrupted=ending.interrupted),
        aborted=ending.aborted,
        cassette=cassette.report() if cassette else None,
    )


async def rehearse_rescoring(request: RunRequest, borders: Borders) -> RunRescored:
    """What rescoring would do; nobody is asked and nothing is written.

    Raises:
        NothingToRunError: The plan is empty.
        SetupError: The earlier run cannot be read.
    """
    if not isinstance(request.origin, Rescore):
        raise TypeError("only rescoring can be rehearsed so")
    assembly = _assemble(request, _surroundings(request, borders, _Broadcast(())))
    try:
        return plan_rescoring(request.origin, assembly, request.registry)
    finally:
        await assembly.aclose()


def _surroundings(
    request: RunRequest,
    borders: Borders,
    emit: "_Broadcast",
    cache: "SqliteResponseCache | None" = None,
    cassette: Cassette | None = None,
) -> Surroundings:
    return Surroundings(
        processes=borders.processes,
        http=borders.http,
        traffic=borders.traffic,
        registry=request.registry,
        emit=emit,
        now=_utc_now,
        cache=cache,
        cassette=cassette,
        cwd=request.cwd,
    )


def _assemble(request: RunRequest, around: Surroundings) -> Assembly:
    scope = scope_of(request.resume or request.origin, request.workspace.suite_names)
    assembly = assemble(request.workspace, request.options, around, request.custom, scope)
    if not assembly.planned:
        raise NothingToRunError(_why_nothing(request, assembly))
    if isinstance(request.origin, Rescore):
        refuse_unknown_evaluators(request.origin, assembly)
    return assembly


def _cassette(request: RunRequest, emit: "_Broadcast") -> Cassette | None:
    if request.replay is None and request.record is None:
        return None
    from agentv.transport.cassettes.folder import CassetteFolder
    from agentv.transport.cassettes.player import Player
    from agentv.transport.cassettes.recorder import Recorder

    def warn(message: str) -> None:
        emit(Notice(level="warning", message=message))

    if request.replay is not None:
        return Player(CassetteFolder(_below(request.cwd, request.replay)))
    if request.record is not None:
        folder = CassetteFolder(_below(request.cwd, request.record))
        return Recorder(folder, adds=request.resume is not None, warn=warn)
    return None


def _variables(workspace: Workspace, redactor: Redactor) -> dict[str, str]:
    """The variables that targets used, without secrets: a replay can do with these."""
    used = chain.from_iterable(target.variables.items() for target in workspace.resolved.values())
    shown = ((name, value, redactor.text(value)) for name, value in used)
    # What is too short for the redactor may be a secret all the same.
    return {name: text for name, value, text in shown if text != value or not is_secret_name(name)}


def _is_caching(request: RunRequest) -> bool:
    return request.options.cache and not request.options.dry_run


def _open_cache(request: RunRequest, emit: "_Broadcast") -> "SqliteResponseCache":
    from agentv.storage.response_cache import CACHE_PATH, SqliteResponseCache

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


class _Ending(Record, frozen=True, kw_only=True):
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
            rescoring=assembly.scope.asks_nobody,
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
    # Relative where it was given so: what is printed can be typed again.
    if request.out is None:
        return new_run_folder(_below(request.cwd, RESULTS_ROOT), _utc_now())
    return RunFolder.create(_below(request.cwd, request.out))


def _take_up(request: RunRequest, assembly: Assembly, folder: RunFolder) -> RunManifest:
    """Write down what is asked; of a run that was there before, find out first what is left."""
    manifest = _manifest(request, assembly, folder.path.name, _utc_now())
    if (earlier := request.resume or request.origin) is not None:
        manifest = take_up_earlier(earlier, assembly, folder, manifest, request.registry)
    chosen = assembly.scope.chosen
    if chosen is not None and (request.resume is None or chosen.has_moved):
        write_chosen(folder.chosen_path, assembly.keys)
    # Last of all: a folder with a manifest holds a run that can go on.
    write_manifest(folder.manifest_path, manifest)
    return manifest


def _manifest(request: RunRequest, assembly: Assembly, run_id: str, now: datetime) -> RunManifest:
    records = [station.record for station in assembly.stations.all()]
    used = {record.name: record for record in records}
    if assembly.scope.asks_nobody:
        # A target may judge with other settings than those with which it gave the answers.
        used |= {part.station.name: part.station.record for part in assembly.parts}
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
        recorded=_shown_cassette(request.record),
        replayed=_shown_cassette(request.replay),
        suites=assembly.suites,
        targets=tuple(used.values()),
    )


def _shown_cassette(folder: Path | None) -> str | None:
    return None if folder is None else str(folder)


def _redactor(workspace: Workspace, assembly: Assembly) -> Redactor:
    """Knows the targets' secrets, and what `.env` files call secret: commands inherit those."""
    from_files = {
        name: suite.environment.values[name]
        for suite in workspace.suites
        for name in suite.environment.from_file
        if is_secret_name(name)
    }
    return Redactor({**from_files, **assembly.secrets})


def _tell_left_out(
    rerun: Rerun, assembly: Assembly, suites: Sequence[SuiteName], emit: "_Broadcast"
) -> None:
    lacking = left_out(rerun, assembly.scope.chosen, suites, assembly.keys)
    if lacking is not None:
        emit(Notice(level="warning", message=lacking.removesuffix(".")))


def _why_nothing(request: RunRequest, assembly: Assembly) -> str:
    if isinstance(request.origin, Rerun):
        return _why_nothing_again(request.origin, assembly, request.workspace.suite_names)
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


def _why_nothing_again(rerun: Rerun, assembly: Assembly, suites: Sequence[SuiteName]) -> str:
    why = left_out(rerun, assembly.scope.chosen, suites, ()) or why_nothing(rerun)
    return f"Nothing ran: {why}"


def _below(cwd: Path, path: Path) -> Path:
    return path if cwd == Path.cwd() else cwd / path


def _git_commit(cwd: Path) -> str | None:
    try:
        done = subprocess.run(
            # Without --verify, a repository without a commit answers `HEAD`.
            ["git", "rev-parse", "--verify", "--quiet", "HEAD"],
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def _utc_now() -> datetime:
    return datetime.now(UTC)
