"""What an agent changed in its workspace, as git shows it.

The state before is kept in a git folder of our own beside the workspace, so a repository that is
in the workspace is neither needed nor touched.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from agentv.protocols import ProcessRunner
from agentv.providers.agents.template import run_git

_GIT_FOLDER = "before.git"


class WorkspaceDiff:
    """Compares a workspace with what it was."""

    def __init__(
        self, workspace: Path, folder: Path, processes: ProcessRunner, env: Mapping[str, str]
    ) -> None:
        # Where the agent cannot write: settings of git may run programs, and this side runs git.
        self._where = (
            *("-C", str(workspace)),
            *(f"--git-dir={folder / _GIT_FOLDER}", f"--work-tree={workspace}"),
            # Nor is a repository that the agent made looked into: it has settings of its own.
            *("-c", "core.fsmonitor=false", "-c", "diff.ignoreSubmodules=all"),
        )
        self._processes = processes
        # The user's own settings (filters, hooks, signing) have no say in this.
        self._env = {**env, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        self._before = ""

    async def remember(self) -> None:
        """Take the present state as what it was; raises `ProviderError` when git cannot."""
        await self._git("init", "--quiet")
        self._before = await self._state()

    async def since(self) -> str:
        """What has changed; empty if nothing has."""
        after = await self._state()
        if after == self._before:
            return ""
        return await self._git("diff", "--no-color", "--no-ext-diff", self._before, after)

    async def _state(self) -> str:
        await self._git("add", "--all")
        return (await self._git("write-tree")).strip()

    async def _git(self, *arguments: str) -> str:
        return await run_git(arguments, self._processes, self._env, where=self._where)
