"""A run's folder: how it is called, what is in it, and how it is found again."""

import os
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path

import msgspec

from agentv.errors import SetupError
from agentv.model.base import Record

_LATEST = re.compile(r"latest(?:~([0-9]{1,6}))?")
_SHOWN = 5
"""How many names an error message lists."""


class RunFolder(msgspec.Struct, frozen=True):
    """The folder of one run."""

    path: Path

    @property
    def manifest_path(self) -> Path:
        """What was asked; a folder with this file holds a run."""
        return self.path / "run.json"

    @property
    def journal_path(self) -> Path:
        """What came of it, a row a line."""
        return self.path / "results.jsonl"

    @property
    def steps_path(self) -> Path:
        """What is known of trials that have no row yet; gone once every trial has one."""
        return self.path / "steps.jsonl"

    @property
    def superseded_path(self) -> Path:
        """Rows that a later part of the run did not keep."""
        return self.path / "superseded.jsonl"

    @property
    def chosen_path(self) -> Path:
        """The trials that the run is of, where these are not all of its suites."""
        return self.path / "chosen.jsonl"

    @property
    def lock_path(self) -> Path:
        """Locked by the process that writes the run."""
        return self.path / "lock"

    def remove_drafts(self) -> None:
        """Remove what writers that were killed have left; for whoever holds the lock."""
        for draft in self.path.glob(".*.tmp"):
            draft.unlink(missing_ok=True)

    @property
    def files(self) -> tuple[Path, ...]:
        """All that a run may have in its folder; the manifest and the lock at the end."""
        rows = self.journal_path, self.steps_path, self.superseded_path
        return (*rows, self.chosen_path, self.manifest_path, self.lock_path)

    @property
    def holds_run(self) -> bool:
        """Whether anything of a run is in it."""
        return self.manifest_path.exists() or self.journal_path.exists()

    @classmethod
    def create(cls, path: Path) -> "RunFolder":
        """Make the folder and its parents, or take one that holds no run.

        Raises:
            SetupError: It holds a run already, or cannot be made.
        """
        folder = cls(path)
        for held in (folder.manifest_path, folder.journal_path):
            if held.exists():
                raise SetupError(
                    f"{path} already holds a run ({held.name}), which is never overwritten; "
                    "choose another folder with --out, or leave --out away for a new one."
                )
        try:
            path.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            raise SetupError(f"{path} is a file; a run needs a folder.") from error
        except OSError as error:
            raise SetupError(f"The folder {path} cannot be made: {error.strerror}.") from error
        return folder


def new_run_folder(
    results_root: Path, now: datetime, token: Callable[[], str] = lambda: os.urandom(2).hex()
) -> RunFolder:
    """The folder of a new run, under a name that no run has; the name is taken at once.

    Args:
        results_root: The folder in which runs lie.
        now: With a time zone.
        token: Tells runs of the same second apart; asked again when a name is taken.

    Raises:
        SetupError: It cannot be made.
    """
    while True:
        path = results_root / new_run_id(now, token())
        try:
            results_root.mkdir(parents=True, exist_ok=True)
            path.mkdir()
        except FileExistsError as error:
            if not results_root.is_dir():
                raise SetupError(f"{results_root} is a file; runs need a folder.") from error
        except OSError as error:
            raise SetupError(f"The folder {path} cannot be made: {error.strerror}.") from error
        else:
            return RunFolder(path)


def new_run_id(now: datetime, token: str) -> str:
    """`20261121T070801Z-3f9c`: sorts by time and is a valid folder name everywhere.

    Args:
        now: With a time zone.
        token: Tells runs of the same second apart.
    """
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{token}"


def find_run(reference: str, results_root: Path) -> RunFolder:
    """The run that a person means.

    Args:
        reference: A run's folder, its id or the beginning of one, `latest`, or `latest~1` for the
            one before.
        results_root: The folder in which runs lie.

    Raises:
        SetupError: There is no such run, or there are several.
    """
    runs = {folder.path.name: folder for folder in _runs(results_root)}
    if match := _LATEST.fullmatch(reference):
        return _latest(list(runs.values()), int(match[1] or 0), results_root)
    if reference in runs:
        return runs[reference]
    if reference and Path(reference).is_dir():
        return _at(Path(reference))
    beginnings = [name for name in runs if name.startswith(reference)] if reference else []
    if len(beginnings) == 1:
        return runs[beginnings[0]]
    if beginnings:
        raise SetupError(f"Several runs begin with '{reference}': {_listed(beginnings)}.")
    raise SetupError(f"There is no run '{reference}'. {_advice(reference, list(runs))}")


def newest_first(results_root: Path) -> list[RunFolder]:
    """Every run, by when it began."""
    return sorted(_runs(results_root), key=_age, reverse=True)


class _Started(Record, frozen=True, kw_only=True):
    started: str = ""


def _runs(root: Path) -> list[RunFolder]:
    if not root.is_dir():
        return []
    folders = (RunFolder(path) for path in sorted(root.iterdir()))
    return [folder for folder in folders if folder.manifest_path.is_file()]


def _latest(runs: Sequence[RunFolder], back: int, root: Path) -> RunFolder:
    if back >= len(runs):
        count = "no runs" if not runs else "1 run" if len(runs) == 1 else f"{len(runs)} runs"
        wanted = f"latest~{back}" if back else "latest"
        raise SetupError(f"There is no run '{wanted}': {root} holds {count}.")
    return sorted(runs, key=_age)[-1 - back]


def _age(folder: RunFolder) -> tuple[str, str]:
    # Names alone would not do: a folder may have been named with --out, and two runs may have
    # begun in the same second.
    try:
        started = msgspec.json.decode(folder.manifest_path.read_bytes(), type=_Started).started
    except (OSError, ValueError):
        started = ""
    return started, folder.path.name


def _at(path: Path) -> RunFolder:
    folder = RunFolder(path)
    if not folder.manifest_path.is_file():
        raise SetupError(f"{path} holds no run: there is no {folder.manifest_path.name} in it.")
    return folder


def _advice(reference: str, names: Sequence[str]) -> str:
    if not names:
        return "There are no runs yet; `agentv eval` makes one."
    near = get_close_matches(reference, names, n=_SHOWN, cutoff=0.6)
    if near:
        return f"Near it: {_listed(near)}."
    return f"The latest are {_listed(sorted(names, reverse=True))}."


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
