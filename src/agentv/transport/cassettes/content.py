"""Bytes as a person reads them in a file, and back again without the loss of one."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from agentv.model.exchange import Content, JsonForm

_FORMS: Mapping[JsonForm, Mapping[str, Any]] = {
    "compact": {"ensure_ascii": False, "separators": (",", ":")},
    "spaced": {"ensure_ascii": False},
    "spaced_ascii": {},
    "indented": {"ensure_ascii": False, "indent": 2},
    "indented_ascii": {"indent": 2},
}


def content_of(data: bytes) -> Content:
    """Bytes, to be written down."""
    if not data:
        return Content()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return Content(base64=data)
    if text.startswith(("{", "[")) and (found := _as_json(text)):
        return found
    if "\n" in text:
        return Content(lines=tuple(text.split("\n")))
    return Content(text=text)


def bytes_of(content: Content) -> bytes:
    """The bytes that were written down."""
    if content.json is not msgspec.UNSET:
        return json.dumps(content.json, **_FORMS[content.form]).encode()
    if content.lines is not None:
        return "\n".join(content.lines).encode()
    if content.base64 is not None:
        return content.base64
    return (content.text or "").encode()


def _as_json(text: str) -> Content | None:
    """As JSON, if what will be read of it gives the same text again."""
    try:
        value = json.loads(text)
        read_back = msgspec.json.decode(msgspec.json.encode(value))
    except (ValueError, OverflowError, RecursionError, msgspec.MsgspecError):
        return None
    forms = (form for form in _FORMS if json.dumps(read_back, **_FORMS[form]) == text)
    return next((Content(json=read_back, form=form) for form in forms), None)
