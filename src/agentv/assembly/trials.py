"""From cases to trials, one at a time, as workers ask for them."""

from collections.abc import Callable, Iterator
from itertools import compress

from agentv.assembly.stations import Station
from agentv.core.digest import trial_digest
from agentv.core.prompt import build_prompt
from agentv.errors import AuthorError
from agentv.loading.suites import LoadedSuite
from agentv.model.base import Record
from agentv.model.case import EvalCase
from agentv.model.options import EvaluatorOptions
from agentv.model.request import Prompt
from agentv.model.result import ErrorInfo
from agentv.model.trial import Trial
from agentv.runner.trial import Bench
from agentv.storage.lines import Key

_NO_PROMPT = Prompt(question="", guidelines="", guideline_paths=(), input_files=())


class Part(Record, frozen=True, kw_only=True):
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
    """For each case 1 if it is run; `None` when all of them are."""
    judge_of: Callable[[EvaluatorOptions], Station | None] = lambda _options: None
    """Who is asked for an evaluator's verdict; `None` for one that asks nobody."""


def key_of(trial: Trial) -> Key:
    """By what a trial is known in a run."""
    return trial.suite, trial.case.id, trial.target, trial.number


def trials_of(part: Part) -> Iterator[Trial]:
    """The part's trials in file order; only the one being asked for is held."""
    return (_trial(case, part) for case in cases_of(part))


def cases_of(part: Part) -> Iterator[EvalCase]:
    """The part's cases in file order."""
    cases = cases_on(part.loaded, part.station.name, takes_all=part.takes_all)
    return cases if part.inside is None else compress(cases, part.inside)


def cases_on(loaded: LoadedSuite, target: str, *, takes_all: bool = False) -> Iterator[EvalCase]:
    """The cases of a suite that belong to a target, in file order."""
    is_default = takes_all or target in loaded.target_names
    for case in loaded.suite.cases:
        pinned = None if takes_all else case.target
        if pinned == target or (pinned is None and is_default):
            yield case


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
