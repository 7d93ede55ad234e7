"""From paths, globs and folders on a command line to files, each of a known kind."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

import msgspec

from agentv.errors import AuthorError
from agentv.loading.case_file import SuiteFile
from agentv.loading.mistake import DocumentError
from agentv.loading.nearest import nearest
from agentv.loading.project import show
from agentv.loading.yaml12 import parse_yaml

FileKind = Literal["eval", "targets", "config"]

_SUFFIXES = (".yaml", ".yml")
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv"})
_OUR_OUTPUT = frozenset({"results", "logs"})
_TOP_KEY = re.compile(r"^[\"']?([$A-Za-z_][\w$-]*)[\"']?\s*:(.*)$", re.MULTILINE)
_MARKS: dict[str, FileKind] = {
    "evalcases": "eval",
    "targets": "targets",
    "guideline_patterns": "config",
}
"""The key that only a file of a kind has."""
_NAMES: dict[str, FileKind] = {
    ".agentv.yaml": "config",
    ".agentv/config.yaml": "config",
    ".agentv/targets.yaml": "targets",
    ".agentv/targets.yml": "targets",
}
_OTHER_KEYS = frozenset(SuiteFile.__struct_fields__)
_NEAR = 0.8
"""As alike as two words are that differ by a slip: `cases` is another word than `evalcases`."""
_HEAD_BYTES = 65_536


class Discovered(msgspec.Struct):
    """The files that a command is to look at, each once, in the order they were named."""

    files: dict[Path, FileKind] = {}
    skipped: list[Path] = []
    """YAML files in folders that are not ours."""

    def of_kind(self, *kinds: FileKind) -> list[Path]:
        """The files of some kinds."""
        return [path for path, kind in self.files.items() if kind in kinds]


def discover(arguments: Sequence[str], cwd: Path) -> Discovered:
    """Find the files that arguments name.

    A file is taken whatever it is called; in folders and globs YAML files are taken when they look
    like ours, and counted as skipped when they do not.

    Raises:
        AuthorError: An argument names nothing; all such arguments are listed.
    """
    found = Discovered()
    lost: list[str] = []
    for argument in arguments:
        path = cwd / argument
        if path.is_dir():
            _take(_below(path), found)
        elif path.exists():
            found.files.setdefault(_absolute(path), kind_of(path) or "eval")
        elif matches := sorted(_glob(argument, cwd)):
            _take(matches, found)
        else:
            lost.append(_not_found(argument, cwd))
    if lost:
        raise AuthorError("\n".join(lost))
    return found


def is_found(argument: str, cwd: Path) -> bool:
    """Whether an argument names anything."""
    return (cwd / argument).exists() or any(True for _ in _glob(argument, cwd))


def kind_of(path: Path) -> FileKind | None:
    """What a YAML file is, judged by its top-level keys; `None` if it is not ours.

    A key that is nearly one of ours counts: a typo must lead to an error, not to silence.
    """
    for name in (path.name, f"{path.parent.name}/{path.name}"):
        if name in _NAMES:
            return _NAMES[name]
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
            found = _kind_of_text(head) or _kind_of_text(head + file.read())
    except OSError:
        return "eval"  # reading it will say why it cannot be read
    return found or ("eval" if ".eval." in path.name else None)


def _kind_of_text(data: bytes) -> FileKind | None:
    text = data.decode("utf-8-sig", "replace")
    keys = _flow_keys(text) if text.lstrip().startswith("{") else dict(_TOP_KEY.findall(text))
    schema = keys.get("$schema", "")
    for kind in _MARKS.values():
        if f"agentv-{kind}" in schema:
            return kind
    found = (kind for mark, kind in _MARKS.items() if mark in keys)
    near = (_nearly(key) for key in keys if key not in _OTHER_KEYS)
    return next(found, None) or next(filter(None, near), None)


def _flow_keys(text: str) -> dict[str, str]:
    """The top-level keys of a file that is written as JSON is."""
    try:
        tree = parse_yaml(text)
    except DocumentError:
        return {mark: "" for mark in _MARKS if mark in text}
    return {key: str(value) for key, value in tree.items()}


def _nearly(key: str) -> FileKind | None:
    close = get_close_matches(key.lower(), _MARKS, n=1, cutoff=_NEAR)
    return _MARKS[close[0]] if close else None


def _take(paths: Iterable[Path], found: Discovered) -> None:
    for path in paths:
        kind = kind_of(path)
        if kind is None:
            found.skipped.append(path)
        else:
            found.files.setdefault(_absolute(path), kind)


def _below(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        skipped = _SKIPPED_FOLDERS | (_OUR_OUTPUT if Path(parent).name == ".agentv" else set())
        folders[:] = sorted(
            name
            for name in folders
            if name not in skipped and (not name.startswith(".") or name == ".agentv")
        )
        yield from (Path(parent, name) for name in sorted(names) if name.endswith(_SUFFIXES))


def _glob(pattern: str, cwd: Path) -> Iterator[Path]:
    from wcmatch import glob

    flags = glob.GLOBSTAR | glob.BRACE | glob.EXTGLOB | glob.NODIR
    for match in glob.iglob(pattern, flags=flags, root_dir=str(cwd)):
        if match.endswith(_SUFFIXES):
            yield cwd / match


def _not_found(argument: str, cwd: Path) -> str:
    if any(sign in argument for sign in "*?[{"):
        return f"{argument}: no YAML file matches this pattern below {cwd}"
    path = Path(argument)
    folder = (cwd / path).parent
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    near = nearest(path.name, names)
    hint = f"; did you mean '{path.with_name(near)}'?" if near else ""
    return f"{show(cwd / path, cwd)}: no such file or folder{hint}"


def _absolute(path: Path) -> Path:
    return Path(os.path.normpath(path))
