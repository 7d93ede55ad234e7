"""What a person may say for a run."""

from pathlib import Path

import pytest

from agentv.errors import SetupError
from agentv.storage.finding import find_run, newest_first, remains
from agentv.storage.run_folder import RunFolder


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
        ("monday", "There is no run 'monday'. The latest are 20261121T070801Z-0000, "),
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


def test_a_folder_that_holds_no_run_hides_none_of_that_name(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root.parent)
    Path("20261120").mkdir()
    assert find_run("20261120", root).path.name == "20261120T070000Z-aaaa"


@pytest.mark.parametrize("kept", ["results.jsonl", "lock", ".results.jsonl.77.tmp"])
def test_what_is_left_without_a_manifest_is_no_run_but_can_be_named(root: Path, kept: str) -> None:
    (root / "zz").mkdir()
    (root / "zz" / kept).touch()
    (root / "other").mkdir()
    (root / "other" / "notes.txt").touch()
    assert [folder.path.name for folder in remains(root)] == ["zz"]
    assert len(newest_first(root)) == 3
    assert find_run("latest", root).path.name == "20261121T070801Z-0000"
    assert find_run("zz", root).path == root / "zz"


def test_below_a_project_that_has_runs_it_says_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(tmp_path / ".agentv/results", "monday")
    (tmp_path / "evals/deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "evals/deep")
    with pytest.raises(SetupError) as told:
        find_run("latest", Path(".agentv/results"))
    assert str(told.value) == (
        "There is no run 'latest'. There are no runs in .agentv/results here; "
        f"{tmp_path}/.agentv/results has some, so say this in {tmp_path}."
    )
