"""Who writes a run, and that looking does no harm."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentv.errors import SetupError
from agentv.storage.run_lock import RunLock, writer_of


def test_the_writer_is_named_while_it_writes(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    assert writer_of(lock) is None
    with RunLock(lock):
        assert str(writer_of(lock)).startswith(f"process {os.getpid()} on ")
        with pytest.raises(SetupError, match=rf"is being written by process {os.getpid()} on "):
            RunLock(lock).__enter__()
    assert writer_of(lock) is None, "a lock file that nobody holds is no lock"


def test_who_only_looks_is_never_taken_for_a_writer(tmp_path: Path) -> None:
    """A run that starts while another process lists runs must not fail over it."""
    lock = tmp_path / "lock"
    lock.touch()
    with ThreadPoolExecutor(1) as looker:
        looks = looker.submit(lambda: [writer_of(lock) for _ in range(2_000)])
        for _ in range(200):
            with RunLock(lock):
                pass
        looks.result()
