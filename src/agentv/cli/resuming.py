"""Which run `--resume` means."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from agentv.assembly.earlier import Resume
from agentv.cli.console import err, paint, visible
from agentv.core.moved_suites import SuiteName, moved_suites
from agentv.errors import AuthorError, SetupError
from agentv.execution.places import RESULTS_ROOT
from agentv.loading.workspace import Workspace
from agentv.model.run import RunManifest
from agentv.storage.finding import find_run, newest_first
from agentv.storage.manifest import read_manifest
from agentv.storage.run_folder import RunFolder

LAST = ""
"""`--resume` without a name: the folder of `--out`, else the last run of these suites."""


class Resuming(Protocol):
    """What was typed, as far as it matters here."""

    @property
    def resume(self) -> str | None:
        """`None` when no run is to go on."""

    @property
    def retry_errors(self) -> bool:
        """Whether trials that ended in an error are tried again."""

    @property
    def targets(self) -> tuple[str, ...]:
        """The names of `--target`."""

    @property
    def eval_ids(self) -> tuple[str, ...]:
        """The globs of `--eval-id`."""

    @property
    def shard(self) -> str | None:
        """`2/5`, if only a part is to be run."""

    @property
    def dry_run(self) -> bool:
        """Whether it is a rehearsal."""

    @property
    def replay(self) -> Path | None:
        """The cassette that answers, if one does."""

    @property
    def out(self) -> Path | None:
        """The run's folder, if it was named."""


def resume_of(options: Resuming, workspace: Workspace) -> Resume | None:
    """The run that goes on; `None` for a new one.

    Where no run is named and there is none of these suites yet, a new one begins: the same command
    can be repeated until it comes to its end.

    Raises:
        SetupError: The run that is named does not exist, or there is no single one.
    """
    if options.resume is None:
        if options.retry_errors:
            raise SetupError("--retry-errors goes with --resume: a new run has no errors yet.")
        return None
    folder = _folder(options, workspace)
    if folder is None:
        return None
    _refuse_another_plan(options, read_manifest(folder.manifest_path))
    return Resume(folder=folder, retry_errors=options.retry_errors)


def asks_nobody(options: Resuming) -> bool:
    """Whether the run that goes on is a rescored one: then the candidates need no keys."""
    if options.resume:
        folder = find_run(options.resume, RESULTS_ROOT)
    elif options.resume is not None and options.out is not None:
        folder = RunFolder(options.out)
    else:
        return False
    known = folder.manifest_path.is_file()
    return known and read_manifest(folder.manifest_path).rescored_from is not None


def _refuse_another_plan(options: Resuming, manifest: RunManifest) -> None:
    """Rows of cases and targets that a filter leaves out would be set aside."""
    chosen = (("eval_ids", "--eval-id", options.eval_ids), ("targets", "--target", options.targets))
    for name, flag, now in chosen:
        then = tuple(manifest.arguments.get(name, ()))
        if sorted(then) != sorted(now):
            was = " ".join(f"{flag} {value}" for value in then) or f"no {flag}"
            raise SetupError(
                f"The run {manifest.run_id} was started with {was}: go on with just that, or start "
                "a new run."
            )


def _folder(options: Resuming, workspace: Workspace) -> RunFolder | None:
    if options.resume:
        return _named(options.resume, options.out)
    if options.out is not None and RunFolder(options.out).holds_run:
        return RunFolder(options.out)
    near = None
    if options.out is None:
        found, near = _last_run_of(workspace.suite_names, options)
        if found is not None:
            return found
    err("There is no run to resume yet: a new one begins.")
    if near is not None:
        err(f"(The run {near} is of some of these suites; `--resume {near}` adds the others.)")
    return None


def _named(run: str, out: Path | None) -> RunFolder:
    folder = find_run(run, RESULTS_ROOT)
    if out is not None and out.absolute() != folder.path.absolute():
        raise AuthorError(
            f"--resume {run} and --out {out} name two folders: leave --out away, since a run goes "
            "on where it lies."
        )
    return folder


def _last_run_of(
    suites: Sequence[SuiteName], options: Resuming
) -> tuple[RunFolder | None, str | None]:
    """The newest run that was asked for alike, wherever its suites lay then.

    Without one, the name of the newest that was asked for alike of fewer suites. Runs that came of
    another run are none.

    Raises:
        SetupError: There is none, and one with other filters was cut short: whoever forgot them
            would pay for its answers again.
    """
    near: str | None = None
    unfinished: RunManifest | None = None
    for folder in newest_first(RESULTS_ROOT):
        try:
            manifest = read_manifest(folder.manifest_path)
        except SetupError as error:
            err(f"{paint('warning:', 'warn', err=True)} {visible(str(error))} It is passed over.")
            continue
        found = len(moved_suites(manifest.suites, suites))
        if found < len(manifest.suites) or not _is_of_a_kind(manifest, options):
            continue
        is_whole = found == len(suites)
        if _has_filters(manifest, options):
            if is_whole:
                return folder, None
            near = near or folder.path.name
        elif is_whole and folder.steps_path.exists():
            unfinished = unfinished or manifest
    if unfinished is not None:
        _refuse_another_plan(options, unfinished)
    return None, near


def _is_of_a_kind(manifest: RunManifest, options: Resuming) -> bool:
    """Whether a run could go on with these options, were it not for its filters."""
    return (
        not manifest.rescored_from
        and not manifest.rerun_of
        and manifest.dry_run == options.dry_run
        and manifest.replayed == (str(options.replay) if options.replay else None)
        and (str(manifest.shard) if manifest.shard else None) == options.shard
    )


def _has_filters(manifest: RunManifest, options: Resuming) -> bool:
    """Whether a run is of the very cases and targets that are meant."""
    then = manifest.arguments
    return sorted(then.get("eval_ids", ())) == sorted(options.eval_ids) and sorted(
        then.get("targets", ())
    ) == sorted(options.targets)
