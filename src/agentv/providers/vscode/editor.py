"""Driving VS Code by its command line: open a worker's window, wake its agent, hand it a request.

`code -r chat` goes to whichever window was active last, so opening and asking are one step that
nobody else on this machine may take at the same time, whatever run or worker it is for.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from agentv.errors import ProviderError, ProviderTimeout, SetupError
from agentv.model.base import Record
from agentv.model.process import Command, CommandResult
from agentv.protocols import ProcessRunner
from agentv.providers.vscode.exclusive import exclusive
from agentv.providers.vscode.polling import until
from agentv.providers.vscode.worker import WAKEUP_AGENT, Worker

_SAID_BYTES = 2000


class Timing(Record, frozen=True, kw_only=True):
    """How long VS Code itself may take, in seconds."""

    status: float = 10.0
    """`code --status`, which asks every window."""
    command: float = 30.0
    """Any other call, which only leaves word with VS Code and ends."""
    opening: float = 30.0
    """Until a new window shows in the status."""
    focus: float = 0.5
    """Until a window that was called is the active one."""


class Editor(Record, frozen=True, kw_only=True):
    """One VS Code, as a program that is called."""

    executable: str
    env: Mapping[str, str]
    processes: ProcessRunner
    timing: Timing = Timing()

    @asynccontextmanager
    async def turn(self, *, within: float) -> AsyncIterator[None]:
        """Nobody else opens a window or starts a chat meanwhile."""
        async with exclusive(_turn_file(), within=within, what="starting a chat in VS Code"):
            yield

    async def make_ready(self, worker: Worker, *, within: float) -> None:
        """Put a worker's window on top, with an agent in it that answers; only in a turn.

        Raises:
            ProviderTimeout: The agent has not shown itself in time.
            ProviderError: VS Code cannot be called.
        """
        # The status knows windows by name only, and another root may have a `subagent-1` as well:
        # so the agent must have answered in this very folder too.
        if worker.alive.exists() and await self._shows(worker):
            await self._call(worker, str(worker.workspace))
            await asyncio.sleep(self.timing.focus)
            return
        await self._wake(worker, within)

    async def chat(self, worker: Worker, mode: str, files: Sequence[str], text: str) -> None:
        """Start a chat in the window on top; only in a turn.

        Args:
            worker: Whose window it is.
            mode: The chat's mode.
            files: Absolute paths that the chat has as context.
            text: What is said.
        """
        attached = [word for file in files for word in ("-a", file)]
        await self._call(worker, "-r", "chat", "-m", mode, *attached, text)

    async def _wake(self, worker: Worker, within: float) -> None:
        worker.alive.unlink(missing_ok=True)
        await self._call(worker, str(worker.workspace))
        await self._wait_for_window(worker)
        await asyncio.sleep(self.timing.focus)
        text = f"Create an empty file named .alive, at {worker.alive}, and do nothing else."
        await self.chat(worker, WAKEUP_AGENT, (), text)
        if await until(lambda: worker.alive.exists() or None, within=within) is None:
            raise ProviderTimeout(
                f"VS Code's agent did not wake up within {within:g} s",
                detail=(
                    f"{worker.workspace} was opened, and its chat was asked to create "
                    f"{worker.alive}. Look at that window: it may want you to sign in, to trust "
                    "the folder, or to allow the chat to create files."
                ),
            )

    async def _wait_for_window(self, worker: Worker) -> None:
        """Until the status shows it; where there is no status, `focus` must do."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.timing.opening
        while await self._shows(worker) is False and loop.time() < deadline:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(self.timing.focus)

    async def _shows(self, worker: Worker) -> bool | None:
        """Whether a window of that name is open; `None` if VS Code does not say."""
        command = Command(
            run=(self.executable, "--status"),
            env=self.env,
            cwd=worker.folder,
            timeout_seconds=self.timing.status,
        )
        result = await self._run(command)
        if result.exit_code != 0:
            return None
        said = result.stdout.decode("utf-8", "replace")
        return re.search(rf"\b{re.escape(worker.name)}(?!\d)", said) is not None

    async def _call(self, worker: Worker, *arguments: str) -> None:
        # The window outlives the call: it is a person's editor.
        command = Command(
            run=(self.executable, *arguments),
            env=self.env,
            cwd=worker.folder,
            timeout_seconds=self.timing.command,
            leaves_children=True,
        )
        result = await self._run(command)
        if result.timed_out:
            raise ProviderTimeout(
                f"'{self.executable}' did not come back within {self.timing.command:g} s; it must "
                "be VS Code's command line (`bin/code`), not the editor's own program",
                detail=_said(result),
            )
        if result.exit_code != 0:
            raise ProviderError(
                f"'{self.executable}' failed with exit code {result.exit_code}",
                kind="exit",
                detail=_said(result),
            )

    async def _run(self, command: Command) -> CommandResult:
        try:
            return await self.processes.run(command)
        except SetupError as error:
            raise ProviderError(str(error), kind="spawn") from error


def _turn_file() -> Path:
    # In the user's cache folder: the active window is one of all that this user has open.
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "agentv" / "vscode-launch.lock"


def _said(result: CommandResult) -> str | None:
    text = (result.stderr or result.stdout)[-_SAID_BYTES:].decode("utf-8", "replace").strip()
    return text or None
