"""Reading a journal back, a row at a time."""

from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

import msgspec

from agentv.errors import SetupError
from agentv.model.row_view import RowView

T = TypeVar("T")


class Rows(Generic[T]):
    """The rows of a journal; each iteration reads the file anew, a line at a time."""

    torn: bool = False
    """Whether the last line was cut off in the middle; it is set aside, and known at the end."""

    def __init__(self, path: Path, type_: type[T]) -> None:
        self._path = path
        self._decoder = msgspec.json.Decoder(type_)

    def __iter__(self) -> Iterator[T]:
        self.torn = False
        with _open_to_read(self._path) as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    self.torn = True
                    return
                try:
                    row = self._decoder.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    if not line.strip():  # an editor's doing; nothing is lost by it
                        continue
                    misfit = isinstance(error, msgspec.ValidationError)
                    if misfit or file.peek(1):
                        raise self._mistake(number, error) from error
                    self.torn = True
                    return
                yield row

    def _mistake(self, number: int, error: Exception) -> SetupError:
        return SetupError(
            f"{self._path}:{number}: this line is not a result row ({error}). Something other "
            "than AgentV changed the file; restore it, or take the line out to go on without it."
        )


@overload
def open_rows(path: Path) -> Rows[RowView]: ...
@overload
def open_rows(path: Path, type_: type[T]) -> Rows[T]: ...
def open_rows(path: Path, type_: type[Any] = RowView) -> Rows[Any]:
    """Read a journal in constant memory.

    Args:
        path: The journal.
        type_: What a line becomes: a slim `RowView`, a whole `TrialResult`, a plain `dict`.

    Raises:
        SetupError: While iterating: the file cannot be read, or a line is not a row.
    """
    return Rows(path, type_)


def _open_to_read(path: Path) -> BufferedReader:
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        raise SetupError(f"{path} does not exist, so there are no rows to read.") from error
    except OSError as error:
        raise SetupError(f"{path} cannot be read: {error.strerror}.") from error
