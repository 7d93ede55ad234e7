"""The options of a target or an evaluator: their types, and what types alone do not show."""

from typing import Any, TypeVar

from agentv.loading.mistake import Mistake
from agentv.loading.salvage import read_record
from agentv.model.options import EvaluatorOptions, FileFinder, TargetOptions
from agentv.model.problem import KeyPath

Options = TypeVar("Options", bound=TargetOptions | EvaluatorOptions)


def read_options(
    tree: Any, model: type[Options], files: FileFinder
) -> tuple[Options | None, list[Mistake]]:
    """The options that a tree stands for, and every mistake at its place in the tree.

    Options that come with mistakes are only good for looking at.
    """
    reading = read_record(tree, model)
    found = list(reading.mistakes)
    if reading.record is None:
        return None, found
    for problem in reading.record.problems(files):
        # What is missing may be what was written wrongly: that is one mistake, not two.
        if not any(is_related(problem.path, place) for place in reading.unclear):
            place = reading.written(problem.path)
            found.append(
                Mistake(path=place, message=problem.message, hint=problem.hint, code=problem.code)
            )
    return reading.record, found


def is_related(one: KeyPath, other: KeyPath) -> bool:
    """Whether one place is the other, or lies in it."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]
