"""A case's messages with their files read and their guidelines recognised.

Images and PDFs are looked at and not kept: their bytes are read again when they are sent.
"""

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from agentv.core.guidelines import is_guideline
from agentv.core.question import format_question, render
from agentv.errors import AuthorError
from agentv.loading.files import SearchPath, read_attachment
from agentv.loading.media import content_of, is_media, named_format
from agentv.model.case import ContentPart, Message
from agentv.model.request import (
    FileSegment,
    GuidelineSegment,
    MediaSegment,
    Segment,
    TextSegment,
    Turn,
)

_REMEMBERED_FILES = 256
_TEXT_FILES = (FileSegment, GuidelineSegment)


class TurnReader:
    """Reads the turns of one suite's cases; files that many cases share are read once."""

    def __init__(self, files: SearchPath, root: Path, guideline_patterns: Sequence[str]) -> None:
        self._files = files
        self._root = root
        self._patterns = guideline_patterns
        self._segment_of = lru_cache(_REMEMBERED_FILES)(self._read)

    def turns(self, messages: Sequence[Message]) -> tuple[Turn, ...]:
        """The messages as turns.

        Raises:
            AuthorError: A file that was there when the suite was loaded cannot be read now.
        """
        return tuple(
            Turn(role=message.role, segments=tuple(map(self._segment, message.parts)))
            for message in messages
        )

    def reference_answer(self, messages: Sequence[Message]) -> str:
        """The expected messages as text: one message's own words, several with role markers.

        Raises:
            AuthorError: A file that was there when the suite was loaded cannot be read now.
        """
        turns = [
            Turn(role=message.role, segments=tuple(self._plain(message))) for message in messages
        ]
        if len(turns) == 1:
            return "\n\n".join(render(turns[0].segments, "lm"))
        return format_question(turns, "lm")

    def _plain(self, message: Message) -> Iterator[Segment]:
        for part in message.parts:
            segment = self._segment(part)
            if isinstance(segment, _TEXT_FILES):
                segment = TextSegment(value=segment.text)
            yield segment

    def _segment(self, part: ContentPart) -> Segment:
        if part.type == "text":
            return TextSegment(value=part.value)
        return self._segment_of(part.type, part.value)

    def _read(self, kind: str, reference: str) -> Segment:
        path = self._files.find(reference)
        if path is None:
            raise AuthorError(f"the file '{reference}' is no longer there")
        try:
            if is_media(kind, reference):
                return _media(reference, path)
            text = read_attachment(path)
        except UnicodeDecodeError as error:
            raise AuthorError(f"the file '{reference}' is not UTF-8") from error
        except OSError as error:
            raise AuthorError(f"the file '{reference}' cannot be read: {error.strerror}") from error
        segment = GuidelineSegment if self._is_guideline(path) else FileSegment
        return segment(path=reference, resolved_path=str(path), text=text)

    def _is_guideline(self, path: Path) -> bool:
        relative = Path(os.path.relpath(path, self._root))
        inside = [part for part in relative.parts if part != ".."]
        return is_guideline("/".join(inside), self._patterns)


def _media(reference: str, path: Path) -> MediaSegment:
    """An image or a PDF; never a guideline, whose text would go to a place of its own."""
    found = content_of(path)
    if found.format is None or found.format is not named_format(path):
        raise AuthorError(f"the file '{reference}' no longer holds what its name says")
    return MediaSegment(
        path=reference,
        resolved_path=str(path),
        media_type=found.format.media_type,
        size=found.size,
        sha256=found.sha256,
    )
