"""The stick (see `benchmarks.stick`) as a process beside what is measured."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_STICK = str(Path(__file__).with_name("stick.py"))


@contextmanager
def serving(arguments: Sequence[str]) -> Iterator[None]:
    """Serve, with the address in `$STICK_URL`; without arguments do nothing."""
    if not arguments:
        yield
        return
    argv = [sys.executable, _STICK, *arguments]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stick:
        assert stick.stdout is not None
        os.environ["STICK_URL"] = f"{stick.stdout.readline().strip()}/v1"
        try:
            yield
        finally:
            del os.environ["STICK_URL"]
            stick.terminate()
