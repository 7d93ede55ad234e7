"""The bodies of replies: JSON, as every API promises, or whatever else a proxy puts there."""

import html
import re
from http import HTTPStatus
from typing import Any

import msgspec

from agentv.errors import ProviderError
from agentv.model.http import HttpReply
from agentv.providers.apis.wire import Json

_LOOKED_AT = 10_000
_BEGINNING = 80
_TITLE = re.compile(r"<title[^>]*>([^<]*)", re.IGNORECASE)
_PAGE = re.compile(r"\s*<(!doctype html|html)\b", re.IGNORECASE)


def json_of(reply: HttpReply) -> Json:
    """The JSON object of a reply; of a failure that has none, an empty one.

    Raises:
        ProviderError: A success without JSON is a failure of the network; its kind is
            `connection`.
    """
    try:
        body: Any = msgspec.json.decode(reply.body)
    except ValueError as error:
        if not reply.is_success:
            return {}
        raise ProviderError(_not_json(reply.body), kind="connection") from error
    if isinstance(body, dict):
        return body
    if isinstance(body, list) and body and isinstance(body[0], dict):
        return body[0]  # Gemini wraps some errors in a list
    return {}


def words_of(reply: HttpReply) -> str:
    """What a failure without a vendor's own error says: its text, the title of its page, or what
    its status is called.
    """
    text = _text(reply.body)
    return _title(text) or text or _phrase(reply.status)


def _not_json(body: bytes) -> str:
    text = _text(body)
    if not text:
        return "the reply is empty"
    title = _title(text)
    if title is not None:
        return f"the reply is a web page{f': {title}' if title else ''}"
    return f"the reply is not JSON: '{text[:_BEGINNING]}{'…' if len(text) > _BEGINNING else ''}'"


def _text(body: bytes) -> str:
    return body[:_LOOKED_AT].decode("utf-8", "replace").strip()


def _title(text: str) -> str | None:
    """Of a web page, empty if it has none; `None` for what is no page."""
    if not _PAGE.match(text):
        return None
    found = _TITLE.search(text)
    return " ".join(html.unescape(found[1]).split()) if found else ""


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "no reason given"
