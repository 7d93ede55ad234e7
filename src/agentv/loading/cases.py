"""The cases of a suite, whether they stand in the suite itself or in a JSONL file."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from agentv.loading.case_builder import CaseBuilder
from agentv.loading.case_tally import CaseTally
from agentv.loading.jsonl_cases import JsonlCases, check_lines
from agentv.loading.mistake import Mistake
from agentv.loading.project import show
from agentv.loading.references import find_file
from agentv.loading.salvage import STAND_IN_ID
from agentv.model.case import CaseSource, EvalCase
from agentv.model.problem import KeyPath, Problem

Select = Callable[[str], bool]


class FoundCases(msgspec.Struct, kw_only=True):
    """The cases of one suite and what is wrong with them."""

    cases: CaseSource = ()
    """The selected ones."""
    tally: CaseTally = msgspec.field(default_factory=CaseTally)
    mistakes: list[Mistake] = []
    """In the suite's own file."""
    problems: list[Problem] = []
    """In the file it names."""
    file_digest: bytes = b""
    """SHA-256 over the file it names."""


def listed_cases(
    trees: Sequence[Any], place: KeyPath, builder: CaseBuilder, select: Select
) -> FoundCases:
    """The cases of a list that stands at `place`."""
    found = FoundCases()
    selected: list[EvalCase] = []
    first: dict[str, int] = {}
    for number, tree in enumerate(trees):
        case, mistakes = builder.read(tree)
        if mistakes:
            found.mistakes += [_below((*place, number), mistake) for mistake in mistakes]
        if case is None:
            continue
        taken = first.setdefault(case.id, number)
        if taken != number and case.id != STAND_IN_ID:
            message = f"the id '{case.id}' is already taken by {place[-1]}[{taken}]"
            path = (*place, number, "id")
            found.mistakes.append(
                Mistake(path=path, message=message, hint="ids are unique", code="duplicate-id")
            )
        if select(case.id):
            selected.append(case)
            found.tally.add(case, builder.evaluators)
    found.cases = tuple(selected)
    found.tally.total = len(trees)
    if not trees:
        found.mistakes.append(_no_cases(place))
    return found


def cases_in_file(
    reference: str, place: KeyPath, builder: CaseBuilder, select: Select, cwd: Path
) -> FoundCases:
    """The cases of a JSONL file that is named at `place`."""
    path = find_file(reference, builder.files, place)
    if isinstance(path, Mistake):
        return FoundCases(mistakes=[path])
    shown = show(path, cwd)
    try:
        lines = check_lines(path, shown, builder, select)
    except OSError as error:
        message = f"the file '{reference}' cannot be read: {error.strerror}"
        return FoundCases(mistakes=[Mistake(path=place, message=message, code="unreadable")])
    return FoundCases(
        cases=JsonlCases(path, shown, builder, lines.starts, lines.stamp),
        tally=lines.tally,
        mistakes=[] if lines.tally.total else [_no_cases(place)],
        problems=lines.problems,
        file_digest=lines.digest,
    )


def _below(place: KeyPath, mistake: Mistake) -> Mistake:
    return msgspec.structs.replace(mistake, path=(*place, *mistake.path))


def _no_cases(place: KeyPath) -> Mistake:
    hint = "a suite without cases proves nothing; add one"
    return Mistake(path=place, message="there are no eval cases", hint=hint, code="no-cases")
