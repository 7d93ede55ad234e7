"""A view of the file system as arguments of `bwrap`, in the order in which it must make it."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from agentv.providers.sandboxes.view import Access, View

TMP = Path("/tmp")  # noqa: S108 - inside the sandbox, where it is the agent's own
_SCRATCH = (TMP, Path("/var/tmp"))  # noqa: S108
_BINDS = {Access.READABLE: "--ro-bind", Access.WRITABLE: "--bind"}


def mounts(
    view: View, *, tmp: Path, links: Mapping[Path, str], sockets: Iterable[Path]
) -> list[str]:
    """The arguments.

    Args:
        view: What is seen.
        tmp: The folder that is to be `/tmp`; on disk, so that large files do not eat memory.
        links: Symbolic links to make.
        sockets: Where nobody may connect to.
    """
    made = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    if os.geteuid() == 0:
        # Whoever is root here may write settings of the kernel, one of which names a program that
        # the machine then runs; bwrap leaves these files open.
        made += ["--ro-bind", "/proc/sys", "/proc/sys"]
    emptied = []
    for place, access in view.steps():
        where = str(place)
        if access is not Access.HIDDEN:
            made += [_BINDS[access], where, where]
        elif place == TMP:
            made += ["--bind", str(tmp), where]
        else:
            made += ["--tmpfs", where]
            emptied.append(place)
    for link, target in links.items():
        made += ["--symlink", target, str(link)]
    for socket in sockets:
        if not view.hides(socket) and socket not in view.rules:
            made += ["--ro-bind", "/dev/null", str(socket)]
    for place in emptied:
        # Last: until here there were places to be made in it.
        made += [] if place in _SCRATCH else ["--remount-ro", str(place)]
    return made
