"""What a command did to files, and doing the same again elsewhere."""

import os
import shutil
from pathlib import Path

import pytest

from agentv.model.exchange import Content, KeptFile
from agentv.transport.cassettes.disguise import Disguise, Secrets
from agentv.transport.cassettes.file_changes import (
    changes_since,
    digests_of,
    put_back,
    state_of,
)


def at(folder: Path) -> Disguise:
    return Disguise(secrets=Secrets(), places={"room": folder})


@pytest.fixture
def room(tmp_path: Path) -> Path:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "kept.txt").write_text("the same")
    (folder / "gone.txt").write_text("removed")
    (folder / "edited.txt").write_text("before")
    return folder


def work_in(folder: Path) -> None:
    (folder / "gone.txt").unlink()
    (folder / "edited.txt").write_text(f"after, in {folder}")
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "raw.bin").write_bytes(b"\xff\x00")
    (folder / "deep" / "run.sh").write_text("#!/bin/sh\n")
    (folder / "deep" / "run.sh").chmod(0o755)
    (folder / "link").symlink_to(folder / "kept.txt")
    (folder / ".git").mkdir()
    (folder / ".git" / "index").write_text("left out")
    os.mkfifo(folder / "pipe")


def test_the_changes_are_made_again_in_another_folder(room: Path, tmp_path: Path) -> None:
    before = state_of([room])
    work_in(room)
    changes = changes_since(before, [room], at(room))
    other = tmp_path / "two"
    other.mkdir()
    (other / "kept.txt").write_text("the same")
    (other / "gone.txt").write_text("removed")
    put_back(changes, [other], at(other))

    assert list(changes) == [
        *("<agentv:room>/deep/er/raw.bin", "<agentv:room>/deep/run.sh"),
        *("<agentv:room>/edited.txt", "<agentv:room>/gone.txt", "<agentv:room>/link"),
    ]
    assert (other / "edited.txt").read_text() == f"after, in {other}"
    assert (other / "deep" / "er" / "raw.bin").read_bytes() == b"\xff\x00"
    assert os.access(other / "deep" / "run.sh", os.X_OK)
    assert (other / "link").readlink() == other / "kept.txt"
    assert not (other / "gone.txt").exists()


@pytest.mark.parametrize(
    "name",
    ["<agentv:room>/../outside.txt", "/etc/outside.txt", "outside.txt", "<agentv:room>/to/x.txt"],
)
def test_a_cassette_writes_nowhere_else(room: Path, tmp_path: Path, name: str) -> None:
    """A recording may come from anybody."""
    (room / "to").symlink_to(tmp_path)
    files = {name: KeptFile(content=Content(text="mine"))}
    with pytest.raises(ValueError, match="no business"):
        put_back(files, [room], at(room))
    assert [*tmp_path.glob("*.txt")] == []


def test_files_that_are_read_are_known_by_their_contents(room: Path) -> None:
    first = digests_of([room], at(room))
    (room / "edited.txt").write_text("otherwise")
    second = digests_of([room], at(room))
    assert {name for name in first if first[name] != second[name]} == {"<agentv:room>/edited.txt"}


def test_very_many_files_are_one_digest(room: Path) -> None:
    for number in range(200):
        (room / f"{number}.txt").write_text("x")
    assert list(digests_of([room], at(room))) == ["203 files"]


def test_folders_too(tmp_path: Path) -> None:
    """Empty ones are made, removed ones go, and a file may take the place of a folder, and the
    other way round.
    """

    def begin(folder: Path) -> Path:
        (folder / "emptied").mkdir(parents=True)
        (folder / "emptied" / "a").touch()
        (folder / "gone" / "deep").mkdir(parents=True)
        (folder / "gone" / "deep" / "a").touch()
        (folder / "was-a-folder").mkdir()
        (folder / "was-a-folder" / "a").touch()
        (folder / "was-a-file").touch()
        return folder

    one, other = begin(tmp_path / "one"), begin(tmp_path / "two")
    before = state_of([one])
    (one / "emptied" / "a").unlink()
    shutil.rmtree(one / "gone")
    shutil.rmtree(one / "was-a-folder")
    (one / "was-a-folder").write_text("now a file")
    (one / "was-a-file").unlink()
    (one / "was-a-file" / "deep").mkdir(parents=True)
    (one / "was-a-file" / "deep" / "a").write_text("new")
    (one / "new" / "empty").mkdir(parents=True)
    put_back(changes_since(before, [one], at(one)), [other], at(other))

    def tree(folder: Path) -> list[str]:
        return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))

    assert tree(other) == tree(one)
    assert (other / "was-a-folder").read_text() == "now a file"
