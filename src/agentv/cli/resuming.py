"""Which run `--resume` means."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from agentv.cli.console import err
from agentv.core.moved_suites import SuiteName, moved_suites
from agentv.errors import SetupError
from agentv.execution import RESULTS_ROOT, Resume
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
        err("There is no run to resume yet: a new one begins.")
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
        if then != now:
            was = " ".join(f"{flag} {value}" for value in then) or f"no {flag}"
            raise SetupError(
                f"The run {manifest.run_id} was started with {was}: go on with just that, or start "
                "a new run."
            )


def _folder(options: Resuming, workspace: Workspace) -> RunFolder | None:
    if options.resume:
        return find_run(options.resume, RESULTS_ROOT)
    if options.out is not None:
        folder = RunFolder(options.out)
        return folder if folder.holds_run else None
    return last_run_of(workspace.suite_names, RESULTS_ROOT, options.shard)


def last_run_of(
    suites: Sequence[SuiteName], root: Path, shard: str | None = None
) -> RunFolder | None:
    """The newest run of just these suites, wherever they lay then, and of this shard of them.

    `None` if there is none. Rehearsals are none, and neither are runs that came of another run.
    """
    for folder in newest_first(root):
        try:
            manifest = read_manifest(folder.manifest_path)
        except SetupError:
            continue
        if manifest.dry_run or manifest.rescored_from or manifest.rerun_of:
            continue
        if shard != (str(manifest.shard) if manifest.shard else None):
            continue
        found = len(moved_suites(manifest.suites, suites))
        if found == len(suites) == len(manifest.suites):
            return folder
    return None
