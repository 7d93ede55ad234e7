"""The way out of a sandbox that may reach some hosts: a proxy here, a forwarder in there."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from agentv.errors import SetupError
from agentv.providers.sandboxes import forward
from agentv.providers.sandboxes.hosts import AllowedHost
from agentv.providers.sandboxes.proxy import Proxy

_PORT = 3128
"""Where the proxy is found inside a sandbox, or at the next port that is not an allowed one."""
_OWN_MACHINE = "localhost,127.0.0.1,::1"
"""What a program reaches without the proxy: the servers that it starts itself, and the allowed
ports of the host, which stand at the same place in the sandbox."""


class Gate:
    """Open for all sandboxes of a target, from `open` to `aclose`."""

    def __init__(self, allowed: Sequence[AllowedHost], notify: Callable[[str], None]) -> None:
        self._own = {entry.port or 0: entry for entry in allowed if entry.is_loopback}
        """The allowed ports of this machine."""
        self._has_others = not all(entry.is_loopback for entry in allowed)
        self._port = next(port for port in count(_PORT) if port not in self._own)
        self._proxy = Proxy(allowed, notify)
        self._folder: TemporaryDirectory[str] | None = None
        self._socket = Path()

    async def open(self) -> None:
        """Start the proxy.

        Raises:
            SetupError: There is no place for its socket.
        """
        try:
            self._folder = TemporaryDirectory(prefix="agentv-", ignore_cleanup_errors=True)
            self._socket = _real(self._folder.name) / "proxy"
            await self._proxy.listen(self._socket)
        except OSError as error:
            raise SetupError(
                f"The proxy of a sandbox cannot listen in '{self._socket.parent}': {error}. "
                "Set TMPDIR to a folder with a short path."
            ) from error

    async def aclose(self) -> None:
        """End the proxy and its connections."""
        await self._proxy.aclose()
        if self._folder is not None:
            self._folder.cleanup()

    @property
    def files(self) -> list[Path]:
        """What a sandbox must see of this machine for `through` to work in it."""
        pythons = {sys.base_prefix, sys.base_exec_prefix, _python()}
        return [self._socket, *map(_real, [*sorted(pythons), forward.__file__])]

    def through(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """The command with its way out; to be run in the sandbox."""
        script = str(_real(forward.__file__))
        python = (str(_real(_python())), "-I", "-S", "-B")
        return (*python, script, str(self._socket), *self._ports(), "--", *argv)

    @property
    def env(self) -> dict[str, str]:
        """What tells programs in the sandbox of the proxy."""
        if not self._has_others:
            return {}
        url = f"http://127.0.0.1:{self._port}"
        names = {"HTTP_PROXY": url, "HTTPS_PROXY": url, "NO_PROXY": _OWN_MACHINE}
        lower = {name.lower(): value for name, value in names.items()}
        # Node has known these variables since version 22 and reads them only when told to.
        return {**names, **lower, "NODE_USE_ENV_PROXY": "1"}

    def _ports(self) -> Iterator[str]:
        if self._has_others:
            yield str(self._port)
        for port, entry in self._own.items():
            host = f"[{entry.host}]" if ":" in entry.host else entry.host
            yield f"{port}={host}:{port}"


def _python() -> str:
    """The interpreter itself, not the link to it in a virtual environment."""
    return str(getattr(sys, "_base_executable", "") or sys.executable)


def _real(path: str) -> Path:
    return Path(os.path.realpath(path))
