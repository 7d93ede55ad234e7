"""Cases in a JSONL file, one a line: checked in one pass, then read again one at a time.

A suite of any length costs eight bytes a case (where its line begins) and, while it is checked, an
entry for its id.
"""

import hashlib
import os
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from agentv.errors import RunAborted
from agentv.loading.case_builder import CaseBuilder
from agentv.loading.case_file import CaseFile
from agentv.loading.case_tally import CaseTally
from agentv.loading.document import decode, placed_by, problem_at
from agentv.loading.json_lines import DocumentError, parse_json_line, parse_json_positions
from agentv.loading.mistake import Mistake
from agentv.loading.salvage import STAND_IN_ID
from agentv.model.case import EvalCase
from agentv.model.problem import Problem

_MOST_PROBLEMS = 1_000
"""A file with more is not a file of cases; nobody reads on, and memory is not for that."""


class Stamp(msgspec.Struct, frozen=True):
    """What changes when a file is written or replaced."""

    size: int
    modified_ns: int
    inode: int


class JsonlCases(msgspec.Struct, frozen=True):
    """The selected cases of a checked JSONL file; reading them holds one at a time."""

    path: Path
    shown: str
    builder: CaseBuilder
    starts: "array[int]"
    """Where their lines begin."""
    stamp: Stamp
    """Of the file that was checked."""

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[EvalCase]:
        """The cases in file order.

        Raises:
            RunAborted: The file was changed after it was checked.
        """
        try:
            with self.path.open("rb") as file:
                for start in self.starts:
                    file.seek(start)
                    line = file.readline()
                    # Asked after reading: what was read is then what was checked.
                    if stamp_of(file) != self.stamp:
                        raise RunAborted(f"{self.shown} was changed after it was checked.")
                    yield self.builder.build(
                        msgspec.convert(parse_json_line(line), CaseFile), mistakes=[]
                    )
        except OSError as error:
            raise RunAborted(f"{self.shown} can no longer be read: {error.strerror}.") from error


class CheckedLines(msgspec.Struct):
    """What checking a JSONL file found."""

    stamp: Stamp
    starts: "array[int]" = msgspec.field(default_factory=lambda: array("q"))
    """Where the lines of selected cases begin."""
    problems: list[Problem] = []
    tally: CaseTally = msgspec.field(default_factory=CaseTally)
    digest: bytes = b""
    """SHA-256 over the file."""


def check_lines(
    path: Path, shown: str, builder: CaseBuilder, select: Callable[[str], bool]
) -> CheckedLines:
    """Check every line of a JSONL file, and note where the selected cases are.

    Raises:
        OSError: The file cannot be read.
    """
    content = hashlib.sha256()
    first: dict[str, int] = {}
    with path.open("rb") as file:
        found = CheckedLines(stamp=stamp_of(file))
        start = 0
        for number, line in enumerate(file, 1):
            content.update(line)
            if line.strip():
                case, problems = _check_line(line, number, shown, builder, first)
                found.problems += problems
                found.tally.total += 1
                if case is not None and select(case.id):
                    found.starts.append(start)
                    found.tally.add(case, builder.evaluators)
            start += len(line)
            if len(found.problems) >= _MOST_PROBLEMS:
                found.problems.append(_gave_up(shown, number))
                break
    found.digest = content.digest()
    return found


def stamp_of(file: BinaryIO) -> Stamp:
    """The stamp of an open file."""
    status = os.fstat(file.fileno())
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ino)


def _check_line(
    line: bytes, number: int, shown: str, builder: CaseBuilder, first: dict[str, int]
) -> tuple[EvalCase | None, list[Problem]]:
    try:
        tree = parse_json_line(line)
    except DocumentError as error:
        return None, [problem_at(m, shown, number, m.column) for m in error.mistakes]
    case, mistakes = builder.read(tree)
    if case is not None and case.id != STAND_IN_ID:
        taken = first.setdefault(case.id, number)
        if taken != number:
            message = f"the id '{case.id}' is already taken by line {taken}"
            mistakes.append(
                Mistake(path=("id",), message=message, hint="ids are unique", code="duplicate-id")
            )
    if not mistakes:
        return case, []
    in_line_one = placed_by(mistakes, shown, parse_json_positions(decode(line, shown)))
    return case, [msgspec.structs.replace(problem, line=number) for problem in in_line_one]


def _gave_up(shown: str, number: int) -> Problem:
    return Problem(
        file=shown,
        line=number,
        message=f"there are {_MOST_PROBLEMS} mistakes up to here",
        hint="the lines that follow were not checked",
        code="too-many",
    )
