"""Requests as a cassette knows them: what matters of them, and nothing that is secret."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import msgspec

from agentv.model.exchange import Asked, CommandAsked, Content, HttpAsked
from agentv.model.http import HttpRequest
from agentv.model.process import Command
from agentv.transport.cassettes.content import content_of
from agentv.transport.cassettes.disguise import Disguise
from agentv.transport.cassettes.file_changes import digests_of

_SECRET_HEADER = re.compile(
    r"auth|cookie|secret|passw|credential|signature|session|api-?key|-key$|(^|-)token$"
)
_LONG = 10_000
_ENCODED = re.compile(r"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/_-]+={0,2}")
_KEY_DIGITS = 16


def http_asked(request: HttpRequest, disguise: Disguise) -> HttpAsked:
    """A request over HTTP."""
    body = content_of(disguise.hide_request(request.body))
    if body.json is not msgspec.UNSET:
        body = Content(json=_shortened(body.json), form=body.form)
    return HttpAsked(
        method=request.method,
        url=disguise.hide(request.url),
        headers=fit_headers(request.headers, disguise),
        body=body,
    )


def command_asked(command: Command, disguise: Disguise) -> CommandAsked:
    """A command, as it is without its sandbox; the files that it reads are read."""
    run = command.unconfined or command.run
    return CommandAsked(
        run=_line(run, disguise) if isinstance(run, str) else _program(run, disguise),
        cwd=None if command.cwd is None else disguise.hide(str(command.cwd)),
        stdin=content_of(disguise.hide_request(command.stdin)),
        files=digests_of(command.reads, disguise) if command.reads else {},
    )


def key_of(target: str, asked: Asked) -> str:
    """The same for requests that are the same; keys of JSON have no order."""
    matters: dict[str, Any] = msgspec.to_builtins(asked)
    matters.pop("headers", None)
    for content in (matters.get("body"), matters.get("stdin")):
        if content:
            content.pop("form", None)
    text = msgspec.json.encode([target, matters], order="sorted")
    return hashlib.sha256(text).hexdigest()[:_KEY_DIGITS]


def fit_headers(headers: Mapping[str, str], disguise: Disguise) -> dict[str, str]:
    """The headers that may be kept: none by which somebody could act for somebody else."""
    return {
        name.lower(): disguise.hide(value)
        for name, value in headers.items()
        if not _SECRET_HEADER.search(name.lower())
    }


def _program(run: tuple[str, ...], disguise: Disguise) -> tuple[str, ...]:
    """A program is where it was installed, which is not the same everywhere."""
    return PurePath(run[0]).name, *(_line(part, disguise) for part in run[1:])


def _line(text: str, disguise: Disguise) -> str:
    return disguise.secrets.steady(disguise.hide(text))


def _shortened(value: Any) -> Any:
    """Without the bytes of images: a digest tells them apart as well."""
    if isinstance(value, str):
        if len(value) < _LONG or not _ENCODED.fullmatch(value):
            return value
        digest = hashlib.sha256(value.encode()).hexdigest()
        return f"<{len(value)} characters of base64, sha256 {digest}>"
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items()}
    return value
