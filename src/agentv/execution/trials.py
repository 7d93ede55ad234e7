"""The trials of a run, from the first probe to the last row."""

import asyncio
from collections.abc import Sequence

from agentv.assembly.assembly import Assembly
from agentv.errors import RunAborted
from agentv.execution.broadcast import Broadcast
from agentv.model.base import Record
from agentv.model.event import RunStarted, TrialFinished
from agentv.model.result import TrialResult
from agentv.runner.crews import run_crews
from agentv.storage.journal import Journal
from agentv.storage.run_folder import RunFolder


class Ending(Record, frozen=True, kw_only=True):
    """How a run stopped, besides having done everything."""

    interrupted: bool = False
    aborted: str | None = None


async def run_trials(assembly: Assembly, folder: RunFolder, emit: Broadcast) -> Ending:
    """Run what is planned or left; every row is on disk when this returns, however it ends."""

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
        return Ending(interrupted=True)
    except RunAborted as error:
        return Ending(aborted=emit.redactor.text(str(error)))
    return Ending()
