"""What a person does with workers: make them, see who uses them, free them, open their windows."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from agentv.errors import AuthorError, ProviderError, SetupError
from agentv.model.base import Record
from agentv.providers.vscode.editor import Editor
from agentv.providers.vscode.lock import LockState, lock_state
from agentv.providers.vscode.pool import try_claim
from agentv.providers.vscode.worker import Worker, find_workers, missing_workers

Made = Literal["made", "there", "made anew", "in use"]


class WorkerInfo(Record, frozen=True, kw_only=True):
    """A worker, as it is listed."""

    name: str
    path: str
    status: Literal["available", "locked", "stale"]
    """`stale`: locked by somebody who no longer lives; the next run takes it."""
    owner: str | None
    """Who holds the lock, in words."""
    age_seconds: float | None
    """Since the lock was last touched."""


def provision(root: Path, number: int, *, anew: bool, dry_run: bool) -> list[tuple[Worker, Made]]:
    """See to it that there are so many workers, and say of each what was done.

    Args:
        root: Their folder.
        number: How many there are to be; more are left as they are.
        anew: Write the files of those that are there again, unless they are in use.
        dry_run: Only say it.

    Raises:
        SetupError: A folder cannot be made.
    """
    there, lacking = find_workers(root), missing_workers(root, number)
    plan: list[tuple[Worker, Made]] = [(worker, _state(worker, anew=anew)) for worker in there]
    plan += [(worker, "made") for worker in lacking]
    for worker, made in plan:
        if dry_run or made == "in use":
            continue
        worker.set_up(anew=made == "made anew")
    return plan


def inspect(root: Path) -> list[WorkerInfo]:
    """Every worker below a root, by number."""
    return [_info(worker) for worker in find_workers(root)]


def unlock(
    root: Path, names: Sequence[str], *, force: bool, dry_run: bool
) -> list[tuple[Worker, bool]]:
    """Remove locks.

    Args:
        root: The workers' folder.
        names: Which workers; all of them when there are none.
        force: Also take a lock away from somebody who lives.
        dry_run: Only say it.

    Returns:
        The workers that were locked, each with whether it is free now.

    Raises:
        AuthorError: There is no worker of that name.
    """
    workers = {worker.name: worker for worker in find_workers(root)}
    unknown = [name for name in names if name not in workers]
    if unknown:
        have = ", ".join(workers) or "none"
        raise AuthorError(f"There is no worker '{unknown[0]}' in {root}; there are {have}.")
    done = []
    for worker in (workers[name] for name in names or workers):
        state = _lock_of(worker)
        if state is None:
            continue
        frees = force or state.is_stale
        if frees and not dry_run:
            try:
                worker.lock.unlink(missing_ok=True)
            except OSError as error:
                raise SetupError(f"{worker.lock} stays: {error.strerror}.") from error
        done.append((worker, frees))
    return done


async def warm_up(
    workers: Sequence[Worker],
    editor: Editor,
    *,
    within: float,
    tell: Callable[[Worker, str | None], None],
) -> int:
    """Open the window of each worker and wait until its agent answers.

    Args:
        workers: Which ones; those in use are passed over.
        editor: The VS Code to open them in.
        within: How many seconds each may take.
        tell: Called for each with what went wrong, or `None`.

    Returns:
        How many are ready.
    """
    ready = 0
    for worker in workers:
        problem = await _warm(worker, editor, within)
        ready += problem is None
        tell(worker, problem)
    return ready


async def _warm(worker: Worker, editor: Editor, within: float) -> str | None:
    lock = await try_claim(worker)
    if lock is None:
        state = _lock_of(worker)
        return f"in use by {state.words()}" if state else "in use"
    try:
        worker.set_up()
        async with editor.turn(within=within):
            await editor.make_ready(worker, within=within)
    except ProviderError as error:
        return f"{error}. {error.detail}" if error.detail else str(error)
    finally:
        lock.release()
    return None


def _state(worker: Worker, *, anew: bool) -> Made:
    state = _lock_of(worker)
    if state is not None and not state.is_stale:
        return "in use"
    return "made anew" if anew else "there"


def _info(worker: Worker) -> WorkerInfo:
    state = _lock_of(worker)
    if state is None:
        status: Literal["available", "locked", "stale"] = "available"
    else:
        status = "stale" if state.is_stale else "locked"
    return WorkerInfo(
        name=worker.name,
        path=str(worker.folder),
        status=status,
        owner=state.words() if state else None,
        age_seconds=round(state.age_seconds, 1) if state else None,
    )


def _lock_of(worker: Worker) -> LockState | None:
    return lock_state(worker.lock, time.time())
