"""What it takes for the disk to remember a new file."""

import os
from contextlib import suppress
from pathlib import Path


def sync_folder(path: Path) -> None:
    """Flush a folder: a new or renamed file in it is on disk only once its name is.

    Some file systems (network ones, mostly) cannot, and have their own ways of keeping names.
    """
    folder = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            os.fsync(folder)
    finally:
        os.close(folder)
