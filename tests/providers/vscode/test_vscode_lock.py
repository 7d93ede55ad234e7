"""Who uses a worker: locks with owners, and owners that no longer live."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from agentv.providers.vscode.lock import ABANDONED_SECONDS, Owner, lock_state, try_lock
from agentv.providers.vscode.pool import try_claim
from agentv.providers.vscode.worker import Worker, find_workers
from processes import LIMIT_SECONDS

CLAIM = """
import sys
from pathlib import Path
from agentv.providers.vscode.lock import try_lock
assert try_lock(Path(sys.argv[1])) is not None
"""


def test_a_lock_says_whose_it_is(tmp_path: Path) -> None:
    path = tmp_path / "subagent.lock"
    lock = try_lock(path)
    assert lock is not None
    state = lock_state(path, time.time())
    assert state is not None
    assert state.owner is not None
    assert state.owner.pid == os.getpid()
    assert state.words() == f"process {os.getpid()}"
    assert not state.is_stale
    assert [entry.name for entry in tmp_path.iterdir()] == ["subagent.lock"]
    lock.release()
    assert lock_state(path, time.time()) is None


def test_only_one_of_many_gets_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "subagent.lock"
    start = threading.Barrier(8, timeout=LIMIT_SECONDS)
    won: list[bool] = []

    def race() -> None:
        start.wait()
        won.append(try_lock(path) is not None)

    threads = [threading.Thread(target=race) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT_SECONDS)
    assert sorted(won) == [False] * 7 + [True]


def test_only_one_of_many_buries_a_dead_owner(tmp_path: Path) -> None:
    """Two who find the same stale lock must not take the worker from each other."""
    worker = Worker(tmp_path / "subagent-1")
    worker.set_up()
    subprocess.run([sys.executable, "-c", CLAIM, str(worker.lock)], check=True)
    start = threading.Barrier(8, timeout=LIMIT_SECONDS)
    won: list[bool] = []

    def race() -> None:
        start.wait()
        won.append(asyncio.run(try_claim(worker)) is not None)

    threads = [threading.Thread(target=race) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT_SECONDS)
    assert sorted(won) == [False] * 7 + [True]


def test_a_lock_of_a_dead_process_is_stale(tmp_path: Path) -> None:
    path = tmp_path / "subagent.lock"
    subprocess.run([sys.executable, "-c", CLAIM, str(path)], check=True)
    state = lock_state(path, time.time())
    assert state is not None
    assert state.is_stale


def test_a_process_number_that_was_given_to_another_is_stale(tmp_path: Path) -> None:
    """Its owner began at another time than the process of that number."""
    path = tmp_path / "subagent.lock"
    assert try_lock(path) is not None
    owner = msgspec.json.decode(path.read_bytes(), type=Owner)
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(owner, started=1.0)))
    state = lock_state(path, time.time())
    assert state is not None
    assert state.is_stale


@pytest.mark.parametrize(
    "content", [b"", b"\xff{", b"[]", b'{"pid": 1}'], ids=["npm", "bytes", "list", "another's"]
)
def test_another_programs_lock_is_alive_until_it_is_old(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "subagent.lock"
    path.write_bytes(content)
    made = path.stat().st_mtime
    young = lock_state(path, made + ABANDONED_SECONDS - 1)
    old = lock_state(path, made + ABANDONED_SECONDS + 1)
    assert young is not None
    assert old is not None
    assert (young.is_stale, old.is_stale) == (False, True)
    assert young.words() == "another program"


def test_a_lock_of_another_machine_is_alive_while_it_is_touched(tmp_path: Path) -> None:
    path = tmp_path / "subagent.lock"
    lock = try_lock(path)
    assert lock is not None
    owner = msgspec.json.decode(path.read_bytes(), type=Owner)
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(owner, host="far-away", pid=1)))
    os.utime(path, (0, 0))
    later = ABANDONED_SECONDS * 2.0
    before = lock_state(path, later)
    lock.touch()
    after = lock_state(path, path.stat().st_mtime + 60)
    assert before is not None
    assert after is not None
    assert (before.is_stale, after.is_stale) == (True, False)
    assert after.words() == "process 1 on far-away"


def test_a_lock_that_somebody_took_from_us_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "subagent.lock"
    lock = try_lock(path)
    assert lock is not None
    path.write_bytes(b"")
    lock.release()
    assert path.exists()


def test_workers_are_known_by_name_and_number(tmp_path: Path) -> None:
    """By number and not by letter; what is not a worker's folder is passed over."""
    for name in ("subagent-10", "subagent-2", "subagent-x", "subagent-", "other", "subagent-02"):
        (tmp_path / name).mkdir()
    (tmp_path / "subagent-3").touch()
    (tmp_path / "subagent-4").symlink_to(tmp_path / "other")
    assert [worker.name for worker in find_workers(tmp_path)] == ["subagent-2", "subagent-10"]
    assert find_workers(tmp_path / "none") == []


def test_clearing_takes_messages_only(tmp_path: Path) -> None:
    """An agent may have left something in the folder that its user wants to keep."""
    worker = Worker(tmp_path / "subagent-1")
    worker.set_up()
    for name in ("1_req.md", "1_0_res.md", "1_res.tmp.md", "1_orchestrator.md", "notes.md"):
        (worker.messages / name).touch()
    worker.clear()
    assert [path.name for path in worker.messages.iterdir()] == ["notes.md"]
