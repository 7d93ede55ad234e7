"""Which of a target's values must never be shown."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agentv.loading.environment import Interpolation, has_variable
from agentv.model.problem import KeyPath, key_path

REDACTED = "[redacted]"

_PUBLIC_KEYS = frozenset(
    [
        *("name", "provider", "version", "api_version", "model"),
        *("endpoint", "base_url", "url", "resource", "resource_name"),
        *("deployment", "deployment_name", "executable", "workspace_template"),
        *("cwd", "log_dir", "workers", "timeout_seconds"),
        *("temperature", "top_p", "seed", "stop", "max_output_tokens", "max_tokens"),
        *("reasoning_effort", "thinking_budget"),
        *("readable", "writable", "hidden", "image", "network", "memory"),
    ]
)
_SECRET_WORDS = ("key", "token", "secret", "password", "passwd", "authorization", "credential")
_SHORTEST = 4
"""Shorter values would smear over ordinary text."""
_PASSWORD = re.compile(r"://[^/@\s:]*:([^/@\s${}]+)@")
"""In the URL of a service."""
_IN_HEADER = re.compile(r"(?:bearer|basic|token)\s+(\S+)", re.I)


def secrets_of(
    filled: Interpolation, settings: Mapping[str, Any], target: str
) -> Iterator[tuple[str, str]]:
    """Name and value of each secret.

    These are the values of variables, except of those that neither by their name nor by their
    keys (a model, a folder) look like secrets, literals under keys that name secret things, and
    the passwords in URLs; the name of a literal is `target.key`, so that the keys of two targets
    stay apart.
    """
    for name, value in filled.used.items():
        is_public = filled.keys[name] <= _PUBLIC_KEYS and not is_secret_name(name)
        secret = _password(value) if is_public else value
        if secret and len(secret) >= _SHORTEST:
            yield name, secret
    for path, value in _literal_secrets(settings):
        if len(value) >= _SHORTEST:
            yield f"{target}.{key_path(path)}", value
            # A service may repeat what stands after `Bearer` alone.
            if found := _IN_HEADER.fullmatch(value):
                yield f"{target}.{key_path(path)} token", found[1]


def without_secrets(value: Any, key: str = "") -> Any:
    """Settings as written, with literal secrets blotted out."""
    if isinstance(value, dict):
        return {name: without_secrets(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [without_secrets(item, key) for item in value]
    secret = _literal_secret(key, value)
    return value.replace(secret, REDACTED) if secret else value


def literal_secrets(settings: Mapping[str, Any]) -> list[KeyPath]:
    """The places that hold a secret in plain text."""
    return [path for path, _ in _literal_secrets(settings)]


def is_secret_name(name: str) -> bool:
    """Whether a key or variable of this name is likely to hold a secret."""
    return name.lower().endswith(_SECRET_WORDS)


def _literal_secrets(
    value: Any, path: KeyPath = (), key: str = ""
) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _literal_secrets(item, (*path, name), name)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _literal_secrets(item, (*path, index), key)
    elif secret := _literal_secret(key, value):
        yield path, secret


def _literal_secret(key: str, value: Any) -> str | None:
    if not isinstance(value, str) or has_variable(value):
        return None
    return value if is_secret_name(key) else _password(value)


def _password(value: str) -> str | None:
    found = _PASSWORD.search(value)
    return found[1] if found else None
