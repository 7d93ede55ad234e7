"""A case's messages with their files read and their guidelines recognised."""

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from agentv.core.guidelines import is_guideline
from agentv.core.question import format_question
from agentv.errors import AuthorError
from agentv.loading.files import SearchPath, read_attachment
from agentv.model.case import ContentPart, Message
from agentv.model.request import FileSegment, GuidelineSegment, Segment, TextSegment, Turn

_REMEMBERED_FILES = 256


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
            texts = (s.value.strip() for s in turns[0].segments if isinstance(s, TextSegment))
            return "\n\n".join(text for text in texts if text)
        return format_question(turns, "lm")

    def _plain(self, message: Message) -> Iterator[TextSegment]:
        for part in message.parts:
            is_file = part.type == "file"
            yield TextSegment(value=self._segment_of(part.value).text if is_file else part.value)

    def _segment(self, part: ContentPart) -> Segment:
        return (
            self._segment_of(part.value) if part.type == "file" else TextSegment(value=part.value)
        )

    def _read(self, reference: str) -> FileSegment | GuidelineSegment:
        path = self._files.find(reference)
        if path is None:
            raise AuthorError(f"the file '{reference}' is no longer there")
        try:
            text = read_attachment(path)
        except UnicodeDecodeError as error:
            raise AuthorError(f"the file '{reference}' is not UTF-8") from error
        except OSError as error:
            raise AuthorError(f"the file '{reference}' cannot be read: {error.strerror}") from error
        kind = GuidelineSegment if self._is_guideline(path) else FileSegment
        return kind(path=reference, resolved_path=str(path), text=text)

    def _is_guideline(self, path: Path) -> bool:
        relative = Path(os.path.relpath(path, self._root))
        inside = [part for part in relative.parts if part != ".."]
        return is_guideline("/".join(inside), self._patterns)
