from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from agentv.errors import SetupError
from agentv.storage.run_folder import RunFolder, new_run_folder, new_run_id


def test_a_run_id_says_when_in_utc() -> None:
    east = datetime(2026, 11, 21, 8, 8, 1, tzinfo=timezone(timedelta(hours=1)))
    assert new_run_id(east, "3f9c") == "20261121T070801Z-3f9c"


def test_run_ids_sort_by_time() -> None:
    times = [datetime(2026, month, 2, tzinfo=UTC) for month in (1, 9, 10, 12)]
    ids = [new_run_id(time, "0") for time in times]
    assert sorted(ids) == ids


def test_a_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "a" / "b")
    assert folder.path.is_dir()
    assert folder.manifest_path == tmp_path / "a" / "b" / "run.json"
    assert folder.journal_path == tmp_path / "a" / "b" / "results.jsonl"


def test_a_folder_with_other_things_in_it_may_be_used(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert RunFolder.create(tmp_path).path == tmp_path


@pytest.mark.parametrize("held", ["run.json", "results.jsonl"])
def test_a_run_is_never_overwritten(tmp_path: Path, held: str) -> None:
    (tmp_path / held).touch()
    with pytest.raises(SetupError, match=rf"already holds a run \({held}\).*another.*--out"):
        RunFolder.create(tmp_path)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(SetupError, match="out is a file; a run needs a folder"):
        RunFolder.create(tmp_path / "out")
    with pytest.raises(SetupError, match="out/below cannot be made: Not a directory"):
        RunFolder.create(tmp_path / "out" / "below")


def test_a_name_that_is_taken_is_not_taken_twice(tmp_path: Path) -> None:
    """Two runs of one second may draw the same token; the second draws again."""
    now = datetime(2026, 11, 21, 7, 8, 1, tzinfo=UTC)
    tokens = iter(["3f9c", "3f9c", "0a1b"])
    first = new_run_folder(tmp_path / "results", now, lambda: next(tokens))
    second = new_run_folder(tmp_path / "results", now, lambda: next(tokens))
    assert first.path.name == "20261121T070801Z-3f9c"
    assert second.path.name == "20261121T070801Z-0a1b"
