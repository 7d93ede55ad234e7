"""A worker: one folder that the subagent protocol lays out, with one VS Code window of its own."""

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from secrets import token_hex

import msgspec

from agentv.errors import SetupError

WAKEUP_AGENT = "wakeup"
_NAME = re.compile(r"subagent-([1-9]\d*)")
_MESSAGE = re.compile(r".+_(req|res|res\.tmp|orchestrator)\.md")
_WAKEUP_FILE = """\
---
description: 'Wake-up signal'
---

Do exactly what is asked, and nothing else.
"""
_WORKSPACE = {
    "folders": [{"path": "."}],
    "settings": {"chat.modeFilesLocations": {".github/agents/**/*.md": True}},
}


class Message(msgspec.Struct, frozen=True):
    """The files of one request: ours, and the answer's."""

    request: Path
    draft: Path
    """Where an answer grows that is moved to its place when it is whole."""
    answer: Path


class Batch(msgspec.Struct, frozen=True):
    """The files of requests that go out together."""

    messages: tuple[Message, ...]
    orchestrator: Path


class Worker(msgspec.Struct, frozen=True):
    """Where everything of one worker is."""

    folder: Path

    @property
    def name(self) -> str:
        """`subagent-3`; also in the title of its window."""
        return self.folder.name

    @property
    def number(self) -> int:
        """The 3 of `subagent-3`."""
        return int(self.name.rpartition("-")[2])

    @property
    def workspace(self) -> Path:
        """What VS Code opens."""
        return self.folder / f"{self.name}.code-workspace"

    @property
    def lock(self) -> Path:
        """There while somebody uses the worker."""
        return self.folder / "subagent.lock"

    @property
    def alive(self) -> Path:
        """Made by the agent once it answers."""
        return self.folder / ".alive"

    @property
    def messages(self) -> Path:
        """Requests and answers."""
        return self.folder / "messages"

    @property
    def agents(self) -> Path:
        """Custom agents that the window knows."""
        return self.folder / ".github" / "agents"

    def set_up(self, *, anew: bool = False) -> None:
        """Write what a worker consists of; what is there is kept unless it is to be made anew.

        Raises:
            SetupError: It cannot be written.
        """
        try:
            self._write(anew=anew)
        except OSError as error:
            raise SetupError(f"{self.folder} cannot be made: {error.strerror}.") from error

    def _write(self, *, anew: bool) -> None:
        self.agents.mkdir(parents=True, exist_ok=True)
        self.messages.mkdir(exist_ok=True)
        wakeup = self.agents / f"{WAKEUP_AGENT}.md"
        for path, text in (
            (wakeup, _WAKEUP_FILE),
            (self.workspace, json.dumps(_WORKSPACE, indent=2)),
        ):
            if anew or not path.exists():
                path.write_text(text, "utf-8")

    def clear(self) -> None:
        """Remove the messages of earlier requests; whatever else is there is somebody's."""
        with suppress(FileNotFoundError):
            for path in self.messages.iterdir():
                if _MESSAGE.fullmatch(path.name):
                    path.unlink(missing_ok=True)

    def new_message(self, now: datetime) -> Message:
        """Files of a request, under a name that nobody else has."""
        return self._message(_unique(now))

    def new_batch(self, now: datetime, size: int) -> Batch:
        """Files of so many requests, under names that nobody else has."""
        stem = _unique(now)
        return Batch(
            messages=tuple(self._message(f"{stem}_{number}") for number in range(size)),
            orchestrator=self.messages / f"{stem}_orchestrator.md",
        )

    def _message(self, stem: str) -> Message:
        return Message(
            request=self.messages / f"{stem}_req.md",
            draft=self.messages / f"{stem}_res.tmp.md",
            answer=self.messages / f"{stem}_res.md",
        )


def default_root(*, insiders: bool) -> Path:
    """Where workers are unless somebody says otherwise."""
    name = "vscode-insiders-agents" if insiders else "vscode-agents"
    return Path("~/.subagent").expanduser() / name


def find_workers(root: Path) -> list[Worker]:
    """Every worker below a root, by number; none when there is no such folder.

    Raises:
        SetupError: The folder cannot be read.
    """
    try:
        entries = list(root.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise SetupError(f"{root} cannot be read: {error.strerror}.") from error
    return _sorted(
        Worker(path)
        for path in entries
        if _NAME.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
    )


def missing_workers(root: Path, number: int) -> list[Worker]:
    """The workers that are to be made so that there are so many."""
    there = find_workers(root)
    highest = there[-1].number if there else 0
    lacking = range(1, number - len(there) + 1)
    return [Worker(root / f"subagent-{highest + step}") for step in lacking]


def _sorted(workers: Iterable[Worker]) -> list[Worker]:
    return sorted(workers, key=lambda worker: worker.number)


def _unique(now: datetime) -> str:
    return f"{now:%Y%m%d%H%M%S}_{token_hex(4)}"
