"""Joining the rows of several runs: each is copied once, as it was written.

What is held of a row is a hash and a place in a file, so runs of any size fit.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import islice
from types import TracebackType
from typing import Self

import msgspec

from agentv.errors import AuthorError
from agentv.model.base import Record
from agentv.model.run import RunManifest
from agentv.storage.draft import Draft
from agentv.storage.lines import Key, Lines, TrialKey, called
from agentv.storage.manifest import write_manifest
from agentv.storage.run_folder import RunFolder
from agentv.storage.run_lock import RunLock

_SHOWN = 5
"""How many trials an error message names."""

_Place = tuple[int, int]
"""Which of the runs, and where in its file the line begins."""


class MergePart(Record, frozen=True, kw_only=True):
    """One of the runs that are joined."""

    folder: RunFolder
    suites: Mapping[str, str]
    """How its suites are called in the merged run; others keep their names."""


class Merge:
    """Reads the runs; a context manager, since it holds files open.

    Raises:
        AuthorError: A trial has two rows that differ; the message names them.
        SetupError: A file cannot be read, or is not what it should be.
    """

    def __init__(self, parts: Sequence[MergePart]) -> None:
        self._renamed = [
            {old: new for old, new in part.suites.items() if old != new} for part in parts
        ]
        self._rows = [Lines(part.folder.journal_path, "a result row") for part in parts]
        self._steps = [Lines(part.folder.steps_path, "a step") for part in parts]
        self._row_at: dict[int, _Place] = {}
        self.repeated = 0
        """Rows that are in several of the runs, letter for letter; they count once."""

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for lines in (*self._rows, *self._steps):
                stack.callback(lines.close)
            self._find_rows()
            self._opened = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._opened.close()

    def write(self, folder: RunFolder, manifest: RunManifest) -> None:
        """Make the merged run, its manifest last: a folder without one holds no run.

        Raises:
            SetupError: The folder cannot be written.
        """
        with RunLock(folder.lock_path):
            folder.remove_drafts()
            try:
                self._fill(folder)
                write_manifest(folder.manifest_path, manifest)
            except BaseException:
                _leave_nothing(folder)
                raise

    def _fill(self, folder: RunFolder) -> None:
        with Draft(folder.journal_path) as rows, Draft(folder.steps_path) as steps:
            for part, at in self._row_at.values():
                rows.add(self._named(part, self._rows[part].line(at)))
            for line in self._unfinished():
                steps.add(line)
            if steps.size:
                steps.take_its_place()
            rows.take_its_place()

    def _find_rows(self) -> None:
        twice: list[tuple[TrialKey, _Place, _Place]] = []
        for part, lines in enumerate(self._rows):
            for at, head in lines.heads():
                known = self._row_at.setdefault(hash(self._key(part, head)), (part, at))
                if known != (part, at):
                    twice.append((head, known, (part, at)))
        differing = (
            f"{head.eval_id} on {head.target} has a row in {self._where(one)}, and another in "
            f"{self._where(other)}"
            for head, one, other in twice
            if self._line(one) != self._line(other)
        )
        named = list(islice(differing, _SHOWN))
        if named:
            more = sum(1 for _ in differing)
            listed = "".join(f"\n  {clash}" for clash in named)
            rest = f"\n  and {more} more" if more else ""
            raise AuthorError(
                "A trial must have one row, so these runs cannot be joined as they are:"
                f"{listed}{rest}"
            )
        self.repeated = len(twice)

    def _unfinished(self) -> Iterator[bytes]:
        """The steps of trials that have no row in any of the runs."""
        for part, lines in enumerate(self._steps):
            places = [
                at for at, head in lines.heads() if hash(self._key(part, head)) not in self._row_at
            ]
            for at in places:
                yield self._named(part, lines.line(at))

    def _key(self, part: int, head: TrialKey) -> Key:
        suite = self._renamed[part].get(head.suite, head.suite)
        return suite, head.eval_id, head.target, head.trial

    def _line(self, place: _Place) -> bytes:
        part, at = place
        return self._named(part, self._rows[part].line(at))

    def _named(self, part: int, line: bytes) -> bytes:
        """A line with its suite's name in the merged run."""
        renamed = self._renamed[part]
        if not renamed:
            return line
        suite = msgspec.json.decode(line, type=TrialKey).suite
        return called(line, {"suite": renamed[suite]}) if suite in renamed else line

    def _where(self, place: _Place) -> str:
        part, at = place
        return self._rows[part].where(at)


def _leave_nothing(folder: RunFolder) -> None:
    """Nothing of a run was in the folder before."""
    with suppress(OSError):
        for path in folder.files:
            path.unlink(missing_ok=True)
        folder.path.rmdir()
