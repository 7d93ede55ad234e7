"""A file that takes another's place once it is whole."""

import os
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
    """Written line by line beside the file that it becomes; a context manager.

    Left without `take_its_place` it is gone, and the file is as it was.

    Raises:
        SetupError: The folder cannot be written.
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
            raise unwritable(self._path, error) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._file is not None:
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
        """Add a line as it is."""
        assert self._file is not None  # noqa: S101 - used as a context manager only
        try:
            self._file.write(line)
        except OSError as error:
            raise unwritable(self._path, error) from error
        self.size += len(line)

    def take_its_place(self) -> None:
        """Be the file, also after a power cut."""
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
            raise unwritable(self._path, error) from error


def unwritable(path: Path, error: OSError) -> SetupError:
    """A file of a run that the disk does not take."""
    return SetupError(f"{path} cannot be written: {error.strerror}.")
