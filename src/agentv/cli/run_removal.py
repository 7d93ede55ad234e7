"""`agentv runs rm` and `agentv runs prune`: ask first, and take nothing that is not a run's."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from agentv.cli.amounts import counted, file_size
from agentv.cli.console import (
    can_be_asked,
    err,
    one_line,
    out,
    paint,
    print_json,
    visible,
    whole_line,
)
from agentv.cli.run_list import started
from agentv.errors import AuthorError, ExitCode, SetupError
from agentv.execution.places import RESULTS_ROOT
from agentv.model.base import Record
from agentv.storage.finding import find_run, newest_first
from agentv.storage.manifest import read_manifest
from agentv.storage.removing import remove_run, size_of
from agentv.storage.run_folder import RunFolder
from agentv.storage.run_lock import writer_of

_NAMED = 5
"""Names of what keeps a folder."""


class RemovalOptions(Record, frozen=True, kw_only=True):
    """What was typed, for both commands."""

    agreed: bool
    dry_run: bool
    as_json: bool


class _Removed(Record, frozen=True, kw_only=True):
    folder: RunFolder
    left: tuple[str, ...] = ()
    """What is in its folder besides, and so keeps it."""


class _Kept(Record, frozen=True, kw_only=True):
    folder: RunFolder
    reason: str


def remove_runs(references: Sequence[str], options: RemovalOptions) -> int:
    """Remove the runs that are named; one that cannot go makes the exit code 2."""
    found = [find_run(reference, RESULTS_ROOT) for reference in references]
    folders = {folder.path.resolve(): folder for folder in found}
    return _remove(folders.values(), options, in_use=ExitCode.USAGE)


def prune_runs(*, keep: int | None, older_than: timedelta | None, options: RemovalOptions) -> int:
    """Remove runs of `.agentv/results`: those beyond a number, beyond an age, or beyond both."""
    if keep is None and older_than is None:
        raise AuthorError("Say which runs may go: --keep N, --older-than 30d, or both.")
    folders = newest_first(RESULTS_ROOT)[keep or 0 :]
    if older_than is not None:
        before = datetime.now(UTC) - older_than
        folders = [folder for folder in folders if _is_older(folder, before)]
    return _remove(folders, options, in_use=ExitCode.OK)


def _remove(folders: Iterable[RunFolder], options: RemovalOptions, *, in_use: ExitCode) -> ExitCode:
    """Show what would go, ask, and do it; `in_use` is the exit code if one must not go."""
    kept: list[_Kept] = []
    going: list[RunFolder] = []
    for folder in folders:
        reason = _why_it_stays(folder)
        if reason is None:
            going.append(folder)
        else:
            kept.append(_Kept(folder=folder, reason=reason))
    code = in_use if kept else ExitCode.OK
    removed: list[_Removed] = []
    if options.dry_run:
        removed = [_Removed(folder=folder) for folder in going]
    elif going and _is_agreed(going, options):
        for folder in going:
            try:
                removed.append(_Removed(folder=folder, left=remove_run(folder)))
            except SetupError as error:
                said = str(error).removeprefix(str(folder.path)).removesuffix(".")
                kept.append(_Kept(folder=folder, reason=f"it{said}"))
                code = ExitCode.USAGE
    if options.as_json:
        print_json(_as_json(removed, kept, code, dry_run=options.dry_run))
    else:
        _tell(removed, kept, dry_run=options.dry_run)
    return code


def _why_it_stays(folder: RunFolder) -> str | None:
    """Why nobody need be asked about it."""
    if folder.path.is_symlink():
        return "it is a link; name the run by where it lies"
    writer = writer_of(folder.lock_path)
    return f"it is being written by {writer}" if writer else None


def _is_agreed(folders: Sequence[RunFolder], options: RemovalOptions) -> bool:
    if options.agreed:
        return True
    what = counted(len(folders), "run")
    if not can_be_asked():
        raise AuthorError(f"Nobody can be asked whether to remove {what}; say so with --yes.")
    for folder in folders:
        err(f"  {_in_words(folder)}")
    return click.confirm(f"Remove {what}?", default=False, err=True)


def _tell(removed: Sequence[_Removed], kept: Sequence[_Kept], *, dry_run: bool) -> None:
    for gone in removed:
        if dry_run:
            out(f"  would go   {_in_words(gone.folder)}")
        else:
            out(f"  {paint('removed', 'good')}    {_shown(gone.folder)}")
        if gone.left:
            names = ", ".join(one_line(name, 60) for name in gone.left[:_NAMED])
            more = f" and {len(gone.left) - _NAMED} more" if len(gone.left) > _NAMED else ""
            out(f"             its folder stays: it holds {names}{more}")
    for one in kept:
        out(f"  {paint('kept', 'warn')}       {_shown(one.folder)}: {visible(one.reason)}")
    if dry_run:
        err("Dry run: nothing was removed.")
    elif not removed:
        out("Nothing was removed.")


def _as_json(
    removed: Sequence[_Removed], kept: Sequence[_Kept], code: ExitCode, *, dry_run: bool
) -> dict[str, Any]:
    return {
        "exit_code": int(code),
        "dry_run": dry_run,
        "removed": [{"folder": str(gone.folder.path), "left": gone.left} for gone in removed],
        "kept": [{"folder": str(one.folder.path), "reason": one.reason} for one in kept],
    }


def _in_words(folder: RunFolder) -> str:
    """The run, when it began, of which suites, and how large it is."""
    size = file_size(size_of(folder))
    try:
        manifest = read_manifest(folder.manifest_path)
    except SetupError:
        return f"{_shown(folder)}  ({size})"
    suites = ", ".join(manifest.datasets)
    return f"{_shown(folder)}  {started(manifest.started)}  {one_line(suites, 60)}  ({size})"


def _shown(folder: RunFolder) -> str:
    return whole_line(str(folder.path))


def _is_older(folder: RunFolder, before: datetime) -> bool:
    """Whether a run was last taken up before then; one whose age is not known is never old."""
    try:
        manifest = read_manifest(folder.manifest_path)
        last = datetime.fromisoformat((manifest.started, *manifest.resumed)[-1])
    except (SetupError, ValueError):
        return False
    return last.tzinfo is not None and last < before
