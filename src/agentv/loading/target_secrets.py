"""Which of a target's values must never be shown."""

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
        *("readable", "writable", "hidden", "image", "network", "memory"),
    ]
)
_SECRET_WORDS = ("key", "token", "secret", "password", "passwd", "authorization", "credential")
_SHORTEST = 4
"""Shorter values would smear over ordinary text."""


def secrets_of(
    filled: Interpolation, settings: Mapping[str, Any], target: str
) -> Iterator[tuple[str, str]]:
    """Name and value of each secret.

    These are the values of variables, except of those that neither by their name nor by their
    keys (a model, a folder) look like secrets, and literals under keys that name secret things;
    the name of a literal is `target.key`, so that the keys of two targets stay apart.
    """
    for name, value in filled.used.items():
        is_public = filled.keys[name] <= _PUBLIC_KEYS and not is_secret_name(name)
        if not is_public and len(value) >= _SHORTEST:
            yield name, value
    for path, value in _literal_secrets(settings):
        if len(value) >= _SHORTEST:
            yield f"{target}.{key_path(path)}", value


def without_secrets(value: Any, key: str = "") -> Any:
    """Settings as written, with literal secrets blotted out."""
    if isinstance(value, dict):
        return {name: without_secrets(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [without_secrets(item, key) for item in value]
    return REDACTED if _is_literal_secret(key, value) else value


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
    elif _is_literal_secret(key, value):
        yield path, value


def _is_literal_secret(key: str, value: Any) -> bool:
    return isinstance(value, str) and is_secret_name(key) and not has_variable(value)
