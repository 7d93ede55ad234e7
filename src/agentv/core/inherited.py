"""Which variables an agent inherits: a safe few, and its own."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

SAFE = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM", "TZ", "LANG", "LC_*"),
    # How this machine reaches the network, and whom it trusts there.
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"),
)
"""Nothing here opens a door by itself; every other variable may be somebody's secret."""


def inherited(env: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """The variables that have one of these names, or match one of these globs."""
    wanted = tuple(names)
    return {
        name: value
        for name, value in env.items()
        if any(fnmatchcase(name, pattern) for pattern in wanted)
    }
