"""An answer's file: waited for, read once it is whole, and read as text."""

import asyncio
import os
import stat
from pathlib import Path

from agentv.core.preread import missing_file
from agentv.errors import ProviderError

SETTLE_SECONDS = 0.5
"""An agent may write a file in several steps: it is whole once nothing has changed for so long."""

_LARGEST = 32 * 1024 * 1024


class AnswerFile:
    """A file that will hold an answer."""

    def __init__(self, path: Path, settle: float = SETTLE_SECONDS) -> None:
        self.path = path
        self._settle = settle
        self._seen: tuple[int, int, int] | None = None
        self._since = 0.0

    def look(self) -> str | None:
        """The answer, once it is there and has not changed for a while.

        Raises:
            ProviderError: It is too large, or it says that a file could not be opened.
        """
        now = asyncio.get_running_loop().time()
        seen = self._state()
        if seen != self._seen:
            self._seen, self._since = seen, now
        if seen is None or now - self._since < self._settle:
            return None
        try:
            data = self.path.read_bytes()
        except OSError:  # Still in somebody's hands.
            return None
        return _checked(data.decode("utf-8-sig", "replace").replace("\r\n", "\n").rstrip("\n"))

    def _state(self) -> tuple[int, int, int] | None:
        """What changes when somebody writes; `None` for no file, or an empty one."""
        try:
            found = os.lstat(self.path)
        except OSError:
            return None
        # Only a file: a link or a pipe that an agent put there could lead anywhere.
        if not stat.S_ISREG(found.st_mode) or found.st_size == 0:
            return None
        if found.st_size > _LARGEST:
            megabytes = _LARGEST // 1024 // 1024
            raise ProviderError(f"the answer is larger than {megabytes} MB", kind="too_large")
        return found.st_size, found.st_mtime_ns, found.st_ino


def _checked(answer: str) -> str:
    file = missing_file(answer)
    if file is not None:
        raise ProviderError(f"the agent could not open '{file}'", kind="missing_file")
    return answer
