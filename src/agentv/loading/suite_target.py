"""Which target a suite names for the cases that name none themselves."""

from collections.abc import Collection, Mapping

from agentv.loading.case_file import SuiteFile
from agentv.loading.evaluator_options import unknown_target
from agentv.loading.mistake import Mistake
from agentv.loading.suite_reading import SuiteReading
from agentv.model.problem import KeyPath

DEFAULT_TARGET = "default"


def named_targets(file: SuiteFile) -> dict[KeyPath, str]:
    """The target that a suite names, by each place where it names one."""
    inner = file.execution.target if file.execution else None
    places: dict[KeyPath, str | None] = {("execution", "target"): inner, ("target",): file.target}
    return {place: name for place, name in places.items() if name}


def target_mistakes(
    reading: SuiteReading, known: Collection[str] | None, *, needs_one: bool
) -> list[Mistake]:
    """What is wrong with the suite's own target.

    Args:
        reading: The suite.
        known: The names in the targets file; `None` leaves them unchecked.
        needs_one: Whether some case that takes part names no target itself.
    """
    named = named_targets(reading.file)
    found = [_two_targets(named)] if len(set(named.values())) > 1 else []
    if known is None:
        return found
    found += [unknown_target(name, known, at) for at, name in named.items() if name not in known]
    is_silent = not named and not reading.in_doubt("target", "execution")
    if is_silent and needs_one and DEFAULT_TARGET not in known:
        found.append(_no_default(known))
    return found


def _two_targets(named: Mapping[KeyPath, str]) -> Mistake:
    (inner, name), (_, other) = named.items()
    message = f"the suite's target is '{other}' and '{name}'"
    return Mistake(path=inner, message=message, hint="keep one", code="given-twice")


def _no_default(names: Collection[str]) -> Mistake:
    return Mistake(
        message=f"the suite names no target, and no target is called '{DEFAULT_TARGET}'",
        hint=f"add `target: …`, one of {', '.join(names)}",
        code="unknown-target",
    )
