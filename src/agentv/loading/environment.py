"""`.env` files, and `${{ VAR }}` in string values."""

import re
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec

from agentv.loading.document import decode, read_bytes
from agentv.loading.mistake import Mistake
from agentv.loading.nearest import did_you_mean
from agentv.model.problem import KeyPath, LoadError, Problem

_REFERENCE = re.compile(r"\$\{\{(.*?)(?:\}\}|\Z)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Environment(msgspec.Struct, frozen=True):
    """The process environment over a `.env` file."""

    values: Mapping[str, str]
    file: Path | None = None
    from_file: frozenset[str] = frozenset()
    """The names that only the `.env` file sets."""


class Interpolation(msgspec.Struct):
    """What replacing variables in a tree came to."""

    tree: Any
    used: dict[str, str] = {}
    """Each variable that was put in, with its value."""
    keys: dict[str, set[str]] = {}
    """Each variable, with the keys whose values it went into."""
    mistakes: list[Mistake] = []


def load_environment(folders: Iterable[Path], process_env: Mapping[str, str]) -> Environment:
    """The first `.env` on the way, under the process environment, which wins.

    Raises:
        LoadError: The file is not UTF-8, cannot be read, or has a line that sets nothing.
    """
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


def has_variable(value: Any) -> bool:
    """Whether a value waits for a variable."""
    return isinstance(value, str) and "${{" in value


def variable_places(tree: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """The strings of a tree that wait for a variable, each with its place."""
    if isinstance(tree, dict):
        for key, item in tree.items():
            yield from variable_places(item, (*path, key))
    elif isinstance(tree, list):
        for index, item in enumerate(tree):
            yield from variable_places(item, (*path, index))
    elif has_variable(tree):
        yield path, tree


def malformed_references(tree: Any) -> list[Mistake]:
    """The `${{ … }}` in a tree that could never name a variable."""
    return [
        mistake
        for path, text in variable_places(tree)
        for match in _REFERENCE.finditer(text)
        if (mistake := _malformed(match, path))
    ]


def interpolate(tree: Any, env: Mapping[str, str], owner: str) -> Interpolation:
    """Replace every `${{ VAR }}` in the strings of a tree.

    Args:
        tree: Any value of a document.
        env: Where variables come from.
        owner: Whose value it is, for messages: `target 'default'`.

    A variable that is unset or empty is a mistake, and so is a reference that names none; such
    references are left standing.
    """
    done = Interpolation(tree=None)
    done.tree = _replace(tree, env, (), owner, done)
    return done


def _replace(
    value: Any, env: Mapping[str, str], path: KeyPath, owner: str, done: Interpolation
) -> Any:
    if isinstance(value, dict):
        return {key: _replace(item, env, (*path, key), owner, done) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace(item, env, (*path, i), owner, done) for i, item in enumerate(value)]
    if has_variable(value):
        return _REFERENCE.sub(lambda match: _lookup(match, env, path, owner, done), value)
    return value


def _lookup(
    match: re.Match[str], env: Mapping[str, str], path: KeyPath, owner: str, done: Interpolation
) -> str:
    if mistake := _malformed(match, path):
        done.mistakes.append(mistake)
        return match[0]
    name = match[1].strip()
    key = next((str(part) for part in reversed(path) if isinstance(part, str)), "")
    if not (value := env.get(name)):
        state = "is empty" if name in env else "is not set"
        message = f"the variable {name} {state}, and {owner} needs it for '{key}'"
        near = did_you_mean(name, (other for other in env if other != name))
        hint = near or f"set it in the environment or in a .env file: {name}=…"
        done.mistakes.append(Mistake(path=path, message=message, hint=hint, code="unset-variable"))
        return match[0]
    done.used[name] = value
    done.keys.setdefault(name, set()).add(key)
    return value


def _malformed(match: re.Match[str], path: KeyPath) -> Mistake | None:
    reference = match[0].split("\n", 1)[0].rstrip()
    if not match[0].endswith("}}"):
        message, hint = f"'{reference}' has no end", "close it with `}}`"
    elif not _NAME.fullmatch(match[1].strip()):
        message = f"'{reference}' does not name a variable"
        hint = "write ${{ NAME }} with letters, digits and underscores"
    else:
        return None
    return Mistake(path=path, message=message, hint=hint, code="variable-name")


def _read_env_file(path: Path) -> dict[str, str]:
    # Imported here: most projects have no .env, and start-up should not pay for it.
    from dotenv.parser import parse_stream

    shown = str(path)
    bindings = list(parse_stream(StringIO(decode(read_bytes(path, shown), shown))))
    problems = [_no_setting(shown, b.original.line, b.original.string) for b in bindings if b.error]
    if problems:
        raise LoadError(problems)
    return {b.key: b.value for b in bindings if b.key is not None and b.value is not None}


def _no_setting(shown: str, line: int, text: str) -> Problem:
    """A line that sets nothing; never quoted, since it may hold a secret."""
    blank = len(text) - len(text.lstrip())
    return Problem(
        file=shown,
        line=line + text[:blank].count("\n"),
        message="this line sets no variable",
        hint="write NAME=value, and quotes around a value that has quotes or line breaks",
        code="env-syntax",
    )
