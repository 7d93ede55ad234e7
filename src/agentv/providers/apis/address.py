"""Where an API is."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from agentv.model.options import OptionProblem


def endpoint_of(url: str) -> str:
    """Scheme and host of a URL, for lanes and messages: without a password that may be in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def versioned(base_url: str, version: str) -> str:
    """The base URL up to the API's version, whether or not the author wrote that down."""
    base = base_url.rstrip("/")
    last = base.rpartition("/")[2]
    is_versioned = last[:1] == "v" and last[1:2].isdigit()
    return base if is_versioned else f"{base}/{version}"


def access_problems(
    target: str, key: str | None, base_url: str | None, *, variable: str
) -> Iterator[OptionProblem]:
    """A base URL that is none, and a key that the vendor's own address needs.

    Args:
        target: Its name.
        key: Its API key, if it has one.
        base_url: Its address, if it is not the vendor's own.
        variable: What people call the variable with this vendor's key.
    """
    if base_url is None and not key:
        yield missing_key(target, variable)
    elif base_url is not None and not is_http(base_url):
        yield OptionProblem(
            path=("base_url",),
            message=f"'{base_url}' is not a URL",
            hint="write it with its scheme and host: `https://llm.example.com`",
        )


def missing_key(target: str, variable: str) -> OptionProblem:
    """A target without the key that it needs."""
    return OptionProblem(
        path=(),
        message=f"target '{target}' has no 'api_key'",
        hint=f"add `api_key: ${{{{ {variable} }}}}`, with the name of the variable that holds it",
        code="missing-key",
    )


def is_http(url: str) -> bool:
    """Whether a text is the URL of a web service, with its scheme and host."""
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
