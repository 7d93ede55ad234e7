"""One at a time, across all processes of this machine; a process that dies lets go."""

import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from agentv.errors import ProviderError
from agentv.providers.vscode.polling import until


@asynccontextmanager
async def exclusive(path: Path, *, within: float, what: str) -> AsyncIterator[None]:
    """Hold the system's lock on a file, which is made and never removed.

    Args:
        path: The file.
        within: How many seconds to wait for others.
        what: What is waited for, in words.

    Raises:
        ProviderError: Somebody else has held it all the time, or the file cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        message = f"'{path}' cannot be opened: {error.strerror}"
        raise ProviderError(message, kind="spawn") from error
    try:
        if await until(lambda: _taken(file), within=within) is None:
            raise ProviderError(f"{what} was not possible within {within:g} s", kind="busy")
        yield
    finally:
        os.close(file)


def _taken(file: int) -> bool | None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    return True
