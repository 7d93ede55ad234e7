"""The `question`: every scenario of the specification's message formatting, by its name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentv.core.placing import pieces, place_in_question
from agentv.core.question import format_question, is_visible, looks_marked, needs_markers
from agentv.model.case import Role
from agentv.model.request import (
    FileSegment,
    GuidelineSegment,
    MediaSegment,
    PlacedMedia,
    Segment,
    TextSegment,
    Turn,
)


def turn(role: Role, *segments: Segment | str) -> Turn:
    return Turn(
        role=role,
        segments=tuple(
            TextSegment(value=segment) if isinstance(segment, str) else segment
            for segment in segments
        ),
    )


def file(path: str, text: str) -> FileSegment:
    return FileSegment(path=path, resolved_path=f"/repo/{path}", text=text)


def guideline(path: str, text: str = "be kind") -> GuidelineSegment:
    return GuidelineSegment(path=path, resolved_path=f"/repo/{path}", text=text)


def image(path: str) -> MediaSegment:
    return MediaSegment(
        path=path, resolved_path=f"/repo/{path}", media_type="image/png", size=9, sha256="0f" * 32
    )


def test_two_message_conversation() -> None:
    """Scenario: Two-message conversation uses role markers."""
    turns = [turn("system", "You are terse."), turn("user", "What is 2+2?")]
    assert format_question(turns, "lm") == ("@[System]:\nYou are terse.\n\n@[User]:\nWhat is 2+2?")


def test_two_message_conversation_keeps_guidelines_out() -> None:
    """Scenario: Two-message conversation uses role markers (guidelines stay in their field)."""
    turns = [
        turn("system", "You are terse.", guideline("a.instructions.md", "SECRET TEXT")),
        turn("user", "What is 2+2?"),
    ]
    question = format_question(turns, "lm")
    assert "SECRET TEXT" not in question
    assert question == (
        "@[System]:\nYou are terse.\n<Attached: a.instructions.md>\n\n@[User]:\nWhat is 2+2?"
    )


def test_single_visible_message() -> None:
    """Scenario: Single visible message stays flat."""
    turns = [turn("system", guideline("a.instructions.md")), turn("user", "Review this.")]
    assert format_question(turns, "lm") == "<Attached: a.instructions.md>\n\nReview this."


def test_single_message_is_its_own_content() -> None:
    """Scenario: Single visible message stays flat (nothing is added at all)."""
    assert format_question([turn("user", "What is 2+2?")], "lm") == "What is 2+2?"


def test_system_file_attachment() -> None:
    """Scenario: System file attachment with user message."""
    turns = [
        turn("system", guideline("style.instructions.md"), file("lib.py", "x = 1")),
        turn("user", "Explain."),
    ]
    assert format_question(turns, "lm") == (
        "@[System]:\n<Attached: style.instructions.md>\n"
        '<file path="lib.py">\nx = 1\n</file>\n\n@[User]:\nExplain.'
    )


def test_non_user_messages() -> None:
    """Scenario: Multi-turn conversation with non-user messages."""
    turns = [
        turn("system", "Debug."),
        turn("user", "A bug."),
        turn("assistant", "Show me."),
        turn("tool", "exit 1"),
        turn("user", "Here:", file("a.py", "boom")),
    ]
    assert format_question(turns, "lm") == (
        "@[System]:\nDebug.\n\n@[User]:\nA bug.\n\n@[Assistant]:\nShow me.\n\n@[Tool]:\nexit 1\n\n"
        '@[User]:\nHere:\n<file path="a.py">\nboom\n</file>'
    )


def test_agent_mode_names_files() -> None:
    """Scenario: Multi-turn conversation with non-user messages (attachments in agent mode)."""
    turns = [turn("assistant", "Show me."), turn("user", "Here:", file("src/a.py", "boom"))]
    question = format_question(turns, "agent")
    assert question.endswith('@[User]:\nHere:\n<file: path="src/a.py">')
    assert "boom" not in question


def test_file_references_and_guidelines() -> None:
    """Scenario: Multi-turn with file references and guidelines."""
    turns = [
        turn("user", "First", guideline("g.instructions.md", "GUIDE"), file("a.txt", "one")),
        turn("assistant", "Second"),
        turn("user", "Third", file("b.txt", "two")),
    ]
    assert format_question(turns, "lm") == (
        "@[User]:\nFirst\n<Attached: g.instructions.md>\n"
        '<file path="a.txt">\none\n</file>\n\n'
        "@[Assistant]:\nSecond\n\n"
        '@[User]:\nThird\n<file path="b.txt">\ntwo\n</file>'
    )


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        pytest.param([turn("user", "a")], False, id="one user turn"),
        pytest.param([turn("system", "a"), turn("user", "b")], True, id="system and user text"),
        pytest.param([turn("system", " \n"), turn("user", "b")], False, id="blank system text"),
        pytest.param([turn("user", "a"), turn("user", "b")], True, id="two user turns"),
        pytest.param([turn("assistant", "a")], True, id="one assistant turn"),
        pytest.param([turn("tool", ""), turn("user", "b")], True, id="an empty tool turn"),
        pytest.param(
            [turn("system", guideline("g.md")), turn("user", "b")], False, id="guideline and text"
        ),
        pytest.param(
            [turn("system", file("f.md", "")), turn("user", "b")], True, id="an empty file is seen"
        ),
    ],
)
def test_detecting_when_role_markers_are_needed(turns: list[Turn], expected: bool) -> None:
    """Scenario: Detecting when role markers are needed."""
    assert needs_markers(turns) is expected
    assert ("@[" in format_question(turns, "lm")) is expected


def test_preserving_message_order() -> None:
    """Scenario: Preserving message order."""
    turns = [turn("user", "1"), turn("assistant", "2"), turn("user", "3")]
    question = format_question(turns, "lm")
    assert question.index("1") < question.index("2") < question.index("3")
    assert question.endswith("@[User]:\n3")


def test_flat_parts_are_joined_by_a_blank_line() -> None:
    turns = [turn("user", "Look:", file("a.txt", "one"), "Thanks.")]
    assert format_question(turns, "lm") == 'Look:\n\n<file path="a.txt">\none\n</file>\n\nThanks.'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@[User]:", True),
        ("hello\n@[Assistant]: hi", True),
        ("mail me @[User]:", False),
        (" @[User]:", False),
        ("@[Nobody]:", False),
    ],
)
def test_text_that_looks_like_a_marker(text: str, expected: bool) -> None:
    assert looks_marked(text) is expected


def test_an_image_is_visible_and_knows_its_place() -> None:
    """In the text there is its reference; the image belongs right behind it."""
    turns = [
        turn("system", "You keep the books."),
        turn("user", "What is on", image("a.png"), "and on", image("b.png")),
    ]
    question, media = format_question(turns, "lm"), place_in_question(turns, "lm")
    assert question == (
        "@[System]:\nYou keep the books.\n\n"
        "@[User]:\nWhat is on\n<Attached: a.png>\nand on\n<Attached: b.png>"
    )
    places = [(file.path, question[: file.at].splitlines()[-1]) for file in media]
    assert places == [("a.png", "<Attached: a.png>"), ("b.png", "<Attached: b.png>")]
    assert [it.path if isinstance(it, PlacedMedia) else it for it in pieces(question, media)] == [
        "@[System]:\nYou keep the books.\n\n@[User]:\nWhat is on\n<Attached: a.png>",
        "a.png",
        "and on\n<Attached: b.png>",
        "b.png",
    ]


def test_agents_are_told_the_path_of_an_image() -> None:
    turns = [turn("user", image("a.png"), "What is this?")]
    assert format_question(turns, "agent") == '<file: path="a.png">\n\nWhat is this?'
    assert place_in_question(turns, "agent") == ()


def test_an_image_after_text_that_reads_like_its_reference() -> None:
    """Places are counted, not looked for: an author may write anything."""
    turns = [turn("user", "<Attached: a.png>", image("a.png"))]
    question = format_question(turns, "lm")
    assert question == "<Attached: a.png>\n\n<Attached: a.png>"
    assert [file.at for file in place_in_question(turns, "lm")] == [len(question)]


# --- properties ---------------------------------------------------------------------------------

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=30).filter(
    lambda text: "@[" not in text
)
ROLES: st.SearchStrategy[Role] = st.sampled_from(["system", "user", "assistant", "tool"])
SEGMENTS: st.SearchStrategy[Segment] = st.one_of(
    st.builds(TextSegment, value=WORDS),
    st.builds(file, st.sampled_from(["a.txt", "d/b.py"]), WORDS.map(str.strip)),
    st.builds(guideline, st.just("x.instructions.md"), st.just("GUIDELINE-TEXT")),
    st.builds(image, st.sampled_from(["a.png", "d/b.pdf"])),
)
TURNS = st.lists(
    st.builds(
        lambda role, segments: Turn(role=role, segments=tuple(segments)),
        ROLES,
        st.lists(SEGMENTS, max_size=3),
    ),
    max_size=5,
)


@given(TURNS, st.sampled_from(["lm", "agent"]))
def test_markers_if_and_only_if_the_rule_holds(turns: list[Turn], mode: str) -> None:
    spoken = any(t.role in ("assistant", "tool") for t in turns)
    visible = sum(is_visible(t) for t in turns)
    says_something = any(
        not isinstance(s, TextSegment) or s.value.strip() for t in turns for s in t.segments
    )
    marked = "@[" in format_question(turns, "agent" if mode == "agent" else "lm")
    assert marked is ((spoken or visible > 1) and says_something)


@given(TURNS)
def test_every_image_stands_behind_its_reference(turns: list[Turn]) -> None:
    text, media = format_question(turns, "lm"), place_in_question(turns, "lm")
    shown = [s.path for t in turns for s in t.segments if isinstance(s, MediaSegment)]
    assert [file.path for file in media] == shown
    assert all(text[: file.at].endswith(f"<Attached: {file.path}>") for file in media)
    cut = pieces(text, media)
    assert [it.path for it in cut if isinstance(it, PlacedMedia)] == shown
    words = " ".join(it for it in cut if isinstance(it, str))
    assert words.split() == text.split()


@given(TURNS)
def test_no_guideline_text_in_the_question(turns: list[Turn]) -> None:
    assert "GUIDELINE-TEXT" not in format_question(turns, "lm")


@given(st.lists(st.integers(0, 99), min_size=1, max_size=6), st.data())
def test_message_order_is_kept(numbers: list[int], data: st.DataObject) -> None:
    turns = [turn(data.draw(ROLES), f"<{i}:{number}>") for i, number in enumerate(numbers)]
    question = format_question(turns, "lm")
    places = [question.index(f"<{i}:{number}>") for i, number in enumerate(numbers)]
    assert places == sorted(places)


@given(
    WORDS.filter(lambda text: bool(text.strip())), ROLES.filter(lambda r: r in ("system", "user"))
)
def test_a_single_visible_message_stays_flat(text: str, role: Role) -> None:
    turns = [turn("system", guideline("g.md")), turn(role, text)]
    assert format_question(turns, "lm") == f"<Attached: g.md>\n\n{text.strip()}"
