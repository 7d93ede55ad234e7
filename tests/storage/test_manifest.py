from pathlib import Path

import pytest

from agentv.errors import SetupError
from agentv.model.run import RunManifest, SuitePlan, TargetRecord
from agentv.storage.manifest import read_manifest, write_manifest

SUITE = SuitePlan(
    path="evals/triage.yaml",
    dataset="triage",
    digest="abc",
    cases=3,
    trials=6,
    threshold=0.8,
    min_pass_rate=1.0,
)
MANIFEST = RunManifest(
    run_id="20261121T070801Z-3f9c",
    started="2026-11-21T07:08:01.000Z",
    version="0.1.0",
    python="3.11.7",
    git_commit=None,
    arguments={"workers": 4},
    dry_run=False,
    suites=(SUITE,),
    targets=(TargetRecord(name="default", provider="mock", settings={}, digest="def"),),
)


def test_a_manifest_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_manifest(path, MANIFEST)
    assert read_manifest(path) == MANIFEST
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.json"]


def test_it_is_laid_out_for_people(tmp_path: Path) -> None:
    write_manifest(tmp_path / "run.json", MANIFEST)
    first, second, *_ = (tmp_path / "run.json").read_text().splitlines()
    assert (first, second) == ("{", '  "run_id": "20261121T070801Z-3f9c",')


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"gone/run.json cannot be written: No such file"):
        write_manifest(tmp_path / "gone" / "run.json", MANIFEST)


def test_what_a_failed_write_would_replace_stays(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.mkdir()
    with pytest.raises(SetupError, match=r"run.json cannot be written"):
        write_manifest(path, MANIFEST)
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.json"]


def test_a_missing_manifest_means_that_there_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=f"so {tmp_path} holds no run"):
        read_manifest(tmp_path / "run.json")


@pytest.mark.parametrize("content", ['{"run_id": "a"', '{"run_id": 1}', "[]", '{"run_id": "\\x"}'])
def test_what_is_no_manifest_is_said_to_be_none(tmp_path: Path, content: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(content)
    with pytest.raises(SetupError, match=r"run.json is not a manifest that this version"):
        read_manifest(path)


def test_keys_of_later_versions_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_manifest(path, MANIFEST)
    path.write_text(path.read_text().replace("{", '{"later": 1,', 1))
    assert read_manifest(path) == MANIFEST
