from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from agentv.errors import SetupError
from agentv.storage.run_folder import RunFolder, find_run, new_run_folder, new_run_id


def make_run(root: Path, name: str, started: str = "2026-11-21T07:08:01.000Z") -> Path:
    folder = RunFolder.create(root / name)
    folder.manifest_path.write_text(f'{{"started": "{started}", "more": 1}}')
    return folder.path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three runs, the last two begun in the same second."""
    root = tmp_path / "results"
    make_run(root, "20261120T070000Z-aaaa", "2026-11-20T07:00:00.000Z")
    make_run(root, "20261121T070801Z-ffff", "2026-11-21T07:08:01.100Z")
    make_run(root, "20261121T070801Z-0000", "2026-11-21T07:08:01.900Z")
    return root


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


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("latest", "20261121T070801Z-0000"),
        ("latest~0", "20261121T070801Z-0000"),
        ("latest~1", "20261121T070801Z-ffff"),
        ("latest~2", "20261120T070000Z-aaaa"),
        ("20261121T070801Z-ffff", "20261121T070801Z-ffff"),
        ("20261120", "20261120T070000Z-aaaa"),
    ],
)
def test_a_run_is_found(root: Path, reference: str, name: str) -> None:
    """`latest` goes by the time in the manifest, since ids tell no two runs of a second apart."""
    assert find_run(reference, root).path == root / name


def test_a_run_is_found_by_its_folder(root: Path, tmp_path: Path) -> None:
    elsewhere = make_run(tmp_path, "elsewhere")
    assert find_run(str(elsewhere), root).path == elsewhere


def test_an_exact_id_wins_over_a_longer_one(root: Path) -> None:
    make_run(root, "nightly")
    make_run(root, "nightly-2")
    assert find_run("nightly", root).path == root / "nightly"


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("2026", "Several runs begin with '2026': 20261120T070000Z-aaaa, 20261121T070801Z-0000"),
        ("latest~3", "There is no run 'latest~3': .*results holds 3 runs"),
        ("20261121T070802Z-ffff", "There is no run .* Near it: 20261121T070801Z-ffff, "),
        ("monday", "There is no run 'monday'. The latest are 20261121T070801Z-ffff, "),
        ("", "There is no run ''"),
        ("latest~x", "There is no run 'latest~x'"),
    ],
)
def test_a_run_that_is_not_there_is_said_so(root: Path, reference: str, says: str) -> None:
    with pytest.raises(SetupError, match=says):
        find_run(reference, root)


def test_a_folder_without_a_run_is_said_so(root: Path, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"holds no run: there is no run.json in it"):
        find_run(str(tmp_path), root)


@pytest.mark.parametrize("reference", ["latest", "monday"])
def test_before_the_first_run_there_are_none(tmp_path: Path, reference: str) -> None:
    with pytest.raises(SetupError, match="no runs"):
        find_run(reference, tmp_path / "results")


def test_a_manifest_that_cannot_be_read_does_not_hide_the_others(root: Path) -> None:
    (RunFolder.create(root / "zzz").manifest_path).write_text("{")
    assert find_run("latest", root).path.name == "20261121T070801Z-0000"


def test_a_name_that_is_taken_is_not_taken_twice(tmp_path: Path) -> None:
    """Two runs of one second may draw the same token; the second draws again."""
    now = datetime(2026, 11, 21, 7, 8, 1, tzinfo=UTC)
    tokens = iter(["3f9c", "3f9c", "0a1b"])
    first = new_run_folder(tmp_path / "results", now, lambda: next(tokens))
    second = new_run_folder(tmp_path / "results", now, lambda: next(tokens))
    assert first.path.name == "20261121T070801Z-3f9c"
    assert second.path.name == "20261121T070801Z-0a1b"
