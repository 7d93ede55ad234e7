"""`sandbox: docker`: each attempt in a container of its own, through the `docker` program."""

import os
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agentv.errors import SetupError
from agentv.model.process import Command, CommandResult
from agentv.protocols import ProviderBuild
from agentv.providers.sandboxes.options import SandboxOptions
from agentv.providers.sandboxes.places import named_places
from agentv.providers.sandboxes.sandbox import Confined, Room

_MOST_PIDS = 4096
_CHECK_SECONDS = 30.0
_CLEANUP_SECONDS = 30.0
_LABEL = "agentv"
_CONFINEMENT = (
    *("--rm", "--interactive", "--init", "--pull", "never", "--label", _LABEL),
    *("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
    *("--tmpfs", "/tmp:rw,exec,nosuid,nodev", "--tmpfs", "/var/tmp:rw,exec,nosuid,nodev"),  # noqa: S108
    *("--tmpfs", "/run:rw,nosuid,nodev"),
)
_OF_THE_CLIENT = (
    *("PATH", "HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "DOCKER_HOST", "DOCKER_CONTEXT"),
    *("DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY", "DOCKER_TLS", "SSH_AUTH_SOCK"),
)
"""What the `docker` program itself goes by; a container does not get it."""
_OF_THIS_MACHINE = frozenset({"SHELL", "USER", "LOGNAME", "PWD", "OLDPWD", "TMPDIR"})


class Docker:
    """Confines commands with `docker run`."""

    runs_programs_of_this_machine = False

    def __init__(self, options: SandboxOptions, build: ProviderBuild) -> None:
        self._options = options
        self._build = build
        self._docker = ""
        self._user = f"{os.getuid()}:{os.getgid()}"
        self._mounts: tuple[str, ...] = ()
        self._client_env = {k: build.env[k] for k in _OF_THE_CLIENT if k in build.env}

    async def prepare(self) -> None:
        """Find the `docker` program, its daemon and the image.

        Raises:
            SetupError: One of them is missing.
        """
        self._docker = _find(self._build.env)
        options, folder = self._options, self._build.folder
        self._mounts = (
            *_mounts(named_places(options.readable, folder, "readable"), read_only=True),
            *_mounts(named_places(options.writable, folder, "writable")),
        )
        security = await self._ask("info", "--format", "{{json .SecurityOptions}}")
        if security.exit_code != 0:
            raise SetupError(
                "`sandbox: docker` found no running daemon; start Docker, or set DOCKER_HOST or "
                f"DOCKER_CONTEXT to where it runs. ({_reason(security)})"
            )
        if b"name=rootless" in security.stdout:
            # There, root in the container is the user who runs the daemon, and no other is.
            self._user = "0:0"
        image = str(options.image)
        found = await self._ask("image", "inspect", "--format", "{{.Id}}", image)
        if found.exit_code != 0:
            raise SetupError(
                f"The image '{image}' of `sandbox: docker` is not on this machine; get it with "
                f"`docker pull {image}`, or build it. ({_reason(found)})"
            )

    def confine(self, argv: tuple[str, ...], env: Mapping[str, str], room: Room) -> Confined:
        """The command under `docker run`."""
        name = f"agentv-{uuid.uuid4().hex}"
        handed = self._handed_on(env)
        confined = (
            *(self._docker, "run", "--name", name, *_CONFINEMENT, *self._limits()),
            *("--network", "bridge" if self._options.network else "none", "--user", self._user),
            *(*self._mounts, *_mounts((room.folder,), read_only=True), *_mounts(room.writable)),
            *("--workdir", str(room.workspace)),
            *("--env", f"HOME={room.home}", "--env", f"TMPDIR={room.tmp}"),
            # By name only: the values would be there for every user of the machine to see.
            *(part for key in handed for part in ("--env", key)),
            *("--entrypoint", argv[0], str(self._options.image), *argv[1:]),
        )
        cleanup = Command(
            run=(self._docker, "rm", "--force", name),
            env=self._client_env,
            timeout_seconds=_CLEANUP_SECONDS,
            is_helper=True,
        )
        return Confined(argv=confined, env={**handed, **self._client_env}, cleanup=cleanup)

    async def aclose(self) -> None:
        """Nothing is held."""

    async def _ask(self, *arguments: str) -> CommandResult:
        return await self._build.processes.run(
            Command(
                run=(self._docker, *arguments),
                env=self._client_env,
                timeout_seconds=_CHECK_SECONDS,
                is_helper=True,
            )
        )

    def _handed_on(self, env: Mapping[str, str]) -> dict[str, str]:
        """The environment without what is true of this machine only."""
        own = self._build.env
        return {
            key: value
            for key, value in env.items()
            if key not in _OF_THE_CLIENT and not (key in _OF_THIS_MACHINE and value == own.get(key))
        }

    def _limits(self) -> Iterator[str]:
        options = self._options
        yield from ("--pids-limit", str(options.pids or _MOST_PIDS))
        if options.memory is not None:
            # The same again: without it a container may swap as much besides.
            yield from ("--memory", options.memory, "--memory-swap", options.memory)
        if options.cpus is not None:
            yield from ("--cpus", f"{options.cpus:g}")


def _find(env: Mapping[str, str]) -> str:
    found = shutil.which("docker", path=env.get("PATH"))
    if found is None:
        raise SetupError(
            "`sandbox: docker` needs the program `docker`, which is not on PATH; install Docker "
            "(https://docs.docker.com/get-docker/), or confine with `sandbox: bubblewrap`."
        )
    return found


def _mounts(places: Sequence[Path], *, read_only: bool = False) -> Iterator[str]:
    """Each place at its own path; unlike `--volume`, this makes no folder that is not there."""
    for place in places:
        fields = ["type=bind", f"source={place}", f"target={place}"]
        yield from ("--mount", ",".join(map(_field, [*fields, *["readonly"] * read_only])))


def _field(text: str) -> str:
    """A field of the line of comma-separated values that `--mount` takes."""
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n') else text


def _reason(result: CommandResult) -> str:
    lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it did not answer"
