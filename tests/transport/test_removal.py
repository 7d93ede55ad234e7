"""Folders are removed whatever was done to them, and nothing else is."""

import os
import subprocess
import sys
from pathlib import Path

from agentv.transport.removal import remove_tree

AS_NOBODY = """
import os, tempfile
from pathlib import Path
from agentv.transport.removal import remove_tree

if os.getuid() == 0:
    os.setuid(65534)
folder = Path(tempfile.mkdtemp())
(folder / "read-only/deeper").mkdir(parents=True)
(folder / "read-only/deeper/file").touch()
(folder / "hidden").mkdir()
(folder / "hidden/file").touch()
(folder / "read-only/deeper").chmod(0o500)
(folder / "read-only").chmod(0o500)
(folder / "hidden").chmod(0)
remove_tree(folder)
print(folder.exists())
"""


def test_rights_that_were_taken_away_are_given_back() -> None:
    """By an ordinary user; root needs no rights."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    said = subprocess.run(
        (sys.executable, "-c", AS_NOBODY), env=env, check=True, capture_output=True, text=True
    )

    assert said.stdout == "False\n"


def test_what_links_lead_to_stays(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    (tmp_path / "kept").chmod(0o500)
    (tmp_path / "gone" / "inner").mkdir(parents=True)
    (tmp_path / "gone" / "inner" / "link").symlink_to(tmp_path / "kept")
    remove_tree(tmp_path / "gone")

    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (tmp_path / "kept" / "file").exists()
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o500


def test_one_that_is_not_there_is_no_trouble(tmp_path: Path) -> None:
    remove_tree(tmp_path / "nothing")
