"""Which processes of a test still live."""

import psutil


def alive(mark: str) -> list[int]:
    """The processes that have a mark in their command line."""
    found = []
    for process in psutil.process_iter():
        try:
            gone = process.status() == psutil.STATUS_ZOMBIE
            if not gone and mark in " ".join(process.cmdline()):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found
