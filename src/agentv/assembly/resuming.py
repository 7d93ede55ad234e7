"""A run that goes on: every planned trial held against what was recorded of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agentv.assembly.trials import Part, trials_of
from agentv.core.resuming import Decision, Planned, Why, decide_trial
from agentv.errors import SetupError
from agentv.model.event import Reason, RunResumed
from agentv.model.prior import Prior
from agentv.model.result import EvaluatorResult
from agentv.model.run import RunManifest
from agentv.model.score import Usage
from agentv.model.trial import Trial
from agentv.registry import Registry
from agentv.storage.prior_run import Key, PriorRun, read_prior
from agentv.storage.rewriting import Rewriting

_EXAMPLES = 3
_ASK = -1
"""In place of where an answer can be read: there is none."""


@dataclass
class LeftToDo:
    """Which trials are left and what is known of them; of each, a hash and a place are held."""

    steps: Path
    announcement: RunResumed
    _places: Mapping[int, int] = field(default_factory=dict)

    def of(self, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Prior | None]]:
        """Those of the trials that are left, with their answers where these stand."""
        for trial in trials:
            place = self._places.get(hash(key_of(trial)))
            if place is not None:
                yield trial, None if place == _ASK else read_prior(self.steps, place)


def key_of(trial: Trial) -> Key:
    """By what a trial is known in a run."""
    return trial.suite, trial.case.id, trial.target, trial.number


def take_up(
    parts: Iterable[Part],
    prior: PriorRun,
    manifest: RunManifest,
    registry: Registry,
    *,
    retry_errors: bool,
    pay: Callable[[str, Usage], None],
) -> LeftToDo:
    """Decide for every trial, and put the folder in order accordingly.

    Args:
        parts: Of the run as it is planned now.
        prior: What was recorded.
        manifest: What was asked then.
        registry: Knows the evaluators.
        retry_errors: Whether trials that ended in an error are tried again.
        pay: Told of every call that was paid for and stands, with its target.

    Raises:
        SetupError: The folder cannot be written.
    """
    taking = _Taking(prior, manifest, registry, pay, retry_errors=retry_errors)
    with Rewriting(prior) as rewriting:
        for part in parts:
            for trial in trials_of(part):
                taking.decide(trial, part, rewriting)
        set_aside = rewriting.finish()
    return taking.left(set_aside)


class _Taking:
    """The decisions of one run, in the making."""

    def __init__(
        self,
        prior: PriorRun,
        manifest: RunManifest,
        registry: Registry,
        pay: Callable[[str, Usage], None],
        *,
        retry_errors: bool,
    ) -> None:
        self._prior = prior
        self._pay = pay
        self._registry = registry
        self._retry_errors = retry_errors
        self._old_suites = {plan.path: plan for plan in manifest.suites}
        self._old_targets = {target.name: target.digest for target in manifest.targets}
        self._kept = self._judged = 0
        self._places: dict[int, int] = {}
        self._reasons: dict[Why, list[str]] = {}
        self._counts: dict[Why, int] = {}

    def decide(self, trial: Trial, part: Part, rewriting: Rewriting) -> None:
        key = self._key_then(trial, part)
        known = self._prior.known(key)
        decision = decide_trial(
            known,
            trial.digest,
            self._planned(trial, part),
            target_changed=self._old_targets.get(trial.target) != part.station.record.digest,
            threshold_changed=self._threshold_changed(key[0], part),
            retry_errors=self._retry_errors,
        )
        place = self._prior.place(key)
        if decision.kept and known.row is not None and place is not None:
            self._kept += 1
            rewriting.keep(place, known.row, trial.suite)
            self._count_costs(trial.target, known.row.usage, known.row.cached is True)
            self._count_verdicts(known.row.evaluator_results)
            return
        self._note(decision, trial)
        if decision.prior is None:
            self._places[hash(key_of(trial))] = _ASK
        else:
            self._judged += 1
            response = decision.prior.response
            self._count_costs(trial.target, response.usage, response.cached)
            self._count_verdicts(decision.prior.verdicts)
            self._places[hash(key_of(trial))] = rewriting.take_over(trial, decision.prior)

    def left(self, set_aside: int) -> LeftToDo:
        return LeftToDo(
            steps=self._prior.folder.steps_path,
            announcement=RunResumed(
                kept=self._kept,
                judged=self._judged,
                asked=len(self._places) - self._judged,
                set_aside=set_aside,
                reasons=tuple(
                    Reason(why=why, trials=self._counts[why], examples=tuple(ids))
                    for why, ids in self._reasons.items()
                ),
            ),
            _places=self._places,
        )

    def _count_verdicts(self, results: Iterable[EvaluatorResult]) -> None:
        for result in results:
            asked = result.evaluator_provider_request or {}
            self._count_costs(str(asked.get("target")), result.usage, result.cached is True)

    def _count_costs(self, target: str, usage: Usage | None, was_cached: bool) -> None:
        if usage is not None and not was_cached:
            self._pay(target, usage)

    def _note(self, decision: Decision, trial: Trial) -> None:
        if decision.why is None:
            return
        self._counts[decision.why] = self._counts.get(decision.why, 0) + 1
        examples = self._reasons.setdefault(decision.why, [])
        if len(examples) < _EXAMPLES:
            examples.append(trial.case.id)

    def _key_then(self, trial: Trial, part: Part) -> Key:
        """How the trial was known: its suite may have been moved since."""
        suite, case, target, number = key_of(trial)
        return self._suite_then(suite, part.loaded.suite.dataset), case, target, number

    def _suite_then(self, path: str, dataset: str) -> str:
        if path in self._old_suites:
            return path
        moved = [old.path for old in self._old_suites.values() if old.dataset == dataset]
        return moved[0] if len(moved) == 1 else path

    def _threshold_changed(self, suite: str, part: Part) -> bool:
        old = self._old_suites.get(suite)
        return old is None or old.threshold != part.threshold

    def _planned(self, trial: Trial, part: Part) -> list[Planned]:
        return [
            Planned(
                label=options.label,
                type=options.type,
                weight=options.weight,
                digest=part.bench.digest_of(options),
                needs_workspace=self._may_look_at_files(options.type),
            )
            for options in trial.case.evaluators
        ]

    def _may_look_at_files(self, type_: str) -> bool:
        entry = self._registry.find("evaluators", type_)
        return entry is None or (entry.takes_time and not entry.needs_judge)


def refuse_unlike(manifest: RunManifest, *, dry_run: bool, replayed: str | None) -> None:
    """A rehearsal or a replay and a run cannot be one; raises `SetupError`."""
    if manifest.replayed != replayed:
        was = f"replayed from {manifest.replayed}" if manifest.replayed else "no replay"
        now = f"is replayed from {replayed}" if replayed else "is no replay"
        raise SetupError(f"The run {manifest.run_id} was {was}, and this {now}: start a new one.")
    if manifest.dry_run != dry_run:
        was, now = ("a dry run", "is none") if manifest.dry_run else ("no dry run", "is one")
        raise SetupError(f"The run {manifest.run_id} was {was}, and this {now}: start a new one.")
