"""Processes that a test starts: none outlives it, and which of them still live."""

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from typing import AnyStr

import psutil

LIMIT_SECONDS = 60
"""Longer than anything takes that a test waits for, and shorter than a test's own limit."""


@contextlib.contextmanager
def ending(process: subprocess.Popen[AnyStr]) -> Iterator[subprocess.Popen[AnyStr]]:
    """Wait for a process when the block ends, and kill it if the block fails or it never ends."""
    try:
        yield process
    except BaseException:
        process.kill()
        raise
    finally:
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        try:
            process.wait(LIMIT_SECONDS)
        except BaseException:
            process.kill()
            process.wait(LIMIT_SECONDS)
            raise


def alive(mark: str) -> list[int]:
    """The processes that have a mark in their command line."""
    return _alive(mark, psutil.Process.cmdline)


def alive_in_environment(mark: str) -> list[int]:
    """The processes, but for this one, that were started with a mark in some variable."""
    found = _alive(mark, lambda process: process.environ().values())
    return [pid for pid in found if pid != os.getpid()]


def _alive(mark: str, words: Callable[[psutil.Process], Iterable[str]]) -> list[int]:
    found = []
    for process in psutil.process_iter():
        try:
            gone = process.status() == psutil.STATUS_ZOMBIE
            if not gone and mark in " ".join(words(process)):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found
