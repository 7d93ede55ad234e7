"""The ways in which programs write one and the same secret."""

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from html import escape
from urllib.parse import quote, quote_plus

SHORTEST = 4
_SHORTEST_INSIDE = 8
"""Of a secret's base64 as part of a longer one (`Basic …` in a header)."""


def forms_of(secret: str) -> set[str]:
    """Every text by which this secret is to be recognised; none if it is too short or blank."""
    if len(secret) < SHORTEST or not secret.strip():
        return set()
    spellings = {secret, secret.strip(), secret.encode("utf-8", "replace").decode("utf-8")}
    forms = spellings | {form for text in spellings for form in _written(text)}
    return {form for form in forms if len(form) >= SHORTEST and form.strip()}


def _written(text: str) -> Iterator[str]:
    yield from _as_json(text)
    yield escape(text)
    yield escape(text, quote=False)
    yield from _in_url(text)
    yield from _in_shell(text)
    yield from _in_base64(text.encode("utf-8", "surrogateescape"))


def _as_json(text: str) -> Iterator[str]:
    for ascii_only in (True, False):
        escaped = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield escaped
        yield escaped.replace("/", "\\/")


def _in_url(text: str) -> Iterator[str]:
    raw = text.encode("utf-8", "surrogateescape")
    for quoted in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        yield quoted
        yield re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), quoted)


def _in_shell(text: str) -> Iterator[str]:
    yield text.replace("'", "'\"'\"'")
    yield text.replace("'", "'\\''")
    yield re.sub(r'([\\"$`])', r"\\\1", text)


def _in_base64(raw: bytes) -> Iterator[str]:
    for encode in (b64encode, urlsafe_b64encode):
        alone = encode(raw).decode("ascii")
        yield alone
        yield alone.rstrip("=")
        for before in range(3):
            # Whole groups of three bytes look the same whatever stands before and after them.
            inside = raw[-before % 3 :]
            inside = inside[: len(inside) // 3 * 3]
            shown = encode(inside).decode("ascii")
            if len(shown) >= _SHORTEST_INSIDE:
                yield shown
