"""What a program needs to see of a file system that is partly hidden.

A coding agent is seldom one file. An npm package is a link in `node_modules/.bin` to a script deep
in `node_modules`, run by a `node` that a version manager keeps in the home folder; a Python tool
is a script in an environment whose interpreter is a link to yet another place.
"""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from agentv.providers.sandboxes.view import View

_LONGEST_CHAIN = 64
_PROGRAM_FOLDERS = frozenset({"bin", "sbin", "shims"})


class Needs(msgspec.Struct):
    """Hidden places that a program cannot do without."""

    places: list[Path] = []
    """Files and folders."""
    links: dict[Path, str] = {}
    """Symbolic links in folders that stay hidden, with what they hold."""


def needs_of(program: Path, view: View, search_path: str) -> Needs:
    """What of the hidden places a program needs: itself, its links, its interpreter.

    Args:
        program: An absolute path.
        view: Says what is hidden.
        search_path: `PATH`, for the interpreters that scripts name.
    """
    needs = Needs()
    for file in _chain(program, search_path):
        if not view.hides(file):
            continue
        folder = _installation(file)
        if view.spares(folder):
            needs.places.append(folder)
        elif file.is_symlink():
            needs.links[file] = os.readlink(file)  # noqa: PTH115 - as it is, also when relative
        else:
            needs.places.append(file)
    return needs


def _chain(program: Path, search_path: str) -> Iterator[Path]:
    """The program and every link and interpreter on the way to the code that runs."""
    todo, seen = [program], set[Path]()
    while todo and len(seen) < _LONGEST_CHAIN:
        file = todo.pop()
        if file in seen or not os.path.lexists(file):
            continue
        seen.add(file)
        yield file
        if file.is_symlink():
            folder = Path(os.path.realpath(file.parent))
            todo.append(Path(os.path.normpath(folder / file.readlink())))
            continue
        todo.append(Path(os.path.realpath(file)))
        interpreter = _interpreter(file, search_path)
        if interpreter is not None:
            todo.append(interpreter)


def _installation(file: Path) -> Path:
    """The folder that makes a program whole: what its package manager put there."""
    parts = file.parts
    if "node_modules" in parts:
        return Path(*parts[: parts.index("node_modules") + 1])
    if file.parent.name in _PROGRAM_FOLDERS:
        return file.parent.parent
    return file.parent


def _interpreter(script: Path, search_path: str) -> Path | None:
    """What the first line of a script names; `None` for any other file."""
    try:
        with script.open("rb") as stream:
            line = stream.readline(1024)
    except OSError:
        return None
    if not line.startswith(b"#!"):
        return None
    words = line[2:].decode(errors="replace").split()
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not re.match(r"-|\w+=", word)]
    if not words:
        return None
    found = shutil.which(words[0], path=search_path)
    return Path(found) if found else None
