"""A case's messages with their files read."""

import tracemalloc

import msgspec
import pytest

from agentv.core.guidelines import DEFAULT_PATTERNS
from agentv.errors import AuthorError
from agentv.loading.files import SearchPath
from agentv.loading.turns import TurnReader
from agentv.model.case import Message
from agentv.model.request import FileSegment, GuidelineSegment, MediaSegment, TextSegment
from agentv.testing import Project
from media_samples import PDF, PNG, png, sha256


def reader(project: Project) -> TurnReader:
    """Reads files of the project."""
    return TurnReader(SearchPath((project.folder,)), project.folder, DEFAULT_PATTERNS)


def messages(*written: tuple[str, object]) -> list[Message]:
    """Messages as an author writes them: role, and text or parts."""
    return [
        msgspec.convert({"role": role, "content": content}, Message) for role, content in written
    ]


def file(path: str) -> dict[str, str]:
    """A part that refers to a file."""
    return {"type": "file", "value": path}


def text(value: str) -> dict[str, str]:
    """A part that is text."""
    return {"type": "text", "value": value}


def test_texts_files_and_guidelines(project: Project) -> None:
    project.write({"a.md": "  A\r\nB  ", "prompts/b.md": "Be kind."})
    folder = project.folder
    system, user = reader(project).turns(
        messages(("system", [file("prompts/b.md")]), ("user", [text(" Hi "), file("./a.md")]))
    )
    assert (system.role, user.role) == ("system", "user")
    assert system.segments == (
        GuidelineSegment(
            path="prompts/b.md", resolved_path=str(folder / "prompts/b.md"), text="Be kind."
        ),
    )
    assert user.segments == (
        TextSegment(value=" Hi "),
        FileSegment(path="./a.md", resolved_path=str(folder / "a.md"), text="A\nB"),
    )


def image(path: str) -> dict[str, str]:
    """A part that shows an image."""
    return {"type": "image", "value": path}


def test_images_and_pdfs_are_known_by_their_content(project: Project) -> None:
    """None of them is a guideline, wherever it lies: those are text."""
    project.write({"prompts/a.png": PNG, "b.pdf": PDF})
    (turn,) = reader(project).turns(messages(("user", [image("prompts/a.png"), file("b.pdf")])))
    assert turn.segments == (
        MediaSegment(
            path="prompts/a.png",
            resolved_path=str(project.folder / "prompts/a.png"),
            media_type="image/png",
            size=len(PNG),
            sha256=sha256(PNG),
        ),
        MediaSegment(
            path="b.pdf",
            resolved_path=str(project.folder / "b.pdf"),
            media_type="application/pdf",
            size=len(PDF),
            sha256=sha256(PDF),
        ),
    )


def test_large_images_are_not_held(project: Project) -> None:
    """A suite may show more than fits into memory."""
    project.write({f"{n}.png": png() + bytes(4_000_000) for n in range(8)})
    reading = reader(project)
    tracemalloc.start()
    turns = [reading.turns(messages(("user", [image(f"{n}.png")]))) for n in range(8)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(turns) == 8
    assert peak < 2_000_000


def test_an_image_that_is_none_any_more(project: Project) -> None:
    project.write({"a.png": b"", "b.pdf": PNG})
    for part in (image("a.png"), file("b.pdf")):
        with pytest.raises(AuthorError, match=r"^the file '.*' no longer holds what its name says"):
            reader(project).turns(messages(("user", [part])))


def test_a_file_outside_the_root_is_judged_by_its_folders(project: Project) -> None:
    project.write({"repo/x": "", "instructions/a.md": "A"})
    root = project.folder / "repo"
    outside = TurnReader(SearchPath((root,)), root, DEFAULT_PATTERNS)
    (turn,) = outside.turns(messages(("user", [file("../instructions/a.md")])))
    assert isinstance(turn.segments[0], GuidelineSegment)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ([], ""),
        ([("assistant", " Hello. ")], "Hello."),
        ([("assistant", [text("One."), file("a.md"), text(" ")])], "One.\n\nA"),
        ([("assistant", [file("prompts/b.md")])], "Be kind."),
        ([("assistant", [text("This:"), image("a.png")])], "This:\n\n<Attached: a.png>"),
        (
            [("user", "And now?"), ("assistant", [text("Two."), file("a.md")])],
            "@[User]:\nAnd now?\n\n@[Assistant]:\nTwo.\nA",
        ),
    ],
    ids=["none", "text", "text and file", "a guideline's text", "an image", "several messages"],
)
def test_reference_answers(
    project: Project, written: list[tuple[str, object]], expected: str
) -> None:
    """One message's own words; several with markers. Files stand for what they hold."""
    project.write({"a.md": "A\n", "prompts/b.md": "Be kind.", "a.png": PNG})
    assert reader(project).reference_answer(messages(*written)) == expected


def test_files_that_vanish_or_change_after_loading(project: Project) -> None:
    reading = reader(project)
    with pytest.raises(AuthorError, match=r"^the file 'a\.md' is no longer there$"):
        reading.turns(messages(("user", [file("a.md")])))

    project.write({"b.md": b"\xff"})
    with pytest.raises(AuthorError, match=r"^the file 'b\.md' is not UTF-8$"):
        reading.turns(messages(("user", [file("b.md")])))

    path = project.write({"c.md": "C"}).folder / "c.md"
    files = SearchPath((project.folder,))
    files.find("c.md")
    path.unlink()
    late = TurnReader(files, project.folder, DEFAULT_PATTERNS)
    with pytest.raises(AuthorError, match=r"^the file 'c\.md' cannot be read: No such file"):
        late.turns(messages(("user", [file("c.md")])))


def test_a_shared_file_is_read_once_a_run(project: Project) -> None:
    """Every case of a run sees the same text, and the next run sees what is there then."""
    path = project.write({"a.md": "old"}).folder / "a.md"
    asked = messages(("user", [file("a.md")]))
    reading = reader(project)
    first = reading.turns(asked)
    path.write_text("new")
    assert reading.turns(asked)[0].segments[0] is first[0].segments[0]
    (turn,) = reader(project).turns(asked)
    assert isinstance(turn.segments[0], FileSegment)
    assert turn.segments[0].text == "new"
