"""A disk that is soon full: a piece of memory, mounted where a run is to lie."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory


@cache
def may_mount() -> bool:
    """Whether this process has the right to mount one."""
    with TemporaryDirectory() as folder:
        try:
            with small_disk(Path(folder) / "disk", 64):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False


@contextmanager
def small_disk(at: Path, kilobytes: int) -> Iterator[None]:
    """Mount one at a new folder."""
    at.mkdir()
    _run("mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(at))
    try:
        yield
    finally:
        _run("umount", "--lazy", str(at))


def grow(at: Path, kilobytes: int) -> None:
    """Make room on it."""
    _run("mount", "-o", f"remount,size={kilobytes}k", str(at))


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, capture_output=True)
