"""From cases to trials, one at a time, as workers ask for them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress

from agentv.assembly.stations import Station
from agentv.core.digest import trial_digest
from agentv.core.prompt import build_prompt
from agentv.errors import AuthorError
from agentv.loading.suites import LoadedSuite
from agentv.model.case import EvalCase
from agentv.model.request import Prompt
from agentv.model.result import ErrorInfo
from agentv.model.trial import Trial
from agentv.runner.trial import Bench

_NO_PROMPT = Prompt(question="", guidelines="", guideline_paths=(), input_files=())


@dataclass(frozen=True, kw_only=True)
class Part:
    """One suite on one target."""

    loaded: LoadedSuite
    station: Station
    bench: Bench
    planned: int
    """How many trials `trials_of` makes."""
    threshold: float
    takes_all: bool
    """Whether cases that name a target of their own are run here all the same."""
    inside: bytes | None = None
    """For each case 1 if it is in the shard that is run; `None` when the plan is not split."""


def trials_of(part: Part) -> Iterator[Trial]:
    """The part's trials in file order; only the one being asked for is held."""
    return (_trial(case, part) for case in cases_of(part))


def cases_of(part: Part) -> Iterator[EvalCase]:
    """The part's cases in file order."""
    cases = (case for case in part.loaded.suite.cases if _belongs(case, part))
    return cases if part.inside is None else compress(cases, part.inside)


def _belongs(case: EvalCase, part: Part) -> bool:
    name = part.station.name
    pinned = None if part.takes_all else case.target
    is_default = part.takes_all or name in part.loaded.target_names
    return pinned == name or (pinned is None and is_default)


def _trial(case: EvalCase, part: Part) -> Trial:
    suite, station, reader = part.loaded.suite, part.station, part.loaded.turns
    try:
        turns = reader.turns(case.input_messages)
        reference = reader.reference_answer(case.expected_messages)
        problem = None
    except AuthorError as error:  # a file that was there when the suite was checked
        turns, reference = (), ""
        problem = ErrorInfo(kind="attachment", message=str(error))
    return Trial(
        suite=suite.shown,
        dataset=suite.dataset,
        case=case,
        target=station.name,
        turns=turns,
        prompt=build_prompt(turns, station.mode, chat=station.chat) if turns else _NO_PROMPT,
        reference_answer=reference,
        threshold=part.threshold,
        digest=trial_digest(turns, station.record.digest),
        problem=problem,
    )
