import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentv.errors import SetupError
from agentv.exporters.base import EXPORTERS, export, exporter_for

ROWS: list[dict[str, Any]] = [
    {"eval_id": "one", "score": 1.0, "candidate_answer": "a\nb \u2028 é 🎈", "error": None},
    {"eval_id": "two", "score": 1e-7, "trace": [{"n": 2**80}], "hits": []},
]


def test_jsonl_is_the_rows_one_a_line(tmp_path: Path) -> None:
    export(ROWS, tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_bytes().split(b"\n")
    assert [json.loads(line) for line in lines[:-1]] == ROWS
    assert lines[-1] == b""


@pytest.mark.parametrize("suffix", EXPORTERS)
def test_every_known_suffix_has_an_exporter(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix.upper()}"
    export(iter(ROWS), path)
    assert "one" in path.read_text()


@pytest.mark.parametrize("suffix", EXPORTERS)
def test_no_rows_make_an_empty_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    export([], path)
    assert path.read_bytes() == b""


@pytest.mark.parametrize(
    ("name", "says"),
    [("out.docx", "it has the suffix '.docx'"), ("out", "it has no suffix")],
)
def test_an_unknown_suffix_is_told_with_the_known_ones(name: str, says: str) -> None:
    with pytest.raises(SetupError, match=rf"{says}; known are \.jsonl, \.yaml, \.yml\."):
        exporter_for(Path(name))


def test_the_folder_is_made(tmp_path: Path) -> None:
    export(ROWS, tmp_path / "a" / "b" / "out.jsonl")
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["out.jsonl"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(SetupError, match=r"a/out\.jsonl cannot be written: "):
        export(ROWS, tmp_path / "a" / "out.jsonl")


def test_rows_are_written_as_they_come(tmp_path: Path) -> None:
    """A run of any length can be exported: no row waits for the next."""
    alive: list[int] = []

    class Tracked(dict[str, Any]):
        def __del__(self) -> None:
            alive.pop()

    def stream() -> Iterator[dict[str, Any]]:
        for number in range(100):
            assert len(alive) <= 2
            alive.append(number)
            yield Tracked(eval_id=str(number))

    export(stream(), tmp_path / "out.yaml")


def test_an_error_half_way_leaves_the_older_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "out.yaml"
    export(ROWS, path)
    before = path.read_bytes()

    def broken() -> Iterator[dict[str, Any]]:
        yield ROWS[0]
        raise SetupError("line 2 is no row")

    with pytest.raises(SetupError, match="line 2"):
        export(broken(), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.yaml"]
