"""A run from its first probe to its gate: open the folder, run the crews, count the rows."""

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agentv.assembly.assemble import assemble
from agentv.assembly.assembly import Assembly
from agentv.assembly.comparing import flips_since
from agentv.assembly.earlier import (
    Rerun,
    Rescore,
    plan_rescoring,
    refuse_unknown_evaluators,
    refuse_unset,
    scope_of,
)
from agentv.assembly.left_out import left_out
from agentv.assembly.options import Surroundings
from agentv.core.gate import decide
from agentv.core.moved_suites import SuiteName
from agentv.core.redaction import Redactor
from agentv.core.summary import summarise
from agentv.execution.broadcast import Broadcast
from agentv.execution.nothing import NothingToRunError, why_nothing
from agentv.execution.places import RESULTS_ROOT, below
from agentv.execution.report import RunReport
from agentv.execution.request import RunRequest
from agentv.execution.taking_up import open_folder, take_up
from agentv.execution.trials import run_trials
from agentv.loading.target_secrets import is_secret_name
from agentv.loading.workspace import Workspace
from agentv.model.event import (
    RunRescored,
)
from agentv.protocols import Cassette
from agentv.runner.watching import watching
from agentv.storage.rows import open_rows
from agentv.storage.run_lock import RunLock
from agentv.transport.borders import Borders

if TYPE_CHECKING:
    from agentv.storage.response_cache import SqliteResponseCache


async def execute(request: RunRequest, borders: Borders) -> RunReport:
    """Run it. Cancelling ends everything in flight, keeps every finished row and still reports.

    Raises:
        NothingToRunError: The plan is empty.
        SetupError: The folder cannot be made, the response cache cannot be used, or the earlier
            run cannot be read.
    """
    emit = Broadcast(request.sinks)
    cassette = _open_cassette(request, emit)
    with ExitStack() as stack:
        cache = stack.enter_context(_open_cache(request, emit)) if _is_caching(request) else None
        return await _execute(request, borders, emit, cache, cassette)


async def _execute(
    request: RunRequest,
    borders: Borders,
    emit: Broadcast,
    cache: "SqliteResponseCache | None",
    cassette: Cassette | None,
) -> RunReport:
    around = _surroundings(request, borders, emit, cache, cassette)
    assembly = _assemble(request, around)
    refuse_unset(request.resume or request.origin, assembly, request.registry)
    emit.redactor = _redactor(request.workspace, assembly)
    if cache is not None:
        cache.keep_secret(emit.redactor)
    if cassette is not None:
        from agentv.execution.cassette import begin

        begin(cassette, request.workspace, emit.redactor)
    await assembly.check()
    folder = open_folder(request, _utc_now())
    with RunLock(folder.lock_path):
        folder.remove_drafts()
        manifest = take_up(request, assembly, folder, _utc_now())
        if isinstance(request.origin, Rerun):
            _tell_left_out(request.origin, assembly, request.workspace.suite_names, emit)
        assembly.run = f"{manifest.run_id} {manifest.started}"
        assembly.asks_anew = manifest.rerun_of is not None
        async with watching(borders.traffic.waiting, emit):
            ending = await run_trials(assembly, folder, emit)
        summary = summarise(manifest, open_rows(folder.journal_path))
        if summary.is_complete:
            folder.steps_path.unlink(missing_ok=True)
    return RunReport(
        flips=flips_since(folder, manifest, below(request.cwd, RESULTS_ROOT)),
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
    assembly = _assemble(request, _surroundings(request, borders, Broadcast(())))
    try:
        return plan_rescoring(request.origin, assembly, request.registry)
    finally:
        await assembly.aclose()


def _surroundings(
    request: RunRequest,
    borders: Borders,
    emit: Broadcast,
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
        raise NothingToRunError(why_nothing(request, assembly))
    if isinstance(request.origin, Rescore):
        refuse_unknown_evaluators(request.origin, assembly)
    return assembly


def _open_cassette(request: RunRequest, emit: Broadcast) -> Cassette | None:
    if request.record is None and request.replay is None:
        return None
    from agentv.execution.cassette import cassette_of

    return cassette_of(request, emit.warn)


def _is_caching(request: RunRequest) -> bool:
    return request.options.cache and not request.options.dry_run


def _open_cache(request: RunRequest, emit: Broadcast) -> "SqliteResponseCache":
    from agentv.storage.response_cache import CACHE_PATH, SqliteResponseCache

    return SqliteResponseCache(below(request.cwd, CACHE_PATH), emit.warn)


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
    rerun: Rerun, assembly: Assembly, suites: Sequence[SuiteName], emit: Broadcast
) -> None:
    lacking = left_out(rerun, assembly.scope.chosen, suites, assembly.keys)
    if lacking is not None:
        emit.warn(lacking.removesuffix("."))


def _utc_now() -> datetime:
    return datetime.now(UTC)
