"""The files of a prompt have names of their own where the agent opens them."""

from pathlib import Path, PurePath
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentv.errors import ProviderError
from agentv.model.request import ProviderRequest
from agentv.providers.agents.inputs import lay_out_inputs, mirror_names

PARTS = st.lists(st.sampled_from(["a", "b", "c d", "ü", "n.txt"]), min_size=1, max_size=4)
PATHS = st.lists(PARTS.map(lambda parts: "/" + "/".join(parts)), max_size=8)


@given(paths=PATHS)
def test_no_two_files_share_a_name(paths: list[str]) -> None:
    """Each name is the end of its path, stays in the folder, and is as short as can be."""
    names = mirror_names(paths)

    assert set(names) == set(paths)
    assert len(set(names.values())) == len(names)
    for path, name in names.items():
        assert not name.is_absolute()
        assert PurePath(path).parts[-len(name.parts) :] == name.parts
        if len(name.parts) > 1:
            shorter = name.parts[1:]
            others = [PurePath(other) for other in names if other != path]
            assert any(other.parts[-len(shorter) :] == shorter for other in others)


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["/p/a/notes.md", "/p/b.md"], ["notes.md", "b.md"]),
        (["/p/a/notes.md", "/p/b/notes.md"], ["a/notes.md", "b/notes.md"]),
        (["/p/x/n.md", "/q/x/n.md", "/r/n.md"], ["p/x/n.md", "q/x/n.md", "r/n.md"]),
        (["/n.md", "/a/n.md"], ["n.md", "a/n.md"]),
        (["/p/a.md", "/p/a.md"], ["a.md", "a.md"]),
    ],
)
def test_names_are_short(paths: list[str], names: list[str]) -> None:
    found = mirror_names(paths)

    assert [str(found[path]) for path in paths] == names


def test_files_are_copied_and_linked(tmp_path: Path) -> None:
    """A guideline is not linked twice, and a file named twice is copied once."""
    source, room = tmp_path / "source", tmp_path / "room"
    (source / "a").mkdir(parents=True)
    room.mkdir()
    rule, note = source / "rule.md", source / "a" / "50% [ü].md"
    rule.write_text("rule")
    note.write_bytes(b"\xff\x00")
    inputs = lay_out_inputs(
        ProviderRequest(
            eval_id="case",
            question="Why?",
            guideline_paths=(str(rule),),
            input_files=(str(rule), str(note)),
        ),
        room,
    )

    assert inputs.folder == room / "agentv-inputs"
    assert (inputs.folder / "guidelines" / "rule.md").read_text() == "rule"
    assert (inputs.folder / "files" / note.name).read_bytes() == b"\xff\x00"
    assert inputs.document.count("rule.md](") == 1
    assert r"* [50% \[ü\].md](file://" in inputs.document
    link = (inputs.folder / "files" / note.name).as_uri()
    assert f"({link})" in inputs.document
    assert unquote(link).endswith(note.name)
    assert inputs.prompt_file == room / "prompt.md"
    assert inputs.prompt_file.read_text() == inputs.document


def test_without_files_there_is_no_folder(tmp_path: Path) -> None:
    inputs = lay_out_inputs(ProviderRequest(eval_id="case", question="Why?"), tmp_path)

    assert not inputs.folder.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["prompt.md"]


def test_a_file_that_has_vanished(tmp_path: Path) -> None:
    request = ProviderRequest(eval_id="case", question="?", input_files=("/nowhere/a.md",))

    with pytest.raises(ProviderError, match=r"the file '/nowhere/a.md' cannot be put") as error:
        lay_out_inputs(request, tmp_path)
    assert error.value.kind == "input_file"
