"""Commands run in a sandbox, for tests: rooms, a target's options, and what came of them."""

import asyncio
import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from provider_build import provider_build

from agentv.model.process import Command, CommandResult
from agentv.protocols import ProviderBuild
from agentv.providers.sandboxes.choice import sandbox_for
from agentv.providers.sandboxes.options import SandboxOptions
from agentv.providers.sandboxes.sandbox import Room, Sandbox
from agentv.transport.process import Processes

DOCKER = """
import json, os, sys
from pathlib import Path
notes = Path(__file__).with_name("calls.jsonl")
words = sys.argv[1:]
with notes.open("a") as file:
    file.write(json.dumps({"argv": words, "env": dict(os.environ)}) + "\\n")
if words[0] == "info":
    if Path(__file__).with_name("no-daemon").exists():
        sys.exit("Cannot connect to the Docker daemon at unix:///x.sock. Is it running?")
    rootless = Path(__file__).with_name("rootless").exists()
    print(json.dumps(["name=seccomp,profile=builtin"] + ["name=rootless"] * rootless))
elif words[:2] == ["image", "inspect"]:
    if words[-1] != "agents:1":
        sys.exit(f"Error response from daemon: No such image: {words[-1]}")
elif words[0] == "run":
    options, image = words[1:], words.index("agents:1")
    env = {"PATH": "/usr/bin:/bin"}
    given = [options[i + 1] for i, word in enumerate(options) if word == "--env"]
    for name, is_set, value in (entry.partition("=") for entry in given):
        env[name] = value if is_set else os.environ[name]
    os.chdir(options[options.index("--workdir") + 1])
    program = options[options.index("--entrypoint") + 1]
    os.execvpe(program, [program, *words[image + 1:]], env)
"""
"""Does what a container would, without containing anything."""


@functools.cache
def _why_not() -> str | None:
    if sys.platform != "linux":
        return "bubblewrap needs Linux"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed: apt install bubblewrap"
    probe = ["bwrap", "--unshare-user", "--unshare-net", "--ro-bind", "/", "/", "true"]
    tried = subprocess.run(probe, capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        return f"user namespaces are forbidden here (see docs/sandboxes.md): {tried.stderr.strip()}"
    return None


needs_bubblewrap = pytest.mark.skipif(_why_not() is not None, reason=_why_not() or "")


@dataclass
class Story:
    """A project, a home and rooms, all in one temporary folder."""

    folder: Path
    notified: list[str] = field(default_factory=list)
    rooms: int = 0

    def __post_init__(self) -> None:
        for name in ("project", "home", "tools"):
            (self.folder / name).mkdir()

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def program(self, text: str, name: str = "tools/agent", language: str = "/bin/sh") -> Path:
        """An executable script; in Python with `language=sys.executable`."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!{language}\n{text}\n")
        file.chmod(0o755)
        return file

    def room(self) -> Room:
        self.rooms += 1
        folder = self.folder / "rooms" / str(self.rooms)
        for name in ("workspace", "home", "tmp"):
            (folder / name).mkdir(parents=True)
        return Room(
            folder=folder,
            workspace=folder / "workspace",
            home=folder / "home",
            tmp=folder / "tmp",
        )

    def build(self, processes: Processes, env: Mapping[str, str] | None = None) -> ProviderBuild:
        plain = provider_build(processes, folder=self.project, notified=self.notified)
        own = {"PATH": os.environ["PATH"], "HOME": str(self.home), **(env or {})}
        values: dict[str, Any] = msgspec.structs.asdict(plain)
        return ProviderBuild(**{**values, "env": own})

    def run(
        self,
        *argv: str | Path,
        env: Mapping[str, str] | None = None,
        room: Room | None = None,
        timeout_seconds: float | None = 30,
        **sandbox: Any,
    ) -> CommandResult:
        """Run a command in a sandbox (bubblewrap's, unless a `kind` is given)."""

        async def story() -> CommandResult:
            async with Processes() as processes:
                build = self.build(processes)
                made = sandbox_for(sandbox_setting(**sandbox), build)
                try:
                    await made.prepare()
                    return await self.run_in(
                        made, processes, argv, {**build.env, **(env or {})}, room, timeout_seconds
                    )
                finally:
                    await made.aclose()

        return asyncio.run(story())

    async def run_in(
        self,
        sandbox: Sandbox,
        processes: Processes,
        argv: tuple[str | Path, ...],
        env: Mapping[str, str],
        room: Room | None = None,
        timeout_seconds: float | None = 30,
    ) -> CommandResult:
        confined = sandbox.confine(tuple(map(str, argv)), env, room or self.room())
        return await processes.run(
            Command(run=confined.argv, env=confined.env, timeout_seconds=timeout_seconds)
        )

    def says(self, *argv: str | Path, **more: Any) -> str:
        """What a command that succeeds writes."""
        result = self.run(*argv, **more)
        assert result.exit_code == 0, result.stderr.decode()
        return result.stdout.decode().strip()

    def sh(self, text: str, **more: Any) -> str:
        """What a shell command that succeeds writes."""
        return self.says("/bin/sh", "-c", text, **more)

    def refusal(self, text: str, **more: Any) -> str:
        """What a shell command that fails complains of."""
        result = self.run("/bin/sh", "-c", text, **more)
        assert result.exit_code not in (0, None), result.stdout.decode()
        return result.stderr.decode().strip()


def sandbox_setting(kind: str = "bubblewrap", **more: Any) -> SandboxOptions:
    return msgspec.convert({"kind": kind, **more}, SandboxOptions)
