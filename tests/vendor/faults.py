"""What goes wrong, and with which requests."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

Kind = Literal["status", "reset", "truncated", "broken_json", "hang", "slow_body", "raw", "cut_off"]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One reply that is none."""

    kind: Kind
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = "something is wrong"
    headers_at: Callable[[float], Mapping[str, str]] = lambda _now: {}
    """More headers, of a reply that is sent at a time (in seconds since the epoch)."""
    raw: bytes = b""
    """All that is sent before the connection ends."""
    said: Mapping[str, Any] = field(default_factory=dict)
    """More that stands in the body's `error`."""


RESET = Fault(kind="reset")
"""The connection breaks instead of a reply."""
TRUNCATED = Fault(kind="truncated")
"""The connection ends before the body does."""
BROKEN_JSON = Fault(kind="broken_json")
"""A whole body with half a document."""
HANG = Fault(kind="hang")
"""No reply, ever."""
SLOW_BODY = Fault(kind="slow_body")
"""Headers and a first byte, and then nothing, ever."""
CUT_OFF = Fault(kind="cut_off")
"""An answer that ends at its limit, and is paid for."""


def raw(head: str, body: bytes = b"") -> Fault:
    """These lines and these bytes, and then the end of the connection."""
    lines = "".join(f"{line}\r\n" for line in head.splitlines())
    return Fault(kind="raw", raw=lines.encode() + b"connection: close\r\n\r\n" + body)


def failure(status: int, message: str = "something is wrong", **headers: str) -> Fault:
    """An error in the vendor's own words, or in those of a proxy if they are a page: `<html>…`.

    `_` in the names of headers stands for `-`.
    """
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fault(kind="status", status=status, message=message, headers=named)


def refused(retry_after: str | None = None, **headers: str) -> Fault:
    """Too many requests."""
    if retry_after is not None:
        headers["retry_after"] = retry_after
    return failure(429, "slow down", **headers)


@dataclass(frozen=True, kw_only=True)
class Chances:
    """Faults by chance, the same for the same seed and case, whatever the order of requests."""

    faults: tuple[tuple[float, Fault], ...]
    """Each with its share of all cases, in [0, 1]."""
    tries: int = 1
    """Only so many requests of a case can fail."""
    seed: int = 0

    def fault(self, case: str, number: int) -> Fault | None:
        """What befalls a case's request; the first is number 0."""
        if number >= self.tries:
            return None
        chance = Random(f"{self.seed} {case} {number}").random()
        for share, fault in self.faults:
            chance -= share
            if chance < 0:
                return fault
        return None
