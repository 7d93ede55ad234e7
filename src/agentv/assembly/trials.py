"""From cases to trials, one at a time, as workers ask for them."""

from collections.abc import Iterator
from dataclasses import dataclass

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


def trials_of(part: Part) -> Iterator[Trial]:
    """The part's trials in file order; only the one being asked for is held."""
    name = part.station.name
    is_default = part.takes_all or name in part.loaded.target_names
    for case in part.loaded.suite.cases:
        pinned = None if part.takes_all else case.target
        if pinned == name or (pinned is None and is_default):
            yield _trial(case, part)


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
