"""What a workspace begins with: nothing, a copy of a folder, or a repository at some commit."""

import asyncio
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from agentv.errors import ProviderError, SetupError
from agentv.model.base import Record
from agentv.model.process import Command
from agentv.protocols import ProcessRunner
from agentv.providers.process_ending import end_of

_OURS = frozenset({"cache", "logs", "results", "workspaces"})
"""What runs leave in `.agentv`: no part of anybody's project."""
_GIT_SECONDS = 600.0


class Template(Protocol):
    """Fills workspaces."""

    async def fill(self, workspace: Path) -> None:
        """Put the template into an empty folder; raises `ProviderError` when that fails."""


class Nothing:
    """An empty workspace."""

    async def fill(self, workspace: Path) -> None:
        """Leave it empty."""


class FolderCopy(Record, frozen=True, kw_only=True):
    """A folder, copied whole; links stay links."""

    folder: Path

    async def fill(self, workspace: Path) -> None:
        """Copy everything that is a file, a folder or a link."""
        try:
            await asyncio.to_thread(self._copy, workspace)
        except (OSError, shutil.Error) as error:
            raise ProviderError(
                f"the workspace template '{self.folder}' cannot be copied: {_reason(error)}",
                kind="workspace",
            ) from error

    def _copy(self, workspace: Path) -> None:
        shutil.copytree(
            self.folder, workspace, symlinks=True, ignore=_not_copied, dirs_exist_ok=True
        )


class RepositoryClone:
    """A git repository at one commit; nothing that is done to the clone reaches the original."""

    def __init__(
        self, repository: Path, ref: str, processes: ProcessRunner, env: Mapping[str, str]
    ) -> None:
        self._repository = repository
        self._ref = ref
        self._processes = processes
        self._env = env
        self._commit: str | None = None

    async def fill(self, workspace: Path) -> None:
        """Clone; objects are shared by hard links where they can be."""
        # Found out once: a branch that moves meanwhile would give later cases another start.
        if self._commit is None:
            self._commit = await self._find_commit()
        original = str(self._repository)
        await self._git(workspace, "clone", "--quiet", "--no-checkout", original, ".")
        await self._git(workspace, "checkout", "--quiet", "--detach", self._commit)
        # An agent that pushes must not reach the author's own repository.
        await self._git(workspace, "remote", "remove", "origin")

    async def _find_commit(self) -> str:
        asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{self._ref}^{{commit}}")
        try:
            found = await self._git(self._repository, *asked)
        except ProviderError as error:
            raise ProviderError(
                f"the workspace template '{self._repository}' has no commit, branch or tag "
                f"'{self._ref}'",
                kind="workspace",
                detail=error.detail,
            ) from error
        return found.strip()

    async def _git(self, folder: Path, *arguments: str) -> str:
        return await run_git(arguments, self._processes, self._env, where=("-C", str(folder)))


async def run_git(
    arguments: Sequence[str],
    processes: ProcessRunner,
    env: Mapping[str, str],
    *,
    where: Sequence[str] = (),
) -> str:
    """Run git and return what it prints; raises `ProviderError` when it fails.

    Args:
        arguments: Its command, and what belongs to that.
        processes: Runs it.
        env: Its environment.
        where: What stands before the command: the folders it is about.
    """
    command = Command(
        run=("git", *where, *arguments),
        env={**env, "GIT_TERMINAL_PROMPT": "0"},
        timeout_seconds=_GIT_SECONDS,
        is_helper=True,
    )
    try:
        result = await processes.run(command)
    except SetupError as error:
        raise ProviderError(f"git cannot be run: {error}", kind="workspace") from error
    if result.exit_code != 0:
        raise ProviderError(
            f"`git {arguments[0]}` failed in the workspace",
            kind="workspace",
            detail=end_of(result.stderr),
        )
    return result.stdout.decode("utf-8", "replace")


def _not_copied(folder: str, names: list[str]) -> set[str]:
    here = Path(folder)
    ours = {name for name in names if name in _OURS and here.name == ".agentv"}
    return ours | {name for name in names if not _can_be_copied(here / name)}


def _can_be_copied(path: Path) -> bool:
    """Pipes and devices could be read for ever."""
    mode = path.lstat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)


def _reason(error: OSError) -> str:
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        return "; ".join(str(reason) for *_, reason in error.args[0][:3])
    return error.strerror or str(error)
