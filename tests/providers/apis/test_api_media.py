"""What APIs take of images and PDFs, and how these get into a body."""

from pathlib import Path
from typing import Any

import pytest

from agentv.errors import ProviderError
from agentv.model.request import MediaFile
from agentv.providers.apis import anthropic, gemini, openai_wire
from agentv.providers.apis.media import (
    MB,
    Base64,
    MediaLimits,
    check_media,
    data_url,
    encode_body,
    estimated_tokens,
    without_bytes,
)
from media_samples import PNG, base64, sha256


def media(name: str = "a.png", size: int = 9, media_type: str = "image/png") -> MediaFile:
    """A file of which nothing is read."""
    return MediaFile(
        path=name, resolved_path=f"/r/{name}", media_type=media_type, size=size, sha256="0f"
    )


def document(size: int, name: str = "a.pdf") -> MediaFile:
    return media(name, size, "application/pdf")


def written(path: Path) -> MediaFile:
    """A real file with an image."""
    path.write_bytes(PNG)
    return MediaFile(
        path="a.png",
        resolved_path=str(path),
        media_type="image/png",
        size=len(PNG),
        sha256=sha256(PNG),
    )


def said(limits: MediaLimits, *files: MediaFile, text: str = "Why?") -> tuple[str, str] | None:
    """Kind and message of the refusal, if there is one."""
    try:
        check_media(files, text, limits)
    except ProviderError as error:
        return error.kind, str(error)
    return None


OPENAI, ANTHROPIC, GEMINI = (
    openai_wire.MEDIA_LIMITS,
    anthropic.MEDIA_LIMITS,
    gemini.MEDIA_LIMITS,
)


@pytest.mark.parametrize(
    ("limits", "files"),
    [
        (ANTHROPIC, [media(size=10 * MB // 4 * 3)]),
        (ANTHROPIC, [document(23 * MB)]),
        (ANTHROPIC, [media(media_type="image/gif")]),
        (OPENAI, [document(50 * MB), media(size=60 * MB)]),
        (GEMINI, [document(50 * MB)]),
        (GEMINI, [media(media_type="image/webp", size=60 * MB)]),
    ],
)
def test_what_is_documented_is_sent(limits: MediaLimits, files: list[MediaFile]) -> None:
    assert said(limits, *files) is None


@pytest.mark.parametrize(
    ("limits", "files", "kind", "message"),
    [
        (
            ANTHROPIC,
            [media(), media("big.png", 10 * MB // 4 * 3 + 1)],
            "media_size",
            "'big.png' has 7.51 MB; the Anthropic API takes 7.5 MB of an image",
        ),
        (
            ANTHROPIC,
            [document(20 * MB, "b.pdf"), document(6 * MB)],
            "media_size",
            "the request has 34.67 MB, files as base64; the Anthropic API takes 32 MB; the largest "
            "file is 'b.pdf' with 20 MB",
        ),
        (
            OPENAI,
            [document(50 * MB + 1)],
            "media_size",
            "'a.pdf' has 50.01 MB; an API like OpenAI's takes 50 MB of a PDF",
        ),
        (
            GEMINI,
            [document(51 * MB)],
            "media_size",
            "'a.pdf' has 51 MB; the Gemini API takes 50 MB of a PDF",
        ),
        (
            GEMINI,
            [media(size=80 * MB)],
            "media_size",
            "the request has 106.67 MB, files as base64; the Gemini API takes 100 MB; the largest "
            "file is 'a.png' with 80 MB",
        ),
        (
            GEMINI,
            [media("a.gif", media_type="image/gif")],
            "media_type",
            "'a.gif' is a GIF; the Gemini API takes PNG, JPEG, WebP, PDF",
        ),
    ],
)
def test_what_is_beyond_is_refused_with_the_name_of_the_file(
    limits: MediaLimits, files: list[MediaFile], kind: str, message: str
) -> None:
    assert said(limits, *files) == (kind, message)


def test_the_text_counts_too() -> None:
    refusal = said(ANTHROPIC, media(), text="\N{SNOWMAN}" * 12_000_000)
    assert refusal is not None
    assert refusal[1].startswith("the request has 34.34 MB")


def test_a_body_is_written_with_its_files(tmp_path: Path) -> None:
    file = written(tmp_path / "a.png")
    body = encode_body({"a": Base64(file), "b": [data_url(file)]})
    url = f"data:image/png;base64,{base64(PNG)}"
    assert body == f'{{"a":"{base64(PNG)}","b":["{url}"]}}'.encode()


def test_until_then_it_holds_no_bytes(tmp_path: Path) -> None:
    """Bodies are compared, and known by digests, without reading anything."""
    file = written(tmp_path / "a.png")
    (tmp_path / "a.png").unlink()
    assert Base64(file) == Base64(file) != data_url(file)
    assert Base64(file) != Base64(media())
    assert len({Base64(file), Base64(file), data_url(file)}) == 2
    assert without_bytes({"a": [data_url(file)]}) == {
        "a": [f"data:image/png;base64,<{sha256(PNG)}>"]
    }


def test_a_file_that_is_gone_or_another_is_not_sent(tmp_path: Path) -> None:
    file = written(tmp_path / "a.png")
    (tmp_path / "a.png").write_bytes(PNG + b"\0")
    with pytest.raises(ProviderError, match="was changed while the run was under way") as changed:
        encode_body({"a": Base64(file)})
    (tmp_path / "a.png").unlink()
    with pytest.raises(ProviderError, match="cannot be read: No such file") as gone:
        encode_body({"a": Base64(file)})
    assert [changed.value.kind, gone.value.kind] == ["attachment", "attachment"]


def test_nothing_else_is_written_that_is_not_json() -> None:
    odd: Any = {"a": object()}
    with pytest.raises(TypeError, match="object is not JSON"):
        encode_body(odd)


def test_rate_limits_do_not_take_base64_for_words() -> None:
    """A megabyte of pixels is not a quarter of a million tokens."""
    body = b"x" * (400 + len(base64(bytes(MB))))
    assert estimated_tokens(body, [media(size=MB)], bytes_a_token=4) == 100 + 1_500
    assert estimated_tokens(b"x" * 400, [], bytes_a_token=4) == 100
