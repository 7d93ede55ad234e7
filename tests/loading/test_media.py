"""Images and PDFs in messages: which files are taken, and what is said of the others."""

import pytest
from loaded import MOCK, said_of

from agentv.loading.media import held_format, named_format
from agentv.testing import Project
from media_samples import GIF, JPEG, PDF, PNG, WEBP

SAVE_ANEW = "it may be empty, damaged or of another format: look at it, and save it anew"
NOT_TEXT = (
    "save it as UTF-8; what is not text can be a PDF, or with `type: image` a PNG, JPEG, GIF or "
    "WebP image"
)


def said_of_part(project: Project, kind: str, value: str) -> list[str]:
    """What is wrong with a part of a user's message, at its place."""
    part = f"{{type: {kind}, value: '{value}'}}"
    message = f"{{role: user, content: [{part}]}}"
    text = f"evalcases:\n  - id: one\n    outcome: x\n    input_messages: [{message}]\n"
    place = f"a.eval.yaml:4:{59 + len(kind) + 2}  evalcases[0].input_messages[0].content[0].value  "
    lines = said_of(project, text)
    assert all(line.startswith(place) for line in lines)
    return [line.removeprefix(place) for line in lines]


@pytest.mark.parametrize(
    ("kind", "name", "content"),
    [
        ("image", "a.png", PNG),
        ("image", "a.jpg", JPEG),
        ("image", "a.JPEG", JPEG),
        ("image", "a.gif", GIF),
        ("image", "a.webp", WEBP),
        ("file", "a.pdf", PDF),
        ("file", "a.Pdf", b"junk before the mark\n" + PDF),
        # A PDF may be all text; one that is not called so is what it was before: text.
        ("file", "source-of-a-pdf.txt", b"%PDF-1.4\n1 0 obj\n"),
    ],
)
def test_files_that_are_taken(project: Project, kind: str, name: str, content: bytes) -> None:
    assert said_of_part(project.write({name: content}), kind, name) == []


@pytest.mark.parametrize(
    ("kind", "name", "content", "expected"),
    [
        (
            "image",
            "a.jpg",
            PNG,
            "'a.jpg' is named like a JPEG image, but holds a PNG image; rename it to 'a.png'",
        ),
        (
            "image",
            "a.gif",
            PDF,
            "'a.gif' is named like a GIF image, but holds a PDF; rename it to 'a.pdf'",
        ),
        (
            "image",
            "a.png",
            b"",
            f"'a.png' is named like a PNG image, but does not begin like one; {SAVE_ANEW}",
        ),
        (
            "image",
            "a.webp",
            WEBP[:11],
            f"'a.webp' is named like a WebP image, but does not begin like one; {SAVE_ANEW}",
        ),
        (
            "image",
            "scan",
            JPEG,
            "'scan' holds a JPEG image, which its name does not say; rename it to 'scan.jpg'",
        ),
        ("image", "a.pdf", PDF, "'a.pdf' is a PDF, not an image; write `type: file`"),
        (
            "image",
            "a.bmp",
            b"BM\x00",
            "'a.bmp' is not a PNG, JPEG, GIF or WebP image; save it as one of these",
        ),
        ("file", "a.png", PNG, "'a.png' is a PNG image, not text; write `type: image`"),
        (
            "file",
            "a.pdf",
            b"Once upon a time",
            f"'a.pdf' is named like a PDF, but does not begin like one; {SAVE_ANEW}",
        ),
        (
            "file",
            "a.pdf",
            WEBP,
            "'a.pdf' is named like a PDF, but holds a WebP image; rename it to 'a.webp'",
        ),
        (
            "file",
            "terms.dat",
            PDF,
            "'terms.dat' holds a PDF, which its name does not say; rename it to 'terms.pdf'",
        ),
        ("file", "a.docx", b"PK\x03\x04\xff", f"the file 'a.docx' is not UTF-8 text; {NOT_TEXT}"),
    ],
)
def test_files_that_are_not_what_they_should_be(
    project: Project, kind: str, name: str, content: bytes, expected: str
) -> None:
    assert said_of_part(project.write({name: content}), kind, name) == [expected]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("https://example.org/a.png", "https://example.org/a.png"),
        ("file:///home/ada/a.png", "file:///home/ada/a.png"),
        ("data:image/png;base64," + "A" * 99, "data:image/png;base64," + "A" * 38 + "…"),
    ],
    ids=["web", "file", "data"],
)
def test_addresses_are_no_files(project: Project, value: str, shown: str) -> None:
    """A run must not depend on what an address leads to today."""
    assert said_of_part(project, "image", value) == [
        f"'{shown}' is an address, not the path of a file; save it as a file and name that: what "
        "an address leads to may change"
    ]


def test_a_missing_image_has_its_nearest_name(project: Project) -> None:
    project.write({"receipt.png": PNG})
    assert said_of_part(project, "image", "reciept.png") == [
        "no such file 'reciept.png'; did you mean 'receipt.png'? tried /project/reciept.png"
    ]


@pytest.mark.parametrize("role", ["system", "assistant", "tool"])
@pytest.mark.parametrize("part", ["{type: image, value: a.png}", "{type: file, value: a.pdf}"])
def test_only_users_show_them(project: Project, role: str, part: str) -> None:
    project.write({"a.png": PNG, "a.pdf": PDF, "a.md": "Text."})
    content = f"[{{type: file, value: a.md}}, {part}]"
    messages = f"[{{role: user, content: Hi}}, {{role: {role}, content: {content}}}]"
    case = f"  - id: one\n    outcome: x\n    input_messages: {messages}\n"
    (line,) = said_of(project, f"evalcases:\n{case}")
    assert line.split("  ")[1:] == [
        "evalcases[0].input_messages[1].content[1].value",
        f"an image or a PDF in a `{role}` message reaches no model; move it to a `user` message: "
        "LLM APIs take them nowhere else",
    ]


def test_anybody_may_show_them_in_a_reference_answer(project: Project) -> None:
    project.write({"a.png": PNG})
    case = """\
  - id: one
    outcome: x
    input_messages: [{role: user, content: Draw.}]
    expected_messages: [{role: assistant, content: [{type: image, value: a.png}]}]
"""
    assert said_of(project, f"evalcases:\n{case}") == []


def test_cases_of_a_jsonl_file_are_checked_alike(project: Project) -> None:
    part = '{"type": "image", "value": "a.png"}'
    line = f'{{"id": "a", "input_messages": [{{"role": "user", "content": [{part}]}}]}}\n'
    project.write({"targets.yaml": MOCK, "a.png": JPEG, "cases.jsonl": line})
    (said,) = said_of(project, "evalcases: cases.jsonl\nevaluator: is_json\n")
    assert said.startswith("cases.jsonl:1:88  input_messages[0].content[0].value  'a.png' is named")


def test_an_image_alone_asks_something(project: Project) -> None:
    assert said_of_part(project.write({"a.png": PNG}), "image", "a.png") == []


def test_names_and_contents_tell_the_same_format() -> None:
    samples = {"a.png": PNG, "a.jpeg": JPEG, "a.gif": GIF, "a.webp": WEBP, "a.pdf": PDF}
    for name, content in samples.items():
        assert named_format(name) is held_format(content[:1024]) is not None
    assert named_format("a.svg") is None
    assert held_format(b"RIFF\0\0\0\0WAVEfmt ") is None
