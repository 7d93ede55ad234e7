"""Which of a target's values must never be shown."""

from collections.abc import Iterator, Mapping
from typing import Any

from agentv.loading.environment import Interpolation

REDACTED = "[redacted]"

_PUBLIC_KEYS = frozenset(
    [
        "model",
        "endpoint",
        "base_url",
        "resource",
        "resource_name",
        "deployment",
        "deployment_name",
        "version",
        "api_version",
        "cwd",
        "executable",
        "workers",
        "url",
        "log_dir",
        "workspace_template",
        "timeout_seconds",
        "name",
        "provider",
    ]
)
_SECRET_WORDS = ("key", "token", "secret", "password", "passwd", "authorization", "credential")
_SHORTEST = 4
"""Shorter values would smear over ordinary text."""


def secrets_of(filled: Interpolation, settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and value of each secret.

    These are the values of variables, except under keys that name public things (a model, a
    folder), and literals under keys that name secret ones (an `api_key`).
    """
    for name, value in filled.used.items():
        if not filled.keys[name] <= _PUBLIC_KEYS and len(value) >= _SHORTEST:
            yield name, value
    for key, value in _leaves(settings):
        if is_secret_name(key) and "${{" not in value and len(value) >= _SHORTEST:
            yield key, value


def without_secrets(value: Any, key: str = "") -> Any:
    """Settings as written, with literal secrets blotted out."""
    if isinstance(value, dict):
        return {name: without_secrets(item, name) for name, item in value.items()}
    if isinstance(value, str) and is_secret_name(key) and "${{" not in value:
        return REDACTED
    return value


def literal_secrets(settings: Mapping[str, Any]) -> list[str]:
    """The keys that hold a secret in plain text."""
    return [key for key, value in _leaves(settings) if is_secret_name(key) and "${{" not in value]


def is_secret_name(name: str) -> bool:
    """Whether a key or variable of this name is likely to hold a secret."""
    return name.lower().endswith(_SECRET_WORDS)


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, name)
    elif isinstance(value, str):
        yield key, value
