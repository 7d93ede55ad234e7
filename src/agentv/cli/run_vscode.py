"""`agentv vscode`: the workers, from the command line."""

import asyncio
import os
from pathlib import Path

import msgspec

from agentv.cli.console import Tone, err, out, paint, print_json, visible
from agentv.errors import AuthorError, ExitCode
from agentv.providers.vscode.editor import Editor
from agentv.providers.vscode.executable import find_executable
from agentv.providers.vscode.manage import Made, inspect, provision, unlock, warm_up
from agentv.providers.vscode.worker import Worker, default_root, find_workers
from agentv.transport.process import Processes

_TONES: dict[str, Tone] = {
    "made": "good",
    "made anew": "good",
    "there": "dim",
    "in use": "warn",
    "available": "good",
    "locked": "warn",
    "stale": "dim",
}


def run_provision(
    *, root: Path | None, insiders: bool, number: int, force: bool, dry_run: bool
) -> int:
    """Make workers and say of each what was done."""
    folder = _root(root, insiders=insiders)
    for worker, made in provision(folder, number, anew=force, dry_run=dry_run):
        out(f"  {_painted(made)} {visible(str(worker.folder))}")
    if dry_run:
        err("Dry run: nothing was written.")
    return ExitCode.OK


def run_list(*, root: Path | None, insiders: bool, as_json: bool) -> int:
    """Show the workers, and who uses them."""
    folder = _root(root, insiders=insiders)
    found = inspect(folder)
    if as_json:
        print_json({"root": str(folder), "workers": msgspec.to_builtins(found)})
        return ExitCode.OK
    for info in found:
        owner = f"  {visible(info.owner)}, {_age(info.age_seconds)}" if info.owner else ""
        out(f"  {_painted(info.status)} {info.name:12}{owner}".rstrip())
    if not found:
        out(f"No workers in {visible(str(folder))}; `agentv vscode provision` makes them.")
    return ExitCode.OK


def run_unlock(
    *,
    root: Path | None,
    insiders: bool,
    names: tuple[str, ...],
    every: bool,
    force: bool,
    dry_run: bool,
) -> int:
    """Remove locks; one of a living owner needs `--force`."""
    if bool(names) == every:
        raise AuthorError("Say which workers (`subagent-1`), or --all.")
    folder = _root(root, insiders=insiders)
    states = {info.name: info for info in inspect(folder)}
    done = unlock(folder, names, force=force, dry_run=dry_run)
    kept = 0
    for worker, is_free in done:
        info = states[worker.name]
        kept += not is_free
        word = paint("unlocked", "good") if is_free else paint("kept    ", "warn")
        hint = "" if is_free else "; --force unlocks it all the same"
        owner = visible(info.owner or "")
        out(f"  {word}  {worker.name}  (held by {owner}, {_age(info.age_seconds)}{hint})")
    if not done:
        out("No such worker is locked." if names else "No worker is locked.")
    if dry_run:
        err("Dry run: nothing was removed.")
    return ExitCode.USAGE if kept else ExitCode.OK


def run_warmup(
    *,
    root: Path | None,
    insiders: bool,
    number: int | None,
    executable: str | None,
    seconds: float,
    dry_run: bool,
) -> int:
    """Open windows and see that their agents answer."""
    folder = _root(root, insiders=insiders)
    workers = find_workers(folder)[:number]
    if not workers:
        raise AuthorError(f"No workers in {folder}; `agentv vscode provision` makes them.")
    if dry_run:
        for worker in workers:
            out(f"  would open {visible(str(worker.workspace))}")
        return ExitCode.OK
    program = find_executable(
        executable, insiders=insiders, env=os.environ, folder=Path.cwd(), who="`warmup`"
    )
    ready = asyncio.run(_warm_up(workers, program, seconds))
    return ExitCode.OK if ready == len(workers) else ExitCode.ERRORS


async def _warm_up(workers: list[Worker], program: str, seconds: float) -> int:
    async with Processes() as processes:
        editor = Editor(executable=program, env=os.environ, processes=processes)
        return await warm_up(workers, editor, within=seconds, tell=_tell)


def _tell(worker: Worker, problem: str | None) -> None:
    if problem is None:
        out(f"  {paint('ready', 'good')}    {worker.name}")
    else:
        out(f"  {paint('failed', 'bad')}   {worker.name}  {visible(problem)}")


def _root(given: Path | None, *, insiders: bool) -> Path:
    return given.expanduser().absolute() if given else default_root(insiders=insiders)


def _painted(word: Made | str) -> str:
    return paint(f"{word:9}", _TONES[word])


def _age(seconds: float | None) -> str:
    minutes = int((seconds or 0) // 60)
    if minutes < 1:
        return "just now"
    return f"{minutes} min ago" if minutes < 120 else f"{minutes // 60} h ago"
