"""A run that goes on: every planned trial held against what was recorded of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from agentv.assembly.callees import Callees
from agentv.assembly.reasons import Reasons
from agentv.assembly.trials import Part, key_of, trials_of
from agentv.core.moved_suites import moved_suites
from agentv.core.resuming import KEPT, Planned, Why, decide_superseded, decide_trial
from agentv.errors import SetupError
from agentv.model.event import RunRescored, RunResumed
from agentv.model.prior import Prior
from agentv.model.result import EvaluatorResult, TrialResult
from agentv.model.run import RunManifest, SuitePlan
from agentv.model.score import Usage
from agentv.model.trial import Trial
from agentv.registry import Registry
from agentv.storage.lines import Key
from agentv.storage.prior_run import PriorRun, read_prior
from agentv.storage.rewriting import Rewriting

_WITHOUT_ANSWER = frozenset[Why | None](["new", "in_flight", "case_changed", "target_changed"])
"""Where an answer that was set aside may be the one that is wanted."""
_ASK, _ASK_AGAIN = -1, -2
"""In place of where an answer can be read: there is none, or it does not stand."""


class LeftToDo(msgspec.Struct):
    """Which trials are left and what is known of them; of each, a hash and a place are held."""

    steps: Path
    announcement: RunResumed | RunRescored
    places: Mapping[int, int] = {}
    callees: Callees = msgspec.field(default_factory=Callees)
    pay: Callable[[str, Prior], None] = lambda _target, _prior: None
    """Told of every answer that is taken over, with its target."""
    asks_again: bool = False
    """Whether any trial that had an outcome is asked anew."""

    @property
    def is_empty(self) -> bool:
        """Whether every row is there already."""
        return not self.places

    def of(self, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Prior | None]]:
        """Those of the trials that are left, with their answers where these stand."""
        for trial in trials:
            place = self.places.get(hash(key_of(trial)))
            if place is not None:
                yield trial, None if place < 0 else read_prior(self.steps, place)

    def is_again(self, trial: Trial) -> bool:
        """Whether a trial is asked anew although it had an outcome."""
        return self.places.get(hash(key_of(trial))) == _ASK_AGAIN


def take_up(
    parts: Iterable[Part],
    suites: Sequence[SuitePlan],
    prior: PriorRun,
    manifest: RunManifest,
    registry: Registry,
    *,
    retry_errors: bool,
    asks_nobody: bool,
    pay: Callable[[str, Usage], None],
) -> LeftToDo:
    """Decide for every trial, and put the folder in order accordingly.

    Args:
        parts: Of the run as it is planned now.
        suites: The same.
        prior: What was recorded.
        manifest: What was asked then.
        registry: Knows the evaluators.
        retry_errors: Whether trials that ended in an error are tried again.
        asks_nobody: Whether trials without an answer are left as they are.
        pay: Told of every call that was paid for and stands, with its target.

    Raises:
        SetupError: The folder cannot be written, or a suite of the run is not planned any more.
    """
    places = moved_suites(manifest.suites, suites)
    _refuse_fewer_suites(manifest, places)
    taking = _Taking(
        prior,
        manifest,
        places,
        registry,
        pay,
        retry_errors=retry_errors,
        asks_nobody=asks_nobody,
    )
    with Rewriting(prior) as rewriting:
        for part in parts:
            for trial in trials_of(part):
                taking.decide(trial, part, rewriting)
        taking.tell_of_rows(rewriting)
        set_aside = rewriting.finish()
    return taking.left(set_aside)


class _Taking:
    """The decisions of one run, in the making."""

    def __init__(
        self,
        prior: PriorRun,
        manifest: RunManifest,
        places: Mapping[str, str],
        registry: Registry,
        pay: Callable[[str, Usage], None],
        *,
        retry_errors: bool,
        asks_nobody: bool,
    ) -> None:
        self._prior = prior
        self._suites_then = places
        self._asks_nobody = asks_nobody
        self._pay = pay
        self._registry = registry
        self._retry_errors = retry_errors
        self._old_thresholds = {plan.path: plan.threshold for plan in manifest.suites}
        self._old_targets = {target.name: target.digest for target in manifest.targets}
        self._kept = self._errors_kept = self._judged = self._unanswered = 0
        self._places: dict[int, int] = {}
        self._callees = Callees()
        self._reasons = Reasons()

    def decide(self, trial: Trial, part: Part, rewriting: Rewriting) -> None:
        key = key_then(key_of(trial), self._prior, self._suites_then)
        known = self._prior.known(key)
        planned = planned_evaluators(trial, part, self._registry)
        decision = decide_trial(
            known,
            trial.digest,
            planned,
            target_changed=self._old_targets.get(trial.target) != part.station.record.digest,
            threshold_changed=self._threshold_changed(trial.suite, part),
            retry_errors=self._retry_errors,
        )
        if self._asks_nobody and decision.why == "error" and decision.prior is None:
            decision = KEPT
        if decision.why in _WITHOUT_ANSWER:
            before = self._prior.superseded(key, trial.digest)
            decision = decision if before is None else decide_superseded(before)
        place = self._prior.place(key)
        if decision.kept and known.row is not None and place is not None:
            self._kept += 1
            self._errors_kept += self._could_be_retried(known.row)
            rewriting.keep(place, known.row, trial)
            self._count_costs(trial.target, known.row.usage, known.row.cached is True)
            self._count_verdicts(known.row.evaluator_results)
            return
        if known.row is not None and place is not None:
            rewriting.let_go(place)
        self._reasons.add(decision.why, trial, decision.changed)
        if decision.prior is None and self._asks_nobody:
            self._unanswered += 1
            return
        self._callees.add(trial, part, planned, decision.prior)
        if decision.prior is None:
            had_outcome = known.row is not None or known.answered is not None
            self._places[hash(key_of(trial))] = _ASK_AGAIN if had_outcome else _ASK
        else:
            self._judged += 1
            self._places[hash(key_of(trial))] = rewriting.take_over(trial, decision.prior)

    def tell_of_rows(self, rewriting: Rewriting) -> None:
        """Say which rows go although nothing is done for their trials."""
        self._reasons.tell("gone", rewriting.gone, self._prior.case_at)
        self._reasons.tell("repeated", self._prior.repeated, self._prior.case_at)

    def left(self, set_aside: int) -> LeftToDo:
        return LeftToDo(
            steps=self._prior.folder.steps_path,
            announcement=RunResumed(
                kept=self._kept,
                judged=self._judged,
                asked=len(self._places) - self._judged,
                set_aside=set_aside,
                reasons=self._reasons.all(),
                unanswered=self._unanswered,
                errors_kept=self._errors_kept,
                torn=self._prior.torn,
            ),
            places=self._places,
            callees=self._callees,
            pay=self._pay_prior,
            asks_again=_ASK_AGAIN in self._places.values(),
        )

    def _could_be_retried(self, row: TrialResult) -> bool:
        if row.candidate_answer is None:
            return row.error is not None and not self._asks_nobody
        return any(result.error for result in row.evaluator_results)

    def _pay_prior(self, target: str, prior: Prior) -> None:
        self._count_costs(target, prior.response.usage, prior.response.cached)
        self._count_verdicts(prior.verdicts)

    def _count_verdicts(self, results: Iterable[EvaluatorResult]) -> None:
        for result in results:
            asked = result.evaluator_provider_request or {}
            self._count_costs(str(asked.get("target")), result.usage, result.cached is True)

    def _count_costs(self, target: str, usage: Usage | None, was_cached: bool) -> None:
        if usage is not None and not was_cached:
            self._pay(target, usage)

    def _threshold_changed(self, suite: str, part: Part) -> bool:
        old = self._suites_then.get(suite)
        return old is None or self._old_thresholds[old] != part.threshold


def key_then(key: Key, prior: PriorRun, places: Mapping[str, str]) -> Key:
    """How a trial was known in an earlier run: its suite may have been moved since.

    Args:
        key: How it is known now.
        prior: What was recorded.
        places: The old path of every suite, by its path now.
    """
    if prior.knows(key):  # also if a crash left rows that know of the move already
        return key
    return places.get(key[0], key[0]), *key[1:]


def planned_evaluators(trial: Trial, part: Part, registry: Registry) -> list[Planned]:
    """The trial's evaluators as the suite has them now."""
    return [
        Planned(
            label=options.label,
            type=options.type,
            weight=options.weight,
            digest=part.bench.digest_of(options, trial),
            needs_workspace=_may_look_at_files(options.type, registry),
        )
        for options in trial.case.evaluators
    ]


def _may_look_at_files(type_: str, registry: Registry) -> bool:
    entry = registry.find("evaluators", type_)
    return entry is None or (entry.takes_time and not entry.needs_judge)


def refuse_rehearsal(manifest: RunManifest) -> None:
    """A dry run has no answers that could be judged; raises `SetupError`."""
    if manifest.dry_run:
        message = f"The run {manifest.run_id} was a dry run: it has no answers to judge."
        raise SetupError(message)


def _refuse_fewer_suites(manifest: RunManifest, places: Mapping[str, str]) -> None:
    """Rows of suites that were left out would be set aside."""
    gone = sorted({suite.path for suite in manifest.suites} - set(places.values()))
    if gone:
        are, they = ("suite", "it is") if len(gone) == 1 else ("suites", "they are")
        raise SetupError(
            f"The run {manifest.run_id} is also of the {are} {', '.join(gone)}, and {they} not "
            "among those given: go on with all of them, or start a new run."
        )


def refuse_unlike(before: RunManifest, now: RunManifest) -> None:
    """A rehearsal, a replay or a shard cannot be one with another run; raises `SetupError`."""
    if before.replayed != now.replayed:
        was = f"replayed from {before.replayed}" if before.replayed else "no replay"
        is_ = f"is replayed from {now.replayed}" if now.replayed else "is no replay"
        raise SetupError(f"The run {before.run_id} was {was}, and this {is_}: start a new one.")
    if before.dry_run != now.dry_run:
        was, is_ = ("a dry run", "is none") if before.dry_run else ("no dry run", "is one")
        raise SetupError(f"The run {before.run_id} was {was}, and this {is_}: start a new one.")
    if before.shard != now.shard:
        was = f"shard {before.shard}" if before.shard else "no shard"
        is_ = f"shard {now.shard}" if now.shard else "none"
        raise SetupError(
            f"The run {before.run_id} is {was}, and this is {is_}: go on with just that, or "
            "start a new run."
        )
