"""The `question`: a case's turns as one text, for the candidate and for every judge.

The rules are those of the specification's message formatting:

* Role markers (`@[User]:` on a line of its own) appear if and only if some turn is `assistant` or
  `tool`, or more than one turn has visible content.
* Visible content is text that is not blank, or a file that is not a guideline. A guideline
  reference alone is not visible, but still prints as `<Attached: path>` where it stands.
* In a marked turn parts are joined by one newline and turns by a blank line; in the flat format
  parts are joined by a blank line.
* An image or a PDF is visible content, and prints as `<Attached: path>` too.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import chain

from agentv.model.options import PromptMode
from agentv.model.request import (
    FileSegment,
    GuidelineSegment,
    MediaSegment,
    Segment,
    TextSegment,
    Turn,
)

ATTACHMENTS = (FileSegment, MediaSegment)
"""Segments that are files and no guidelines."""
_SPEAKERS = frozenset({"assistant", "tool"})
_MARKER_LINE = re.compile(r"^@\[(?:System|User|Assistant|Tool)\]:", re.MULTILINE)


def format_question(turns: Sequence[Turn], mode: PromptMode) -> str:
    """All turns in their order; the same text goes to the candidate and to evaluators."""
    return format_turns(turns, mode, is_marked=needs_markers(turns))


def format_turns(turns: Iterable[Turn], mode: PromptMode, *, is_marked: bool) -> str:
    """Turns in one form or the other. What the first of them say is how the whole begins."""
    if is_marked:
        return "\n\n".join(_marked(turns, mode))
    return "\n\n".join(render(chain.from_iterable(turn.segments for turn in turns), mode))


def needs_markers(turns: Sequence[Turn]) -> bool:
    """Whether a reader could not tell who said what without markers."""
    if any(turn.role in _SPEAKERS for turn in turns):
        return True
    return sum(map(is_visible, turns)) > 1


def is_visible(turn: Turn) -> bool:
    """Whether a turn says anything once its guidelines are taken out."""
    return any(
        isinstance(segment, ATTACHMENTS)
        or (isinstance(segment, TextSegment) and bool(segment.value.strip()))
        for segment in turn.segments
    )


def marker(role: str) -> str:
    """`user` -> `@[User]:`."""
    return f"@[{role.capitalize()}]:"


def looks_marked(text: str) -> bool:
    """Whether some line of a text could be taken for a role marker."""
    return "@[" in text and _MARKER_LINE.search(text) is not None


def render(segments: Iterable[Segment], mode: PromptMode) -> list[str]:
    """The parts of a turn as text; blank ones are left out."""
    return [text for segment in segments if (text := _render_segment(segment, mode))]


def _marked(turns: Iterable[Turn], mode: PromptMode) -> Iterable[str]:
    for turn in turns:
        if parts := render(turn.segments, mode):
            yield "\n".join([marker(turn.role), *parts])


def _render_segment(segment: Segment, mode: PromptMode) -> str:
    match segment:
        case TextSegment(value=value):
            return value.strip()
        case GuidelineSegment(path=path):
            return f"<Attached: {path}>"
        case FileSegment(path=path) | MediaSegment(path=path) if mode == "agent":
            return f'<file: path="{path}">'
        case FileSegment(path=path, text=text):
            return file_block(path, text)
        case MediaSegment(path=path):
            return f"<Attached: {path}>"


def file_block(path: str, text: str) -> str:
    """A file's content under its name, as it stands in prompts."""
    return f'<file path="{path}">\n{text}\n</file>'
