"""`sandbox: bubblewrap`: the machine read-only, the room writable, the network off.

Why each part is as it is stands in `docs/design/sandboxes.md`.
"""

import os
import pwd
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from agentv.errors import SetupError
from agentv.model.process import Command
from agentv.protocols import ProviderBuild
from agentv.providers.sandboxes.gate import Gate
from agentv.providers.sandboxes.mounts import TMP, mounts
from agentv.providers.sandboxes.needs import needs_of
from agentv.providers.sandboxes.options import SandboxOptions
from agentv.providers.sandboxes.places import is_folder, named_places
from agentv.providers.sandboxes.sandbox import Confined, Room
from agentv.providers.sandboxes.sockets import socket_files
from agentv.providers.sandboxes.view import Access, View

_PEOPLES_PLACES = ("/home", "/root", "/mnt", "/media", "/run", "/tmp", "/var/tmp")  # noqa: S108
"""Where people's own files, other programs' files and most sockets are."""
_SYSTEM_PLACES = frozenset(
    map(Path, ("/", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/opt", "/var", "/nix"))
)
"""Never hidden, whatever somebody's home folder is said to be: nothing would run."""
_NIXOS_PROGRAMS = Path("/run/current-system")
_SESSION = ("SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR")
_CONFINEMENT = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--cap-drop", "ALL", "--die-with-parent", "--new-session"),
)
_PROBE_SECONDS = 20.0
_ELSE = "or confine with `sandbox: docker`"


class Bubblewrap:
    """Confines commands with `bwrap`."""

    runs_programs_of_this_machine = True

    def __init__(self, options: SandboxOptions, build: ProviderBuild) -> None:
        self._options = options
        self._build = build
        self._bwrap = ""
        self._view = View()
        self._gate: Gate | None = None

    async def prepare(self) -> None:
        """Find `bwrap`, look at what the author named, and try a sandbox.

        Raises:
            SetupError: No sandbox can be made here.
        """
        self._bwrap = _find(self._build.env)
        self._view = _common_view(self._options, self._build)
        if self._options.hosts:
            self._gate = Gate(self._options.hosts, self._build.notify)
            await self._gate.open()
        try:
            await self._try()
        except SetupError:
            await self.aclose()
            raise

    def confine(self, argv: tuple[str, ...], env: Mapping[str, str], room: Room) -> Confined:
        """The command under `bwrap`."""
        path = env.get("PATH", os.defpath)
        needs = needs_of(Path(shutil.which(argv[0], path=path) or argv[0]), self._view, path)
        view = self._view.with_rules(needs.places, Access.READABLE)
        more_env: Mapping[str, str] = {}
        if self._gate is not None:
            argv, more_env = self._gate.through(argv), self._gate.env
            view = view.with_rules(self._gate.files, Access.READABLE)
        view = view.with_rules((room.folder,), Access.READABLE)
        view = view.with_rules(room.writable, Access.WRITABLE)
        confined = (
            *(self._bwrap, *_CONFINEMENT),
            *(() if self._options.network is True else ("--unshare-net",)),
            *mounts(view, tmp=room.tmp, links=needs.links, sockets=socket_files()),
            *("--chdir", str(room.workspace), "--", *argv),
        )
        return Confined(argv=confined, env={**self._outward(env, room), **more_env})

    async def aclose(self) -> None:
        """Close the way to the allowed hosts."""
        if self._gate is not None:
            await self._gate.aclose()

    def _outward(self, env: Mapping[str, str], room: Room) -> dict[str, str]:
        """The environment without what this session's own services are found by."""
        own = self._build.env
        kept = {k: v for k, v in env.items() if k not in _SESSION or v != own.get(k)}
        return {**kept, "HOME": str(room.home), "TMPDIR": str(TMP)}

    async def _try(self) -> None:
        with _passing_room() as room:
            confined = self.confine(("/bin/sh", "-c", ":"), self._build.env, room)
            result = await self._build.processes.run(
                Command(
                    run=confined.argv,
                    env=confined.env,
                    timeout_seconds=_PROBE_SECONDS,
                    is_helper=True,
                )
            )
        if result.exit_code != 0:
            said = result.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason"]
            raise SetupError(
                f"bubblewrap cannot make a sandbox here: {said[-1]}. If this system keeps ordinary "
                "users from making namespaces, allow it (docs/sandboxes.md, 'Where bubblewrap "
                f"cannot work'), {_ELSE}."
            )


@contextmanager
def _passing_room() -> Iterator[Room]:
    with TemporaryDirectory(prefix="agentv-") as name:
        folder = Path(os.path.realpath(name))
        yield Room(folder=folder, workspace=folder, home=folder, tmp=folder)


def _find(env: Mapping[str, str]) -> str:
    if sys.platform != "linux":
        raise SetupError(f"`sandbox: bubblewrap` needs Linux; run there, {_ELSE}.")
    found = shutil.which("bwrap", path=env.get("PATH"))
    if found is None:
        raise SetupError(
            "`sandbox: bubblewrap` needs the program `bwrap`, which is not on PATH; install "
            "bubblewrap (`apt install bubblewrap`, `dnf install bubblewrap`, `apk add "
            f"bubblewrap`), {_ELSE}."
        )
    return found


def _common_view(options: SandboxOptions, build: ProviderBuild) -> View:
    """What every attempt sees, before its own room is put in."""
    homes = {Path(build.env.get("HOME") or "/"), _home_of_this_user()}
    # Programs lie in `~/.local/bin`, and much that is nobody's business in the rest of it.
    private = {*homes, *(home / ".local" for home in homes), build.folder, build.cwd}
    places = {*map(Path, _PEOPLES_PLACES), *private}
    hidden = {Path(os.path.realpath(place)) for place in places if is_folder(place)}
    hidden -= _SYSTEM_PLACES
    readable = {place for place in (_NIXOS_PROGRAMS,) if is_folder(place)}
    if options.network is True:
        readable.add(Path(os.path.realpath("/etc/resolv.conf")))
    folder = build.folder
    return (
        View()
        .with_rules((*hidden, *named_places(options.hidden, folder, "hidden")), Access.HIDDEN)
        .with_rules(
            (*readable, *named_places(options.readable, folder, "readable")), Access.READABLE
        )
        .with_rules(named_places(options.writable, folder, "writable"), Access.WRITABLE)
    )


def _home_of_this_user() -> Path:
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:  # a user id that nobody has, as containers have them
        return Path("/")
