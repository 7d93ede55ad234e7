"""Where images and PDFs belong in a text.

The text itself is plain: it has a reference, `<Attached: path>`, where the author put the file. A
place is the end of that reference, counted and not looked for, since an author may write anything.
"""

from collections.abc import Iterator, Sequence

from agentv.core.question import format_turns, needs_markers, render
from agentv.model.options import PromptMode
from agentv.model.request import MediaFile, MediaSegment, PlacedMedia, Turn


def place_in_question(turns: Sequence[Turn], mode: PromptMode) -> tuple[PlacedMedia, ...]:
    """The files of all turns, at their places in the question; none where paths are asked for."""
    is_marked = needs_markers(turns)
    return tuple(
        _placed(file, format_turns([*turns[:number], own], mode, is_marked=is_marked))
        for number, turn in enumerate(turns)
        for file, own in _up_to_each(turn, mode)
    )


def place_in_turn(turn: Turn, mode: PromptMode) -> tuple[PlacedMedia, ...]:
    """The files of one turn, at their places in its own text."""
    return tuple(
        _placed(file, "\n".join(render(own.segments, mode)))
        for file, own in _up_to_each(turn, mode)
    )


def pieces(text: str, media: Sequence[PlacedMedia]) -> list[str | PlacedMedia]:
    """A text cut where its files belong, with the files in between; blank pieces are left out."""
    found: list[str | PlacedMedia] = []
    start = 0
    for file in media:
        found += [text[start : file.at].strip(), file]
        start = file.at
    return [piece for piece in (*found, text[start:].strip()) if piece]


def _up_to_each(turn: Turn, mode: PromptMode) -> Iterator[tuple[MediaSegment, Turn]]:
    """Each file of a turn, and the turn up to there, which says what the whole begins with."""
    for number, segment in enumerate(turn.segments, 1):
        if isinstance(segment, MediaSegment) and mode == "lm":
            yield segment, Turn(role=turn.role, segments=turn.segments[:number])


def _placed(file: MediaFile, before: str) -> PlacedMedia:
    known = {name: getattr(file, name) for name in MediaFile.__struct_fields__}
    return PlacedMedia(at=len(before), **known)
