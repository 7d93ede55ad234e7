"""What a command was given to read, and what it changed: files in and out of a cassette."""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from agentv.model.exchange import KeptFile
from agentv.transport.cassettes.content import bytes_of, content_of
from agentv.transport.cassettes.disguise import Disguise

LARGEST_FILE = 32 * 1024 * 1024
MOST_BYTES = 64 * 1024 * 1024
"""Of all that one command wrote."""
_NAMED = 100
"""Files that are told one by one; more are one digest."""
_NOT_LOOKED_AT = frozenset({".git"})
"""Full of times and of what follows from other files."""

State = Mapping[Path, tuple[int, ...]]
"""Tells whether a file was touched."""


class TooMuchWrittenError(Exception):
    """More than a cassette takes; its text says what."""


def state_of(places: Iterable[Path]) -> State:
    """The files, links and folders at and below some paths, as they are now."""
    return {path: _signs(path) for path in _files(places, with_folders=True)}


def changes_since(before: State, places: Sequence[Path], disguise: Disguise) -> dict[str, KeptFile]:
    """What became of the files since.

    Raises:
        TooMuchWrittenError: It is too much to be kept.
    """
    after = state_of(places)
    # Folders come with what is in them: only those are told that are empty, or were a file.
    holding = {path.parent for path in after if path not in before}
    changed = [
        path
        for path, signs in after.items()
        if before.get(path) != signs and (path in before or path not in holding)
    ]
    room = MOST_BYTES
    found = {}
    for path in changed:
        kept, size = _kept(path, disguise)
        room -= size
        if room < 0:
            megabytes = MOST_BYTES // 1024 // 1024
            raise TooMuchWrittenError(f"it wrote more than {megabytes} MB")
        found[disguise.hide(str(path))] = kept
    gone = {disguise.hide(str(path)): KeptFile() for path in before if path not in after}
    return dict(sorted({**found, **gone}.items()))


def put_back(files: Mapping[str, KeptFile], places: Sequence[Path], disguise: Disguise) -> None:
    """Do to the files what the command did, nowhere but at and below the places.

    Raises:
        ValueError: A path leads elsewhere.
        OSError: A file cannot be written.
    """
    there = {Path(disguise.show(name)): kept for name, kept in files.items()}
    # What is in a folder goes before the folder; all goes before anything comes in its place.
    for path in sorted(there, reverse=True):
        _refuse_elsewhere(path, places)
        _remove(path)
    for path, kept in there.items():
        _refuse_elsewhere(path, places)
        if kept != KeptFile():
            path.parent.mkdir(parents=True, exist_ok=True)
        if kept.is_folder:
            path.mkdir(exist_ok=True)
        elif kept.link is not None:
            path.symlink_to(disguise.show(kept.link))
        elif kept.content is not None:
            path.write_bytes(disguise.show_bytes(bytes_of(kept.content)))
            path.chmod(0o755 if kept.is_executable else 0o644)


def digests_of(places: Sequence[Path], disguise: Disguise) -> dict[str, str]:
    """A digest of each file at and below some paths; one of all if they are many."""
    found = {
        disguise.hide(str(path)): _digest(path, disguise) for path in sorted(set(_files(places)))
    }
    if len(found) <= _NAMED:
        return found
    listed = "\n".join(f"{name} {digest}" for name, digest in found.items())
    return {f"{len(found)} files": hashlib.sha256(listed.encode("utf-8", "replace")).hexdigest()}


def _remove(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        with suppress(OSError):  # what has come into it since is not ours to remove
            path.rmdir()


def _files(places: Iterable[Path], *, with_folders: bool = False) -> Iterator[Path]:
    for place in places:
        if not place.is_dir():
            yield from (path for path in (place,) if _is_kept(path))
            continue
        for folder, folders, files in os.walk(place):
            here = Path(folder)
            links = [name for name in folders if (here / name).is_symlink()]
            folders[:] = [name for name in folders if name not in _NOT_LOOKED_AT]
            if with_folders:
                yield from (here / name for name in folders if name not in links)
            yield from (here / name for name in (*files, *links) if _is_kept(here / name))


def _is_kept(path: Path) -> bool:
    """Whether it is a file or a link: a pipe could be read for ever."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def _signs(path: Path) -> tuple[int, ...]:
    state = path.lstat()
    if stat.S_ISDIR(state.st_mode):
        return ()  # its times are those of what is in it
    return state.st_ino, state.st_mode, state.st_size, state.st_mtime_ns, state.st_ctime_ns


def _kept(path: Path, disguise: Disguise) -> tuple[KeptFile, int]:
    state = path.lstat()
    if stat.S_ISDIR(state.st_mode):
        return KeptFile(is_folder=True), 0
    if stat.S_ISLNK(state.st_mode):
        return KeptFile(link=disguise.hide(str(path.readlink()))), 0
    if state.st_size > LARGEST_FILE:
        megabytes = LARGEST_FILE // 1024 // 1024
        raise TooMuchWrittenError(f"it wrote a file larger than {megabytes} MB, {path.name}")
    content = content_of(disguise.hide_bytes(path.read_bytes()))
    return KeptFile(
        content=content, is_executable=bool(state.st_mode & stat.S_IXUSR)
    ), state.st_size


def _digest(path: Path, disguise: Disguise) -> str:
    try:
        if path.is_symlink():
            return f"link to {disguise.hide(str(path.readlink()))}"
        return hashlib.sha256(disguise.hide_request(path.read_bytes())).hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror}"


def _refuse_elsewhere(path: Path, places: Sequence[Path]) -> None:
    """A cassette may come from anybody: it must not choose what is written to."""
    where = path.parent.resolve() / path.name
    if ".." in path.parts or not any(where.is_relative_to(place.resolve()) for place in places):
        raise ValueError(f"it wrote a file where it had no business: {path}")
