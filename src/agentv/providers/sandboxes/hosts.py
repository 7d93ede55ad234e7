"""The hosts that an agent may reach, as an author writes them."""

import re
from collections.abc import Iterable
from ipaddress import ip_address

from agentv.model.base import Record

WEB_PORTS = frozenset({80, 443})
"""What a host stands for when no port is written."""

FIRST_ORDINARY_PORT = 1024

_FORM = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[^\s:/\[\]]+)(?::(?P<port>\d{1,5}))?", re.IGNORECASE)


class AllowedHost(Record, frozen=True, kw_only=True):
    """One entry of a `network` list."""

    host: str
    """In lower case; `*.example.com` stands for every name below `example.com`."""
    port: int | None = None
    """`None`: 80 and 443."""

    def covers(self, host: str, port: int) -> bool:
        """Whether a connection to a host and port is meant."""
        ports = WEB_PORTS if self.port is None else {self.port}
        name = plain_name(host)
        fits = name.endswith(self.host[1:]) if self.host.startswith("*.") else name == self.host
        return fits and port in ports

    @property
    def is_loopback(self) -> bool:
        """Whether it is this machine itself."""
        return is_loopback(self.host)


def parse_host(text: str) -> AllowedHost:
    """What an entry stands for: `host`, `host:port`, `*.domain` or `[::1]:port`.

    Raises:
        ValueError: It is none of these; the message says what to write.
    """
    if "://" in text:
        raise ValueError("write the host alone, such as api.example.com or 127.0.0.1:8901")
    match = _FORM.fullmatch(text)
    port = int(match["port"]) if match and match["port"] else None
    name = plain_name(match["host"]) if match else ""
    is_pattern = "*" in name
    if not name or (is_pattern and not re.fullmatch(r"\*(\.[^.*]+)+", name)):
        raise ValueError("write a host, a host with a port, or `*.` and a domain")
    if port is not None and not 0 < port < 65536:
        raise ValueError("a port is a number from 1 to 65535")
    if is_loopback(name) and (port is None or port < FIRST_ORDINARY_PORT):
        # The sandbox listens in its stead, and may not do so on the privileged ports.
        raise ValueError(f"write a port of this machine from {FIRST_ORDINARY_PORT} on")
    return AllowedHost(host=name, port=port)


def covers(allowed: Iterable[AllowedHost], host: str, port: int) -> bool:
    """Whether one of the entries means this connection."""
    return any(entry.covers(host, port) for entry in allowed)


def plain_name(host: str) -> str:
    """A host in the one form in which hosts are compared."""
    return host.lower().strip("[]").rstrip(".")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself, by its name alone."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
