"""Sockets in the file system that programs of this machine listen on."""

import os
import stat
from pathlib import Path


def socket_files() -> list[Path]:
    """Where Unix sockets lie, as real paths: container daemons, key agents, databases.

    A read-only mount stops nobody from connecting to one, and neither does a network of one's own.
    """
    try:
        table = Path("/proc/net/unix").read_text(errors="surrogateescape")
    except OSError:
        return []
    names = {line.split(maxsplit=7)[7] for line in table.splitlines() if " /" in line}
    return sorted({Path(os.path.realpath(name)) for name in names if _is_socket(name)})


def _is_socket(name: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(name).st_mode)  # noqa: PTH116 - a string, of which there are many
    except OSError:  # Gone, in another root, or where we may not look: nor may the sandbox.
        return False
