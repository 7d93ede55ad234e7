"""What goes to a provider and what comes back."""

from pathlib import PurePath
from typing import Any, Literal

from agentv.model.base import Record
from agentv.model.case import Role
from agentv.model.score import Usage


class TextSegment(Record, frozen=True, kw_only=True, tag="text", tag_field="type"):
    """A piece of text in a turn."""

    value: str


class FileSegment(Record, frozen=True, kw_only=True, tag="file", tag_field="type"):
    """A file in a turn, read."""

    path: str
    """As the author wrote it."""
    resolved_path: str
    """Absolute."""
    text: str
    """Stripped at both ends, line endings as `\\n`."""


class GuidelineSegment(Record, frozen=True, kw_only=True, tag="guideline", tag_field="type"):
    """A reference to a guideline file; its text goes to `guidelines`, only the reference shows."""

    path: str
    resolved_path: str
    text: str


class MediaFile(Record, frozen=True, kw_only=True):
    """An image or a PDF, known by its content; its bytes are read when they are sent."""

    path: str
    """As the author wrote it."""
    resolved_path: str
    """Absolute."""
    media_type: str
    """`image/png`, `application/pdf`."""
    size: int
    """Bytes."""
    sha256: str
    """Of its content, in hexadecimal digits."""

    @property
    def name(self) -> str:
        """Its base name."""
        return PurePath(self.resolved_path).name


class MediaSegment(MediaFile, frozen=True, kw_only=True, tag="media", tag_field="type"):
    """An image or a PDF in a turn."""


class PlacedMedia(MediaFile, frozen=True, kw_only=True):
    """An image or a PDF, and where it stands in a text."""

    at: int
    """How many characters of the text come before it; the last of them are its reference,
    `<Attached: path>`."""


Segment = TextSegment | FileSegment | GuidelineSegment | MediaSegment


class Turn(Record, frozen=True, kw_only=True):
    """A message with its files read and its guidelines recognised."""

    role: Role
    segments: tuple[Segment, ...]


class ChatMessage(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of a chat prompt."""

    role: Role
    content: str
    media: tuple[PlacedMedia, ...] = ()
    """Images and PDFs that belong into the content; only in `user` messages."""


class Prompt(Record, frozen=True, kw_only=True):
    """An eval case formatted for one prompt mode."""

    question: str
    guidelines: str
    guideline_paths: tuple[str, ...]
    """Absolute, each once, in the order of their first mention."""
    input_files: tuple[str, ...]
    """Absolute paths of guidelines and attachments, each once, in order of mention."""
    chat_prompt: tuple[ChatMessage, ...] | None = None
    """Only for conversations that need role markers."""
    media: tuple[PlacedMedia, ...] = ()
    """Images and PDFs that belong into the question; none where only paths are asked for."""


class ProviderRequest(Record, frozen=True, kw_only=True):
    """One attempt at one answer."""

    eval_id: str
    suite: str = ""
    """With `eval_id` and `trial` it tells the requests of a run apart."""
    question: str
    guidelines: str = ""
    guideline_paths: tuple[str, ...] = ()
    input_files: tuple[str, ...] = ()
    chat_prompt: tuple[ChatMessage, ...] | None = None
    media: tuple[PlacedMedia, ...] = ()
    """Images and PDFs that belong into the question, for whoever can show them to a model."""
    system_prompt: str | None = None
    """A judge's instructions; candidates have none."""
    response_schema: dict[str, Any] | None = None
    """The JSON Schema an answer must have, for APIs that can hold a model to one; a judge's."""
    attempt: int = 1
    """1-based; grows with each retry."""
    trial: int = 1


KeepWorkspace = Literal["never", "on_failure", "always"]
"""When an agent's folder outlives its trial; a failure is every verdict but `pass`."""


class WorkspaceLeft(Record, frozen=True, kw_only=True):
    """The folder that an agent worked in; it is there until the trial has its verdict."""

    path: str
    keep: KeepWorkspace = "never"
    kept_at: str | None = None
    """Where it goes if it is kept."""
    diff: str | None = None
    """A file that shows what the agent changed; it goes where the folder goes."""


class Leavings(Record, frozen=True, kw_only=True):
    """What an attempt left on disk."""

    artifacts: dict[str, str] = {}
    """Files worth a look, by what they are: `log`."""
    workspace: WorkspaceLeft | None = None


class ProviderResponse(Record, frozen=True, kw_only=True):
    """An answer, and how it came about."""

    text: str
    reasoning: str | None = None
    """What the model thought aloud, kept apart from its answer."""
    usage: Usage | None = None
    cached: bool = False
    """Whether it was kept from an earlier call; `usage` is then that call's."""
    trace: list[dict[str, Any]] | None = None
    """What an agent did on the way: entries of `agentv.model.trace`."""
    leavings: Leavings | None = None
    dry_run: bool = False
    """Nobody was asked, and there is no text; `trace` says what would have been used."""
