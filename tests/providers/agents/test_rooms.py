"""Each attempt has folders of its own, and none of them stays."""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentv.errors import ProviderError
from agentv.providers.agents.rooms import Rooms

KILLED = """
import asyncio, os, sys, tempfile
from agentv.providers.agents.rooms import Rooms
tempfile.tempdir = sys.argv[1]
room = asyncio.run(Rooms().open())
(room.workspace / "left").touch()
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    assert list(tmp_path.iterdir()) == []


def test_rooms_are_apart_and_go(tmp: Path) -> None:
    async def story() -> None:
        rooms = Rooms()
        one, other = await rooms.open(), await rooms.open()
        assert not one.workspace.is_relative_to(other.folder)
        for folder in (one.workspace, one.private, one.tmp):
            assert list(folder.iterdir()) == []
        (one.workspace / "work").touch()
        one.clear()
        assert (one.workspace / "work").exists()
        assert not one.private.exists()
        one.remove()
        assert not one.folder.exists()
        await rooms.aclose()

    asyncio.run(story())


def test_nobody_else_can_look_into_them(tmp: Path) -> None:
    async def story() -> None:
        rooms = Rooms()
        room = await rooms.open()
        assert room.folder.parent.stat().st_mode & 0o077 == 0
        await rooms.aclose()

    asyncio.run(story())


def test_those_of_a_killed_run_are_removed_and_those_in_use_are_not(tmp: Path) -> None:
    env = {"PYTHONPATH": ":".join(filter(None, sys.path))}
    killed = subprocess.run((sys.executable, "-c", KILLED, str(tmp)), env=env, check=False)
    assert killed.returncode == -9
    [left] = tmp.iterdir()

    async def story() -> None:
        one, other = Rooms(), Rooms()
        first = await one.open()
        assert not left.exists()
        await other.open()
        assert first.workspace.exists()
        await one.aclose()
        await other.aclose()

    asyncio.run(story())


def test_no_place_for_one(tmp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp / "nowhere"))

    with pytest.raises(ProviderError, match="no temporary folder can be made: No such file"):
        asyncio.run(Rooms().open())
