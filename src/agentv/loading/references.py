"""What can be wrong with a reference to a file."""

import re
from pathlib import Path

from agentv.loading.files import SearchPath, read_attachment
from agentv.loading.media import IMAGES, PDF, Format, head_of, held_format, named_format
from agentv.loading.mistake import Mistake
from agentv.model.problem import KeyPath

_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*://|data:)", re.IGNORECASE)
_LONGEST_SHOWN = 60


def find_file(reference: str, files: SearchPath, path: KeyPath) -> Path | Mistake:
    """The file that a reference leads to, or why it leads to none."""
    if not reference.strip():
        return _mistake(path, "the path is empty", "write the path of a file", "empty-value")
    found = files.find(reference)
    if found is None and _ADDRESS.match(reference):
        return _not_a_path(reference, path)
    if found is None:
        tried = f"tried {', '.join(map(str, files.tried(reference)))}"
        near = files.suggest(reference)
        hint = f"did you mean '{near}'? {tried}" if near else tried
        return _mistake(path, f"no such file '{reference}'", hint, "missing-file")
    if not found.is_file():
        kind = "a folder" if found.is_dir() else "not a regular file"
        hint = "name a file in it" if found.is_dir() else "name one that is"
        return _mistake(path, f"'{reference}' is {kind}", hint, "missing-file")
    return found


def check_file(reference: str, files: SearchPath, path: KeyPath) -> Mistake | None:
    """What is wrong with a reference to a file of text, or to a PDF."""
    found = find_file(reference, files, path)
    if isinstance(found, Mistake):
        return found
    try:
        if named_format(found) is PDF:
            return _check_content(reference, found, PDF, path)
        read_attachment(found)
    except UnicodeDecodeError:
        return _not_text(reference, found, path)
    except OSError as error:
        return _unreadable(reference, error, path)
    return None


def check_image(reference: str, files: SearchPath, path: KeyPath) -> Mistake | None:
    """What is wrong with a reference to an image."""
    found = find_file(reference, files, path)
    if isinstance(found, Mistake):
        return found
    named = named_format(found)
    try:
        if named is not None and named is not PDF:
            return _check_content(reference, found, named, path)
        held = held_format(head_of(found))
    except OSError as error:
        return _unreadable(reference, error, path)
    if held is PDF:
        return _media_type(path, f"'{reference}' is a PDF, not an image", "write `type: file`")
    if held is None:
        message, hint = f"'{reference}' is not a {IMAGES} image", "save it as one of these"
        return _media_type(path, message, hint)
    message = f"'{reference}' holds a {held.words}, which its name does not say"
    return _media_type(path, message, _rename(reference, held))


def _check_content(reference: str, found: Path, named: Format, path: KeyPath) -> Mistake | None:
    """Whether a file holds what its name says. Raises `OSError` when it cannot be read."""
    held = held_format(head_of(found))
    if held is named:
        return None
    if held is not None:
        message = f"'{reference}' is named like a {named.words}, but holds a {held.words}"
        return _media_type(path, message, _rename(reference, held))
    message = f"'{reference}' is named like a {named.words}, but does not begin like one"
    hint = "it may be empty, damaged or of another format: look at it, and save it anew"
    return _media_type(path, message, hint)


def _rename(reference: str, held: Format) -> str:
    try:
        return f"rename it to '{Path(reference).with_suffix(held.suffixes[0])}'"
    except ValueError:  # a name without letters
        return f"give it a name that ends in {held.suffixes[0]}"


def _not_text(reference: str, found: Path, path: KeyPath) -> Mistake:
    held = held_format(head_of(found))
    if held is PDF:
        message = f"'{reference}' holds a PDF, which its name does not say"
        return _media_type(path, message, _rename(reference, PDF))
    if held is not None:
        message = f"'{reference}' is a {held.words}, not text"
        return _media_type(path, message, "write `type: image`")
    message = f"the file '{reference}' is not UTF-8 text"
    hint = f"save it as UTF-8; what is not text can be a PDF, or with `type: image` a {IMAGES}"
    return _mistake(path, message, f"{hint} image", "not-utf8")


def _not_a_path(reference: str, path: KeyPath) -> Mistake:
    shown = reference[:_LONGEST_SHOWN] + ("…" if len(reference) > _LONGEST_SHOWN else "")
    message = f"'{shown}' is an address, not the path of a file"
    hint = "save it as a file and name that: what an address leads to may change"
    return _mistake(path, message, hint, "missing-file")


def _unreadable(reference: str, error: OSError, path: KeyPath) -> Mistake:
    message = f"the file '{reference}' cannot be read: {error.strerror}"
    return _mistake(path, message, None, "unreadable")


def _media_type(path: KeyPath, message: str, hint: str) -> Mistake:
    return _mistake(path, message, hint, "media-type")


def _mistake(path: KeyPath, message: str, hint: str | None, code: str) -> Mistake:
    return Mistake(path=path, message=message, hint=hint, code=code)
