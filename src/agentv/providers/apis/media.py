"""Images and PDFs on their way to an LLM API: what it takes of them, and their bytes at the end.

A body holds a stand-in for a file's content until it is written out. So adapters stay free of I/O,
a batch holds no bytes before it is sent, and what is compared or kept never has a file in it.
"""

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

import msgspec

from agentv.errors import ProviderError
from agentv.model.base import Record
from agentv.model.request import MediaFile
from agentv.providers.apis.wire import Json

MB = 1024 * 1024
PDF = "application/pdf"
WORDS = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/gif": "GIF",
    "image/webp": "WebP",
    PDF: "PDF",
}
_TOKENS_A_FILE = 1_500
"""About what vendors say of an image or a page; for rate limits, which are by estimate."""


class MediaLimits(Record, frozen=True, kw_only=True):
    """What an API documents of the files that it takes."""

    api: str
    """Its name in messages."""
    types: tuple[str, ...] = tuple(WORDS)
    image_base64: int | None = None
    """The most characters that one image may have as base64."""
    pdf_bytes: int | None = None
    """The most bytes that one PDF may have."""
    request_bytes: int
    """The most bytes that a whole request may have."""


class Base64:
    """A file's content in a body, until `encode_body` puts the real one there.

    Args:
        file: The file, as it was when the trial was made.
        prefix: What stands before the content in the same string.
    """

    # Not a record or a dataclass: those would be written out as they are, where this must not.
    __slots__ = ("file", "prefix")

    def __init__(self, file: MediaFile, prefix: str = "") -> None:
        self.file = file
        self.prefix = prefix

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Base64) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"{self.prefix}<{self.file.sha256}>"


def data_url(file: MediaFile) -> Base64:
    """`data:image/png;base64,…`."""
    return Base64(file, f"data:{file.media_type};base64,")


def encode_body(body: Json) -> bytes:
    """A body as JSON, with the files in it.

    Raises:
        ProviderError: A file is gone, or is not what it was when the trial was made.
    """
    return msgspec.json.encode(body, enc_hook=_encoded)


def without_bytes(body: Json) -> Json:
    """A body that stands for what would be sent: files show as digests of their contents."""
    plain: Json = msgspec.to_builtins(body, enc_hook=repr)
    return plain


def read_media(file: MediaFile) -> bytes:
    """A file's bytes.

    Raises:
        ProviderError: It is gone, or is not what it was when the trial was made: an answer about
            it would be filed under what it no longer is. The error's kind is `attachment`.
    """
    try:
        data = Path(file.resolved_path).read_bytes()
    except OSError as error:
        reason = f"the file '{file.path}' cannot be read: {error.strerror}"
        raise ProviderError(reason, kind="attachment") from error
    if hashlib.sha256(data).hexdigest() != file.sha256:
        reason = f"the file '{file.path}' was changed while the run was under way"
        raise ProviderError(reason, kind="attachment")
    return data


def check_media(media: Sequence[MediaFile], text: str, limits: MediaLimits) -> None:
    """Refuse what an API says it does not take, before anything is sent.

    Args:
        media: All files of a request.
        text: All else that makes it long.
        limits: The API's.

    Raises:
        ProviderError: Its kind is `media_type` or `media_size`; it names the file.
    """
    for file in media:
        if file.media_type not in limits.types:
            taken = ", ".join(WORDS[name] for name in limits.types)
            reason = f"'{file.path}' is a {WORDS[file.media_type]}; {limits.api} takes {taken}"
            raise ProviderError(reason, kind="media_type")
        most = _most_bytes(file, limits)
        if most is not None and file.size > most:
            kind = "a PDF" if file.media_type == PDF else "an image"
            reason = f"'{file.path}' has {_mb(file.size)}; {limits.api} takes {_mb(most)} of {kind}"
            raise ProviderError(reason, kind="media_size")
    whole = encoded_size(media) + len(text.encode())
    if whole > limits.request_bytes:
        largest = max(media, key=lambda file: file.size)
        reason = (
            f"the request has {_mb(whole)}, files as base64; {limits.api} takes "
            f"{_mb(limits.request_bytes)}; the largest file is '{largest.path}' with "
            f"{_mb(largest.size)}"
        )
        raise ProviderError(reason, kind="media_size")


def encoded_size(media: Sequence[MediaFile]) -> int:
    """How many characters files take as base64."""
    return sum((file.size + 2) // 3 * 4 for file in media)


def estimated_tokens(body: bytes, media: Sequence[MediaFile], *, bytes_a_token: int) -> int:
    """About how many tokens a request with these files in it costs."""
    return (len(body) - encoded_size(media)) // bytes_a_token + _TOKENS_A_FILE * len(media)


def _most_bytes(file: MediaFile, limits: MediaLimits) -> int | None:
    if file.media_type == PDF:
        return limits.pdf_bytes
    return limits.image_base64 // 4 * 3 if limits.image_base64 is not None else None


def _mb(size: int) -> str:
    """`7.5 MB`; rounded up, so that nothing looks as if it were within a limit."""
    return f"{ceil(size * 100 / MB) / 100:.2f}".rstrip("0").rstrip(".") + " MB"


def _encoded(value: Any) -> str:
    if not isinstance(value, Base64):
        raise TypeError(f"{type(value).__name__} is not JSON")
    return value.prefix + b64encode(read_media(value.file)).decode("ascii")
