"""Whole processes, timed in turns: ours, bare Python, ours, bare Python, …

Turns, because a shared machine has slow minutes: both sides then have them alike, and the ratio
stays true where the seconds do not. A run that ends with another exit code than 0 is no figure.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryFile

Argv = Sequence[str]

# Linux counts in KiB, macOS in bytes.
_PEAK_UNITS_PER_MB = 1024 * 1024 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One process from its start to its end."""

    seconds: float
    """By the clock on the wall."""
    cpu_seconds: float
    """Of the process and those that it waited for."""
    peak_mb: float
    """The largest resident set of any one of these; never below this runner's own, which Linux
    counts for a process that has not yet become its program."""


@dataclass(frozen=True, kw_only=True)
class Samples:
    """The runs of one side."""

    runs: tuple[Sample, ...]

    @property
    def seconds(self) -> float:
        """The median."""
        return median(run.seconds for run in self.runs)

    @property
    def spread(self) -> tuple[float, float]:
        """The fastest and the slowest, in seconds."""
        return min(run.seconds for run in self.runs), max(run.seconds for run in self.runs)

    @property
    def cpu_seconds(self) -> float:
        """The median."""
        return median(run.cpu_seconds for run in self.runs)

    @property
    def peak_mb(self) -> float:
        """The largest of all runs."""
        return max(run.peak_mb for run in self.runs)


def alternate(
    ours: Argv, bare: Argv, folder: Path, rounds: int, leaves: Sequence[str] = ()
) -> tuple[Samples, Samples]:
    """Time both in turns, after one run of each that is not counted: it warms the disk's cache.

    Args:
        ours: What is measured; its last run is the last of all.
        bare: What it is held against.
        folder: Where both run.
        rounds: How often.
        leaves: Folders that a run leaves in it; they are gone before the next one starts.
    """
    mine: list[Sample] = []
    theirs: list[Sample] = []
    for _ in range(rounds + 1):
        for argv, runs in ((bare, theirs), (ours, mine)):
            for name in leaves:
                shutil.rmtree(folder / name, ignore_errors=True)
            runs.append(run_once(argv, folder))
    return Samples(runs=tuple(mine[1:])), Samples(runs=tuple(theirs[1:]))


def run_once(argv: Argv, folder: Path) -> Sample:
    """Run a program to its end, its output thrown away.

    Raises:
        RuntimeError: It failed; the message ends with what it said.
    """
    with TemporaryFile() as said:
        began = time.perf_counter()
        process = subprocess.Popen(
            argv, cwd=folder, env=_environment(), stdout=subprocess.DEVNULL, stderr=said
        )
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            words = said.read()[-4000:].decode("utf-8", "replace")
            raise RuntimeError(f"{' '.join(argv)} ended with {process.returncode}:\n{words}")
    return Sample(
        seconds=seconds,
        cpu_seconds=used.ru_utime + used.ru_stime,
        peak_mb=used.ru_maxrss / _PEAK_UNITS_PER_MB,
    )


def _environment() -> dict[str, str]:
    """Ours, save what would make Python compile the same modules again on every start."""
    return {name: value for name, value in os.environ.items() if name not in _SLOWING}


_SLOWING = frozenset({"PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PYTHONPROFILEIMPORTTIME"})
