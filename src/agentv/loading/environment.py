"""`.env` files, and `${{ VAR }}` in string values."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentv.loading.mistake import Mistake
from agentv.loading.nearest import did_you_mean
from agentv.model.problem import KeyPath

_REFERENCE = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Environment:
    """The process environment over a `.env` file."""

    values: Mapping[str, str]
    file: Path | None = None
    from_file: frozenset[str] = frozenset()
    """The names that only the `.env` file sets."""


@dataclass
class Interpolation:
    """What replacing variables in a tree came to."""

    tree: Any
    used: dict[str, str] = field(default_factory=dict)
    """Each variable that was put in, with its value."""
    keys: dict[str, set[str]] = field(default_factory=dict)
    """Each variable, with the keys whose values it went into."""
    mistakes: list[Mistake] = field(default_factory=list)


def load_environment(folders: Iterable[Path], process_env: Mapping[str, str]) -> Environment:
    """The first `.env` on the way, under the process environment, which wins."""
    for folder in folders:
        path = folder / ".env"
        if path.is_file():
            values = _read_env_file(path)
            return Environment(
                values={**values, **process_env},
                file=path,
                from_file=frozenset(values.keys() - process_env.keys()),
            )
    return Environment(values=dict(process_env))


def interpolate(tree: Any, env: Mapping[str, str], path: KeyPath, owner: str) -> Interpolation:
    """Replace every `${{ VAR }}` in the strings of a tree.

    Args:
        tree: Any value of a document.
        env: Where variables come from.
        path: The tree's place in its document, for mistakes.
        owner: Whose value it is, for messages: `target 'default'`.

    A variable that is unset or empty is a mistake; its reference is left standing.
    """
    done = Interpolation(tree=None)
    done.tree = _replace(tree, env, path, owner, done)
    return done


def _replace(
    value: Any, env: Mapping[str, str], path: KeyPath, owner: str, done: Interpolation
) -> Any:
    if isinstance(value, dict):
        return {key: _replace(item, env, (*path, key), owner, done) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace(item, env, (*path, i), owner, done) for i, item in enumerate(value)]
    if isinstance(value, str) and "${{" in value:
        return _REFERENCE.sub(lambda match: _lookup(match, env, path, owner, done), value)
    return value


def _lookup(
    match: re.Match[str], env: Mapping[str, str], path: KeyPath, owner: str, done: Interpolation
) -> str:
    name = match[1].strip()
    if not _NAME.fullmatch(name):
        message = f"'{match[0]}' does not name a variable"
        hint = "write ${{ NAME }} with letters, digits and underscores"
        done.mistakes.append(Mistake(path=path, message=message, hint=hint, code="variable-name"))
        return match[0]
    if not (value := env.get(name)):
        state = "is empty" if name in env else "is not set"
        message = f"the variable {name} {state}, and {owner} needs it for '{path[-1]}'"
        hint = did_you_mean(name, env) or f"set it in the environment or in a .env file: {name}=…"
        done.mistakes.append(Mistake(path=path, message=message, hint=hint, code="unset-variable"))
        return match[0]
    done.used[name] = value
    done.keys.setdefault(name, set()).add(next(p for p in reversed(path) if isinstance(p, str)))
    return value


def _read_env_file(path: Path) -> dict[str, str]:
    # Imported here: most projects have no .env, and start-up should not pay for it.
    from dotenv import dotenv_values

    values = dotenv_values(path, encoding="utf-8")
    return {name: value for name, value in values.items() if value is not None}
