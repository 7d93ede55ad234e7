"""A file of lines about trials, each line known by where it begins.

What is held of a line is its place, so files of any size fit; a line is read when it is wanted.
"""

from collections.abc import Iterator, Mapping
from io import BufferedReader
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any

import msgspec

from agentv.core.json_text import to_json
from agentv.errors import SetupError
from agentv.model.base import Record
from agentv.model.step import Step, decode_step

Key = tuple[str, str, str, int]
"""Suite, case, target, trial."""


class TrialKey(Record, frozen=True, kw_only=True):
    """By what a trial is known in a run: how every row, step and choice begins."""

    suite: str
    eval_id: str
    target: str
    trial: int

    @property
    def key(self) -> Key:
        """As one value."""
        return self.suite, self.eval_id, self.target, self.trial


class Lines:
    """The whole lines of a file, each known by where it begins."""

    def __init__(self, path: Path, what: str) -> None:
        self._path = path
        self._what = what
        self._file: BufferedReader | None = None
        self.torn = False

    @property
    def name(self) -> str:
        """The file's, without its folder."""
        return self._path.name

    def heads(self) -> Iterator[tuple[int, TrialKey]]:
        """Where each line begins, and whose it is."""
        decode = msgspec.json.Decoder(TrialKey).decode
        try:
            self._file = self._path.open("rb")
        except FileNotFoundError:
            return
        except OSError as error:
            raise SetupError(f"{self._path} cannot be read: {error.strerror}.") from error
        place = 0
        for number, line in enumerate(self._file, 1):
            try:
                head = decode(line) if line.endswith(b"\n") else None
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                if not line.strip():  # an editor's doing; nothing is lost by it
                    place += len(line)
                    continue
                if self._file.peek(1):
                    raise self._mistake(number, error) from error
                head = None
            if head is None:
                self.torn = True
                return
            yield place, head
            place += len(line)

    def read(self, place: int, type_: type[Any]) -> Any:
        """The line that begins at a place."""
        try:
            return msgspec.json.decode(self.line(place), type=type_)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._misfit(place, error) from error

    def line(self, place: int) -> bytes:
        """The line that begins at a place, as it is."""
        assert self._file is not None  # noqa: S101 - places come from `heads`
        self._file.seek(place)
        return self._file.readline()

    def where(self, place: int) -> str:
        """`results.jsonl:12` with its folder, for a message; counts lines."""
        with self._path.open("rb") as file:
            ends = accumulate(map(len, file))
            number = 1 + sum(1 for _ in takewhile(lambda end: end <= place, ends))
        return f"{self._path}:{number}"

    def step(self, place: int) -> Step:
        """The step whose line begins at a place."""
        try:
            step: Step = decode_step(self.line(place))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._misfit(place, error) from error
        return step

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def _misfit(self, place: int, error: Exception) -> SetupError:
        return SetupError(f"{self._path}: the line at byte {place} is not {self._what} ({error}).")

    def _mistake(self, number: int, error: Exception) -> SetupError:
        return SetupError(
            f"{self._path}:{number}: this line is not {self._what} ({error}). Something other than "
            "AgentV changed the file; restore it, or take the line out to go on without it."
        )


def called(line: bytes, names: Mapping[str, Any]) -> bytes:
    """The line of a trial whose suite, or what else is named, is called otherwise by now."""
    return to_json({**msgspec.json.decode(line), **names}) + b"\n"
