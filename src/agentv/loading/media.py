"""Images and PDFs in messages: what a file is, told by its name and by how it begins.

Both must agree. A file whose name says one thing and whose content says another is refused by some
services and misread by others, which no author wants to find out from a score.
"""

import hashlib
from pathlib import Path
from typing import NamedTuple

_HEAD_BYTES = 1024
"""Readers of PDFs allow for so many bytes before their mark."""


class Format(NamedTuple):
    """A kind of file that can be shown to a model."""

    media_type: str
    words: str
    """`PNG image`, after "a"."""
    suffixes: tuple[str, ...]
    """The first one is its own."""


PDF = Format("application/pdf", "PDF", (".pdf",))
_PNG = Format("image/png", "PNG image", (".png",))
_JPEG = Format("image/jpeg", "JPEG image", (".jpg", ".jpeg"))
_GIF = Format("image/gif", "GIF image", (".gif",))
_WEBP = Format("image/webp", "WebP image", (".webp",))
_NAMED = {suffix: kind for kind in (PDF, _PNG, _JPEG, _GIF, _WEBP) for suffix in kind.suffixes}
_BEGIN = (
    (b"\x89PNG\r\n\x1a\n", _PNG),
    (b"\xff\xd8\xff", _JPEG),
    (b"GIF87a", _GIF),
    (b"GIF89a", _GIF),
)

IMAGES = "PNG, JPEG, GIF or WebP"
"""What `type: image` takes, for messages."""


def is_media(kind: str, reference: str) -> bool:
    """Whether a part of a message refers to an image or a PDF, rather than to text."""
    return kind == "image" or (kind == "file" and named_format(reference) is PDF)


def named_format(name: str | Path) -> Format | None:
    """What a file is by its name."""
    return _NAMED.get(Path(name).suffix.lower())


def held_format(head: bytes) -> Format | None:
    """What a file is by how it begins."""
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return _WEBP
    if b"%PDF-" in head[:_HEAD_BYTES]:
        return PDF
    return next((kind for begin, kind in _BEGIN if head.startswith(begin)), None)


def head_of(path: Path) -> bytes:
    """As much of a file as `held_format` needs. Raises `OSError` when it cannot be read."""
    with path.open("rb") as file:
        return file.read(_HEAD_BYTES)


class Content(NamedTuple):
    """What a file holds, without its bytes."""

    format: Format | None
    size: int
    sha256: str


def content_of(path: Path) -> Content:
    """Read a file from end to end, a piece at a time. Raises `OSError` when it cannot be read."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return Content(held_format(head), file.tell(), digest)
