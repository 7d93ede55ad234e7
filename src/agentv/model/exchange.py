"""What a cassette keeps: one exchange at a border, request and reply, without secrets.

People compare and change these files, so a misspelt key is a mistake.
"""

from typing import Any, Literal

import msgspec

from agentv.model.base import AuthoredRecord, Record

JsonForm = Literal["compact", "spaced", "spaced_ascii", "indented", "indented_ascii"]
"""How a JSON text was laid out."""


class Content(AuthoredRecord, frozen=True, kw_only=True, omit_defaults=True):
    """Bytes, written down in the most readable way that gives them back exactly.

    At most one of the fields is set; none is for no bytes at all.
    """

    json: Any = msgspec.UNSET
    form: JsonForm = "compact"
    """Of `json`."""
    text: str | None = None
    lines: tuple[str, ...] | None = None
    """A text of several lines; there is a line break between two of them."""
    base64: bytes | None = None
    """Of bytes that are no UTF-8."""


class HttpAsked(
    AuthoredRecord, frozen=True, kw_only=True, omit_defaults=True, tag="http", tag_field="border"
):
    """A request over HTTP."""

    method: str
    url: str
    headers: dict[str, str]
    """For the reader: two requests that differ in these alone are the same."""
    body: Content = Content()


class CommandAsked(
    AuthoredRecord, frozen=True, kw_only=True, omit_defaults=True, tag="process", tag_field="border"
):
    """A command."""

    run: str | tuple[str, ...]
    cwd: str | None = None
    stdin: Content = Content()
    files: dict[str, str] = {}
    """What it was given to read, with a digest of each."""


Asked = HttpAsked | CommandAsked


class HttpReplied(
    AuthoredRecord, frozen=True, kw_only=True, omit_defaults=True, tag="reply", tag_field="came"
):
    """A reply that arrived whole."""

    status: int
    headers: dict[str, str]
    body: Content = Content()


class KeptFile(AuthoredRecord, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a file or a folder; one without a field is gone."""

    content: Content | None = None
    link: str | None = None
    """Where a symbolic link points."""
    is_folder: bool = False
    is_executable: bool = False


class CommandEnded(
    AuthoredRecord, frozen=True, kw_only=True, omit_defaults=True, tag="result", tag_field="came"
):
    """How a command ended, and what it wrote."""

    exit_code: int | None
    stdout: Content = Content()
    stderr: Content = Content()
    timed_out: bool = False
    truncated: bool = False
    files: dict[str, KeptFile] = {}


class NoReply(AuthoredRecord, frozen=True, kw_only=True, tag="error", tag_field="came"):
    """There was no reply, or the command could not be started."""

    kind: str
    """`timeout`, `connection`; `setup` for a command."""
    message: str


Reply = HttpReplied | CommandEnded | NoReply


class Exchange(AuthoredRecord, frozen=True, kw_only=True, omit_defaults=True):
    """A request and what came of it: one file of a cassette."""

    target: str
    """Who was asked."""
    dataset: str = ""
    eval_id: str = ""
    """For which case; empty for what belongs to none."""
    trial: int = 1
    about: str = ""
    """The target whose answer was judged, where a judge was asked."""
    places: dict[str, str] = {}
    """Where folders lay that were made for it. They are known by words elsewhere, save where a
    path came in pieces."""
    request: Asked
    reply: Reply
    duration_ms: float


class CassetteHeader(AuthoredRecord, frozen=True, kw_only=True):
    """What is true of a whole cassette: `cassette.json`."""

    format: int = 1
    recorded: str
    """When something was last recorded in it; UTC, ISO 8601."""
    version: str
    """Of AgentV."""
    variables: dict[str, str] = {}
    """The variables that its targets used; of a secret only what stands for it."""
    tokens: dict[str, str] = {}
    """Random names that were made, by what they were made for: a replay has them again."""
    moments: dict[str, str] = {}
    """Times that services' own times were held against, by what they are of; UTC, ISO 8601."""


class Miss(Record, frozen=True, kw_only=True):
    """A request that a replay has no recording of."""

    target: str
    eval_id: str
    message: str
    """What was asked, and how that was recorded."""
    nearest: str | None = None
    """The file of the recording that is most like it."""
    difference: tuple[str, ...] = ()
    """From that recording to what was asked, as the lines of a diff."""


class CassetteReport(Record, frozen=True, kw_only=True):
    """What came of recording or replaying."""

    folder: str
    replays: bool
    exchanges: int
    """Recorded, or replayed."""
    unused: int = 0
    """Recordings that nobody asked for."""
    missed: int = 0
    """Requests without a recording."""
    misses: tuple[Miss, ...] = ()
    """The first of them."""
