"""What can be wrong with a reference to a file."""

from pathlib import Path

from agentv.loading.files import SearchPath, read_attachment
from agentv.loading.mistake import Mistake
from agentv.model.problem import KeyPath


def find_file(reference: str, files: SearchPath, path: KeyPath) -> Path | Mistake:
    """The file that a reference leads to, or why it leads to none."""
    if not reference.strip():
        return _mistake(path, "the path is empty", "write the path of a file", "empty-value")
    found = files.find(reference)
    if found is None:
        tried = f"tried {', '.join(map(str, files.tried(reference)))}"
        near = files.suggest(reference)
        hint = f"did you mean '{near}'? {tried}" if near else tried
        return _mistake(path, f"no such file '{reference}'", hint, "missing-file")
    if not found.is_file():
        kind = "a folder" if found.is_dir() else "not a regular file"
        hint = "name a file in it" if found.is_dir() else "name a file of text"
        return _mistake(path, f"'{reference}' is {kind}", hint, "missing-file")
    return found


def check_text_file(reference: str, files: SearchPath, path: KeyPath) -> Mistake | None:
    """What is wrong with a reference to a file of text."""
    found = find_file(reference, files, path)
    if isinstance(found, Mistake):
        return found
    try:
        read_attachment(found)
    except UnicodeDecodeError:
        message = f"the file '{reference}' is not UTF-8 text"
        return _mistake(path, message, "save it as UTF-8", "not-utf8")
    except OSError as error:
        message = f"the file '{reference}' cannot be read: {error.strerror}"
        return _mistake(path, message, None, "unreadable")
    return None


def _mistake(path: KeyPath, message: str, hint: str | None, code: str) -> Mistake:
    return Mistake(path=path, message=message, hint=hint, code=code)
