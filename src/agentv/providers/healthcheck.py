"""The probe that a target may ask for before its first request."""

from collections.abc import Iterator
from typing import Literal
from urllib.parse import urlsplit

from agentv.core.command_template import template_problems
from agentv.model.base import AuthoredRecord
from agentv.model.options import OptionProblem, Seconds

DEFAULT_SECONDS = 10.0

_KEYS = {"http": ("url",), "command": ("command_template", "cwd")}


class HealthCheck(AuthoredRecord, frozen=True, kw_only=True):
    """Whether the system under test is there: an HTTP GET, or a command.

    One record for both kinds, so that a key of the other kind can be explained.
    """

    type: Literal["http", "command"]
    url: str | None = None
    """`http`: must answer with a status of 200 to 299."""
    command_template: str | None = None
    """`command`: must exit with 0. Takes the placeholders of the target's own command."""
    cwd: str | None = None
    """`command`: the folder to run in; the target's when unset."""
    timeout_seconds: Seconds | None = None
    """The target's when unset, else 10."""

    def problems(self) -> Iterator[OptionProblem]:
        """Mistakes that the types alone do not show; their paths start in this block."""
        for kind, keys in _KEYS.items():
            for key in keys:
                if kind != self.type and getattr(self, key) is not None:
                    yield OptionProblem(
                        path=(key,),
                        message=f"`{key}` means nothing to a health check of type '{self.type}'",
                        hint=f"it belongs to `type: {kind}`",
                    )
        needed = _KEYS[self.type][0]
        if getattr(self, needed) is None:
            yield OptionProblem(
                path=(),
                message=f"a health check of type '{self.type}' needs `{needed}`",
                hint=f"add `{needed}`",
                code="missing-key",
            )
        elif self.type == "http":
            yield from _url_problems(self.url or "")
        else:
            yield from template_problems(self.command_template or "", ("command_template",))


def _url_problems(url: str) -> Iterator[OptionProblem]:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        valid = False
    if not valid:
        yield OptionProblem(
            path=("url",),
            message=f"'{url}' is not the address of a web service",
            hint="write it whole, such as http://127.0.0.1:8000/health",
        )
