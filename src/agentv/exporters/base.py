"""What an exporter is, and which one a file's name asks for."""

import os
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from agentv.errors import SetupError

Row = dict[str, Any]
"""A line of the journal as plain JSON values."""


class Exporter(Protocol):
    """Writes rows in one format."""

    def __call__(self, rows: Iterable[Row], file: BinaryIO) -> None:
        """Write all rows, holding no more of them at a time than the format demands."""


# Dotted paths, so that a format's needs are imported only when it is asked for.
EXPORTERS: dict[str, str] = {
    ".jsonl": "agentv.exporters.jsonl:write_jsonl",
    ".yaml": "agentv.exporters.yaml:write_yaml",
    ".yml": "agentv.exporters.yaml:write_yaml",
}


def exporter_for(path: Path) -> Exporter:
    """The exporter of a file's suffix, in any case.

    Raises:
        SetupError: No format has this suffix.
    """
    target = EXPORTERS.get(path.suffix.lower())
    if target is None:
        known = ", ".join(EXPORTERS)
        what = f"the suffix '{path.suffix}'" if path.suffix else "no suffix"
        raise SetupError(f"{path} cannot be exported to: it has {what}; known are {known}.")
    module, _, name = target.partition(":")
    return cast("Exporter", getattr(import_module(module), name))


def export(rows: Iterable[Row], path: Path) -> None:
    """Write rows to a file in the format of its suffix; its folder is made if need be.

    The file appears once it is whole: on any error, an older one stays as it was.

    Raises:
        SetupError: The suffix is unknown, or the file cannot be written.
    """
    exporter = exporter_for(path)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            exporter(rows, file)
        draft.replace(path)
    except OSError as error:
        raise SetupError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        _remove(draft)


def _remove(draft: Path) -> None:
    try:
        draft.unlink(missing_ok=True)
    except OSError:  # Its folder could not be made: then there is no draft.
        return
