"""Containers, through a stand-in for the `docker` program that writes down how it is called."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sandbox_story import DOCKER, Story, sandbox_setting

from agentv.errors import SetupError
from agentv.model.process import Command, CommandResult
from agentv.providers.sandboxes.choice import sandbox_for
from agentv.providers.sandboxes.sandbox import Confined, Room
from agentv.transport.process import Processes


class Dock:
    """A story whose `PATH` begins with the stand-in."""

    def __init__(self, folder: Path) -> None:
        self.story = Story(folder)
        self.tools = folder / "tools"
        self.story.program(DOCKER, "tools/docker", sys.executable)
        self.env = {"PATH": f"{self.tools}:/usr/bin:/bin", "SHELL": "/bin/sh"}

    def run(
        self,
        *argv: str,
        env: Mapping[str, str] | None = None,
        room: Room | None = None,
        **setting: Any,
    ) -> tuple[CommandResult, Confined]:
        async def story() -> tuple[CommandResult, Confined]:
            async with Processes() as processes:
                build = self.story.build(processes, self.env)
                made = sandbox_for(
                    sandbox_setting("docker", **{"image": "agents:1", **setting}), build
                )
                await made.prepare()
                given = {**build.env, **(env or {})}
                confined = made.confine(argv, given, room or self.story.room())
                result = await processes.run(Command(run=confined.argv, env=confined.env))
                return result, confined

        return asyncio.run(story())

    def refusal(self, **setting: Any) -> str:
        with pytest.raises(SetupError) as caught:
            self.run("true", **setting)
        return str(caught.value)

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.tools / "calls.jsonl").read_text().splitlines()]


@pytest.fixture
def dock(tmp_path: Path) -> Dock:
    return Dock(tmp_path)


def options_of(confined: Confined) -> dict[str, list[str]]:
    """The options of `docker run` with the values of each."""
    words = list(confined.argv[2 : confined.argv.index("agents:1")])
    found: dict[str, list[str]] = {}
    while words:
        name = words.pop(0)
        has_value = bool(words) and not words[0].startswith("--")
        found.setdefault(name, []).append(words.pop(0) if has_value else "")
    return found


def test_a_command_runs_in_a_container_of_its_own(dock: Dock) -> None:
    room = dock.story.room()
    result, confined = dock.run("/bin/sh", "-c", "pwd; echo err >&2; exit 3", room=room)
    assert (result.stdout.decode().strip(), result.exit_code) == (str(room.workspace), 3)
    options = options_of(confined)
    assert options["--network"] == ["none"]
    assert options["--user"] == [f"{os.getuid()}:{os.getgid()}"]
    assert options["--cap-drop"] == ["ALL"]
    assert options["--security-opt"] == ["no-new-privileges"]
    assert options["--pids-limit"] == ["4096"]
    assert options["--pull"] == ["never"]
    assert options["--label"] == ["agentv"]
    assert {"--rm", "--interactive", "--init", "--read-only"} <= options.keys()
    assert {"--memory", "--cpus"}.isdisjoint(options)
    assert options["--mount"] == [
        f"type=bind,source={room.folder},target={room.folder},readonly",
        f"type=bind,source={room.workspace},target={room.workspace}",
        f"type=bind,source={room.home},target={room.home}",
        f"type=bind,source={room.tmp},target={room.tmp}",
    ]


def test_limits_network_and_places_are_handed_on(dock: Dock) -> None:
    (dock.story.project / "a,b").mkdir()
    (dock.story.project / "out").mkdir()
    _, confined = dock.run(
        "true",
        network=True,
        memory="2g",
        cpus=1.5,
        pids=64,
        readable=["a,b"],
        writable=["out"],
    )
    options = options_of(confined)
    assert options["--network"] == ["bridge"]
    assert options["--memory"] == options["--memory-swap"] == ["2g"]
    assert options["--cpus"] == ["1.5"]
    assert options["--pids-limit"] == ["64"]
    project = dock.story.project
    assert options["--mount"][:2] == [
        f'type=bind,"source={project}/a,b","target={project}/a,b",readonly',
        f"type=bind,source={project}/out,target={project}/out",
    ]


def test_the_environment_is_handed_on_by_name(dock: Dock) -> None:
    """So that no value is in a command line, where every user could read it."""
    room = dock.story.room()
    result, confined = dock.run("env", env={"TOKEN": "made-up", "USER": "other"}, room=room)
    assert set(result.stdout.decode().split()) == {
        *("TOKEN=made-up", "USER=other", f"HOME={room.home}", f"TMPDIR={room.tmp}"),
        "PATH=/usr/bin:/bin",
    }
    assert "made-up" not in " ".join(confined.argv)
    assert confined.env["HOME"] == str(dock.story.home)  # for the settings of `docker` itself


def test_a_container_that_outlives_its_command_can_be_removed(dock: Dock) -> None:
    _, confined = dock.run("true")
    cleanup = confined.cleanup
    assert cleanup is not None
    assert cleanup.run == (confined.argv[0], "rm", "--force", confined.argv[3])
    assert confined.argv[2] == "--name"
    _, another = dock.run("true")
    assert another.argv[3] != confined.argv[3]


def test_under_a_rootless_daemon_root_is_the_user(dock: Dock) -> None:
    (dock.tools / "rootless").touch()
    _, confined = dock.run("true")
    assert options_of(confined)["--user"] == ["0:0"]


def test_a_missing_program_is_said(dock: Dock) -> None:
    dock.env["PATH"] = "/nowhere"
    assert dock.refusal() == (
        "`sandbox: docker` needs the program `docker`, which is not on PATH; install Docker "
        "(https://docs.docker.com/get-docker/), or confine with `sandbox: bubblewrap`."
    )


def test_a_daemon_that_does_not_run_is_said(dock: Dock) -> None:
    (dock.tools / "no-daemon").touch()
    assert dock.refusal() == (
        "`sandbox: docker` found no running daemon; start Docker, or set DOCKER_HOST or "
        "DOCKER_CONTEXT to where it runs. (Cannot connect to the Docker daemon at "
        "unix:///x.sock. Is it running?)"
    )


def test_a_missing_image_is_said_and_not_fetched(dock: Dock) -> None:
    assert dock.refusal(image="other:2") == (
        "The image 'other:2' of `sandbox: docker` is not on this machine; get it with `docker "
        "pull other:2`, or build it. (Error response from daemon: No such image: other:2)"
    )
    assert [call["argv"][0] for call in dock.calls] == ["info", "image"]


def test_the_program_is_looked_for_in_the_image(dock: Dock) -> None:
    async def made() -> bool:
        async with Processes() as processes:
            setting = sandbox_setting("docker", image="agents:1")
            build = dock.story.build(processes)
            return sandbox_for(setting, build).runs_programs_of_this_machine

    assert asyncio.run(made()) is False
