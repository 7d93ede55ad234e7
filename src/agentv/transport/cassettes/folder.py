"""A cassette on disk: a header, and a file for each exchange that a person can read and compare.

`<folder>/<target>/<case>/<number>.json`. A file is there whole or not at all, whatever ends us.
"""

import os
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import msgspec

from agentv.errors import SetupError
from agentv.model.base import Record
from agentv.model.exchange import CassetteHeader, Exchange

_HEADER = "cassette.json"
_FORMAT = 1
_NOT_IN_NAMES = re.compile(r"[^a-z0-9._-]+")
_LONGEST_NAME = 60
_LOST = ".lost"

T = TypeVar("T", bound=msgspec.Struct)


class _Format(Record, frozen=True, kw_only=True):
    """Looked at first: a later one has keys that are not known here."""

    format: int = _FORMAT


class CassetteFolder:
    """The files of one cassette.

    Args:
        path: Its folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def is_cassette(self) -> bool:
        """Whether something was recorded here."""
        return (self.path / _HEADER).is_file()

    def refuse_other_things(self) -> None:
        """See that a cassette may be made here.

        Raises:
            SetupError: There is a file of that name, or a folder of other things.
        """
        if self.path.exists() and not self.path.is_dir():
            raise SetupError(f"{self.path} is a file, so no cassette can be recorded there.")
        if self.path.is_dir() and not self.is_cassette and any(self.path.iterdir()):
            raise SetupError(
                f"{self.path} holds other things than a cassette: name a new or an empty folder."
            )

    def header(self) -> CassetteHeader:
        """What is true of the whole cassette.

        Raises:
            SetupError: There is no cassette, or none that can be read.
        """
        path = self.path / _HEADER
        if not self.is_cassette:
            raise SetupError(
                f"{self.path} holds no cassette (there is no {_HEADER} in it); "
                f"record one with --record {self.path}."
            )
        found = _read(path, _Format).format
        if found != _FORMAT:
            raise SetupError(f"{path} has format {found}; this version of AgentV reads {_FORMAT}.")
        return _read(path, CassetteHeader)

    def write_header(self, header: CassetteHeader) -> None:
        """Raises `SetupError` when it cannot be written."""
        try:
            _write(self.path / _HEADER, header)
        except OSError as error:
            raise SetupError(f"{self.path} cannot be written: {error.strerror}.") from error

    def add(self, place: Path, exchange: Exchange, instead_of: Iterable[Path] = ()) -> None:
        """Write an exchange down; raises `OSError`.

        Args:
            place: Its file.
            exchange: What is written.
            instead_of: Recordings that go; they stay when there is no space for the new one.
        """
        _write(place, exchange, instead_of)
        _lost(place).unlink(missing_ok=True)

    def mark_lost(self, place: Path, exchange: Exchange) -> None:
        """Note what an exchange is unless it is added later; raises `OSError`."""
        _write(_lost(place), exchange)

    def tidy(self, case_folder: Path, *, keep_lost: bool) -> None:
        """Remove what a kill left half-written; raises `OSError`.

        Args:
            case_folder: A case's folder.
            keep_lost: Whether exchanges that were noted and never added count from here on.
        """
        for draft in case_folder.glob(".*.tmp"):
            draft.unlink(missing_ok=True)
        for lost in case_folder.glob(f"*{_LOST}"):
            if keep_lost:
                lost.replace(lost.with_name(lost.name.removesuffix(_LOST)))
            else:
                lost.unlink(missing_ok=True)

    def case_folder(self, target: str, eval_id: str, trial: int) -> Path:
        """Where a trial's exchanges with a target are."""
        return self.path / _name(target) / _case_name(eval_id, trial)

    def case_folders(self, eval_id: str, trial: int) -> Iterator[Path]:
        """Where a trial's exchanges with any target are, as far as there are any."""
        return self.path.glob(f"*/{_case_name(eval_id, trial)}")

    def files_of(self, case_folder: Path) -> list[Path]:
        """The recordings in a case's folder, in the order in which they were made."""
        return sorted(case_folder.glob("*.json"), key=_in_order)

    def exchanges(self) -> Iterator[tuple[Path, Exchange]]:
        """Every exchange with its file, in the order in which they were recorded."""
        for path in sorted(self.path.glob("*/*/*.json"), key=_in_order):
            yield path, _read(path, Exchange)

    def read(self, path: Path) -> Exchange:
        """One exchange; raises `SetupError`."""
        return _read(path, Exchange)

    def shown(self, path: Path) -> str:
        """A file's name within the cassette."""
        return str(path.relative_to(self.path))


def _in_order(path: Path) -> tuple[str, int, str]:
    number = int(path.stem) if path.stem.isdigit() else 0
    return str(path.parent), number, path.name


def _lost(place: Path) -> Path:
    return place.with_name(f"{place.name}{_LOST}")


def _case_name(eval_id: str, trial: int) -> str:
    return _name(eval_id or "-", trial)


def _name(text: str, trial: int = 1) -> str:
    """A folder's name that a person recognises, and that no other text has."""
    plain = _NOT_IN_NAMES.sub("-", text.lower()).strip(".-_")[:_LONGEST_NAME]
    if plain != text:
        # Some systems take `A` and `a` for the same name.
        plain = f"{plain or '-'}~{sha256(text.encode('utf-8', 'replace')).hexdigest()[:6]}"
    return plain if trial == 1 else f"{plain}~trial-{trial}"


def _write(path: Path, record: msgspec.Struct, instead_of: Iterable[Path] = ()) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        draft.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
        for gone in instead_of:
            gone.unlink(missing_ok=True)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _read(path: Path, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise SetupError(f"{path} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SetupError(
            f"{path} is no recording that can be understood: {error}. Mend it, or record anew."
        ) from error
