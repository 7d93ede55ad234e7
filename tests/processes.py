"""Which processes of a test still live."""

import os
from collections.abc import Callable, Iterable

import psutil


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
