"""A run's folder: how it is called, and what is in it."""

import os
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from agentv.errors import SetupError

_DRAFT = re.compile(r"\.(.+)\.[0-9]+\.tmp", re.DOTALL)


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
        for path in self.present():
            if path not in self.files:
                path.unlink(missing_ok=True)

    @property
    def files(self) -> tuple[Path, ...]:
        """All that a run may have in its folder; the manifest and the lock at the end."""
        rows = self.journal_path, self.steps_path, self.superseded_path
        return (*rows, self.chosen_path, self.manifest_path, self.lock_path)

    def present(self) -> Iterator[Path]:
        """What of a run is in the folder, in the order in which it may go; drafts that were left
        come first, the manifest and the lock last.

        Raises:
            OSError: It cannot be read.
        """
        with os.scandir(self.path) as entries:
            here = sorted(entry.name for entry in entries if not _is_folder(entry))
        own = {path.name: path for path in self.files}
        for name in here:
            draft = _DRAFT.fullmatch(name)
            if draft and draft[1] in own:
                yield self.path / name
        yield from (path for name, path in own.items() if name in here)

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


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)
