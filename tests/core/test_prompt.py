"""Prompts for one provider: guidelines, chat prompts, files."""

from agentv.core.guidelines import DEFAULT_PATTERNS, is_guideline
from agentv.core.prompt import build_prompt
from agentv.model.request import (
    ChatMessage,
    FileSegment,
    GuidelineSegment,
    MediaSegment,
    TextSegment,
    Turn,
)

GUIDE = GuidelineSegment(
    path="../a/g.instructions.md", resolved_path="/r/a/g.instructions.md", text="Be kind."
)
IMAGE = MediaSegment(
    path="a.png", resolved_path="/r/a.png", media_type="image/png", size=9, sha256="0f" * 32
)
DATA = FileSegment(path="data.txt", resolved_path="/r/data.txt", text="1,2")


def text(value: str) -> TextSegment:
    return TextSegment(value=value)


CONVERSATION = (
    Turn(role="system", segments=(text("You help."), GUIDE)),
    Turn(role="user", segments=(text("Sum this:"), DATA)),
    Turn(role="assistant", segments=(text("3"),)),
    Turn(role="system", segments=(text("Be brief."),)),
    Turn(role="tool", segments=(text("exit 0"),)),
    Turn(role="system", segments=(GUIDE,)),
    Turn(role="user", segments=(text("And now?"),)),
)


def test_guidelines_stand_under_their_base_name() -> None:
    """Each guideline once, in the form of an attached file."""
    prompt = build_prompt(CONVERSATION, "lm", chat=True)
    assert prompt.guidelines == '<file path="g.instructions.md">\nBe kind.\n</file>'
    assert prompt.guideline_paths == ("/r/a/g.instructions.md",)
    assert prompt.input_files == ("/r/a/g.instructions.md", "/r/data.txt")


def test_chat_prompt_of_a_conversation() -> None:
    """One leading system message; later system and tool turns become marked assistant turns;
    guideline-only turns vanish.
    """
    prompt = build_prompt(CONVERSATION, "lm", chat=True)
    assert prompt.chat_prompt == (
        ChatMessage(
            role="system",
            content="You help.\n<Attached: ../a/g.instructions.md>\n\n[[ ## Guidelines ## ]]\n\n"
            '<file path="g.instructions.md">\nBe kind.\n</file>',
        ),
        ChatMessage(role="user", content='Sum this:\n<file path="data.txt">\n1,2\n</file>'),
        ChatMessage(role="assistant", content="3"),
        ChatMessage(role="assistant", content="@[System]:\nBe brief."),
        ChatMessage(role="assistant", content="@[Tool]:\nexit 0"),
        ChatMessage(role="user", content="And now?"),
    )


def test_images_belong_into_their_turns() -> None:
    """Each message of a chat prompt counts anew; the question has them all."""
    turns = (
        Turn(role="user", segments=(text("Look:"), IMAGE, text("What is it?"))),
        Turn(role="assistant", segments=(text("A receipt."),)),
        Turn(role="user", segments=(IMAGE, text("And this?"))),
    )
    prompt = build_prompt(turns, "lm", chat=True)
    assert prompt.chat_prompt is not None
    assert [(m.content, [file.at for file in m.media]) for m in prompt.chat_prompt] == [
        ("Look:\n<Attached: a.png>\nWhat is it?", [23]),
        ("A receipt.", []),
        ("<Attached: a.png>\nAnd this?", [17]),
    ]
    assert [prompt.question[: file.at].count("<Attached: a.png>") for file in prompt.media] == [
        1,
        2,
    ]
    assert prompt.input_files == ("/r/a.png",)


def test_only_users_show_images() -> None:
    """Whatever a program puts there, no API is sent an image that an assistant is said to send."""
    turns = (Turn(role="assistant", segments=(IMAGE,)), Turn(role="tool", segments=(IMAGE,)))
    prompt = build_prompt(turns, "lm", chat=True)
    assert prompt.chat_prompt == (
        ChatMessage(role="assistant", content="<Attached: a.png>"),
        ChatMessage(role="assistant", content="@[Tool]:\n<Attached: a.png>"),
    )


def test_where_paths_are_asked_for_no_image_is_placed() -> None:
    turns = (Turn(role="user", segments=(IMAGE,)),)
    prompt = build_prompt(turns, "agent", chat=True)
    assert (prompt.question, prompt.media) == ('<file: path="a.png">', ())
    assert prompt.input_files == ("/r/a.png",)


def test_no_chat_prompt_for_a_single_message() -> None:
    turns = (Turn(role="user", segments=(text("Hi"),)),)
    assert build_prompt(turns, "lm", chat=True).chat_prompt is None


def test_no_chat_prompt_for_a_provider_that_takes_none() -> None:
    assert build_prompt(CONVERSATION, "agent", chat=False).chat_prompt is None


def test_default_guideline_patterns() -> None:
    """Scenario: Use defaults when config absent."""
    guidelines = ["a.instructions.md", "x/instructions/y.txt", "b.prompt.md", "prompts/c/d.md"]
    assert all(is_guideline(path, DEFAULT_PATTERNS) for path in guidelines)
    others = ["readme.md", "instructions.md", "my-prompts/a.md", "a.instructions.md.bak"]
    assert not any(is_guideline(path, DEFAULT_PATTERNS) for path in others)


def test_globs_with_stars_and_backslashes() -> None:
    """Scenario: Match files with glob patterns."""
    assert is_guideline("skills\\a\\SKILL.md", ["**/SKILL.md"])
    assert is_guideline("docs/a.md", ["docs/*.md"])
    assert not is_guideline("docs/x/a.md", ["docs/*.md"])
