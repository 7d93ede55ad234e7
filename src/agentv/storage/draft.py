"""A file that takes another's place once it is whole."""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from agentv.core.json_text import to_json
from agentv.errors import SetupError
from agentv.model.prior import Prior
from agentv.model.step import Answered, Judged, step_key
from agentv.model.trial import Trial
from agentv.storage.durable import sync_folder


class Draft:
    """Written beside the file whose place it takes; gone when it is left before that.

    Raises:
        SetupError: It cannot be written; the file is as it was then.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        self._file: IO[bytes] | None = None
        self.size = 0
        """Bytes so far: where the next line begins."""

    def __enter__(self) -> Self:
        try:
            self._file = self._draft.open("wb")
        except OSError as error:
            raise _unwritable(self._path, error) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._file is not None:
            with suppress(OSError):  # what it still wants to write is not wanted any more
                self._file.close()
            self._draft.unlink(missing_ok=True)

    def write(self, record: object) -> None:
        """Add a record as a line of JSON."""
        self.add(to_json(record) + b"\n")

    def write_answer(self, trial: Trial, prior: Prior) -> int:
        """Add the steps of an answer and of what was said of it; where they begin."""
        place, key = self.size, step_key(trial)
        self.write(
            Answered(
                **key,
                digest=trial.digest,
                attempts=prior.attempts,
                duration_ms=prior.duration_ms,
                response=prior.response,
            )
        )
        for result in prior.verdicts:
            self.write(Judged(**key, result=result))
        return place

    def add(self, line: bytes) -> None:
        """Add a line, its end with it."""
        assert self._file is not None  # noqa: S101 - used as a context manager only
        try:
            self._file.write(line)
        except OSError as error:
            raise _unwritable(self._path, error) from error
        self.size += len(line)

    def add_file(self, path: Path) -> None:
        """Add all that a file holds."""
        assert self._file is not None  # noqa: S101 - used as a context manager only
        try:
            with path.open("rb") as file:
                shutil.copyfileobj(file, self._file)
        except OSError as error:
            raise _unwritable(self._path, error) from error

    def take_its_place(self) -> None:
        """There is the file, whole, also after a power cut."""
        assert self._file is not None  # noqa: S101 - used as a context manager only
        file, self._file = self._file, None
        try:
            with file:
                file.flush()
                os.fsync(file.fileno())
            self._draft.replace(self._path)
            sync_folder(self._path.parent)
        except OSError as error:
            self._draft.unlink(missing_ok=True)
            raise _unwritable(self._path, error) from error


def _unwritable(path: Path, error: OSError) -> SetupError:
    """What to say of a file that the disk refuses."""
    return SetupError(f"{path} cannot be written: {error.strerror}.")
