"""A case's turns as the prompt for one provider."""

from collections.abc import Sequence

from agentv.core.chat_prompt import format_chat_prompt
from agentv.core.guidelines import format_guidelines, gather_guidelines
from agentv.core.placing import place_in_question
from agentv.core.question import ATTACHMENTS, format_question, needs_markers
from agentv.model.options import PromptMode
from agentv.model.request import FileSegment, MediaSegment, Prompt, Turn


def build_prompt(turns: Sequence[Turn], mode: PromptMode, *, chat: bool) -> Prompt:
    """Format a case.

    Args:
        turns: The case's messages with their files read.
        mode: `lm` puts file contents into the text, `agent` only their paths.
        chat: Whether the provider takes a chat prompt; one is made only for conversations.
    """
    found = gather_guidelines(turns)
    guidelines = format_guidelines(found.values())
    attachments = _attachments(turns)
    wants_chat = chat and needs_markers(turns)
    return Prompt(
        question=format_question(turns, mode),
        guidelines=guidelines,
        guideline_paths=tuple(found),
        input_files=tuple(dict.fromkeys([*found, *(file.resolved_path for file in attachments)])),
        chat_prompt=format_chat_prompt(turns, guidelines, mode) if wants_chat else None,
        media=place_in_question(turns, mode) if attachments else (),
    )


def _attachments(turns: Sequence[Turn]) -> list[FileSegment | MediaSegment]:
    return [
        segment for turn in turns for segment in turn.segments if isinstance(segment, ATTACHMENTS)
    ]
