"""Cases in a JSONL file, one a line: checked in one pass, then read again one at a time.

A suite of any length costs eight bytes a case (where its line begins) and an entry for its id
while it is checked.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from agentv.errors import RunAborted
from agentv.loading.case_builder import CaseBuilder
from agentv.loading.case_file import CaseFile
from agentv.loading.check import CheckFailed, convert
from agentv.loading.document import decode, placed_by, problem_at
from agentv.loading.json_lines import DocumentError, parse_json_line, parse_json_positions
from agentv.loading.mistake import Mistake
from agentv.loading.salvage import STAND_IN_ID, salvage
from agentv.model.case import EvalCase
from agentv.model.problem import LoadError, Problem

_MAX_PROBLEMS = 1_000


@dataclass(frozen=True)
class JsonlCases:
    """The cases of a checked JSONL file; reading them holds one at a time."""

    path: Path
    shown: str
    builder: CaseBuilder
    starts: "array[int]"
    stamp: tuple[int, int]
    """Size and modification time when the file was checked."""

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[EvalCase]:
        """The cases in file order.

        Raises:
            RunAborted: The file was changed after it was checked.
        """
        with self.path.open("rb") as file:
            if stamp(self.path) != self.stamp:
                raise RunAborted(f"{self.shown} was changed while the run was under way.")
            for start in self.starts:
                file.seek(start)
                raw = convert(parse_json_line(file.readline()), CaseFile)
                yield self.builder.build(raw, (), [])


@dataclass
class CheckedLines:
    """What checking a JSONL file found."""

    starts: "array[int]"
    """Where the lines of selected cases begin."""
    problems: list[Problem]
    total: int
    """Cases, selected or not."""
    targets: Counter[str]
    """The targets that selected cases name themselves."""
    judges: dict[str, None]
    """The targets that evaluators name themselves."""
    judged: bool
    """Whether some case is judged by a target."""


def check_lines(
    path: Path, shown: str, builder: CaseBuilder, select: Callable[[str], bool]
) -> CheckedLines:
    """Check every line of a JSONL file, and note where the selected cases are.

    Raises:
        LoadError: The file cannot be read at all.
    """
    found = CheckedLines(
        starts=array("q"), problems=[], total=0, targets=Counter(), judges={}, judged=False
    )
    seen: dict[str, int] = {}
    try:
        with path.open("rb") as file:
            start = 0
            for number, line in enumerate(file, 1):
                if line.strip():
                    case = _check_line(line, number, shown, builder, seen, found)
                    found.total += 1
                    if case is not None and select(case.id):
                        found.starts.append(start)
                        _note(case, builder, found)
                start += len(line)
                if len(found.problems) >= _MAX_PROBLEMS:
                    break
    except OSError as error:
        problem = Problem(
            file=shown, message=f"cannot be read: {error.strerror}", code="missing-file"
        )
        raise LoadError([problem]) from error
    return found


def stamp(path: Path) -> tuple[int, int]:
    """What changes when a file is written."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _check_line(
    line: bytes,
    number: int,
    shown: str,
    builder: CaseBuilder,
    seen: dict[str, int],
    found: CheckedLines,
) -> EvalCase | None:
    mistakes: list[Mistake] = []
    raw: CaseFile | None
    case: EvalCase | None = None
    try:
        tree = parse_json_line(line)
        raw = convert(tree, CaseFile)
    except DocumentError as error:
        found.problems += [problem_at(m, shown, number, m.column) for m in error.mistakes]
        return None
    except CheckFailed as failed:
        mistakes += failed.mistakes
        raw = salvage(tree, CaseFile)
    if raw is not None:
        case = builder.build(raw, (), mistakes)
        if case.id != STAND_IN_ID and (first := seen.setdefault(case.id, number)) != number:
            message = f"the id '{case.id}' is already taken by line {first}"
            mistakes.append(
                Mistake(path=("id",), message=message, hint="ids are unique", code="duplicate-id")
            )
    if mistakes:
        text = decode(line, shown)
        on_line_one = placed_by(mistakes, shown, parse_json_positions(text))
        found.problems += [_on_line(problem, number) for problem in on_line_one]
    return case


def _note(case: EvalCase, builder: CaseBuilder, found: CheckedLines) -> None:
    if case.target:
        found.targets[case.target] += 1
    for options in case.evaluators:
        if builder.evaluators.needs_judge(options):
            found.judged = True
            if judge := getattr(options, "target", None):
                found.judges[judge] = None


def _on_line(problem: Problem, number: int) -> Problem:
    return msgspec.structs.replace(problem, line=number)
