"""Answers of an earlier run, judged anew: every planned trial held against what it recorded."""

from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from agentv.assembly.callees import Callees
from agentv.assembly.reasons import Reasons
from agentv.assembly.resuming import LeftToDo, key_then, planned_evaluators
from agentv.assembly.stations import Station
from agentv.assembly.trials import Part, key_of, trials_of
from agentv.core.moved_suites import SuiteName, moved_suites
from agentv.core.rescoring import WorkTally, decide_rescoring, row_from_elsewhere
from agentv.core.resuming import Planned
from agentv.model.event import RunRescored
from agentv.model.prior import Prior
from agentv.model.result import EvaluatorResult
from agentv.model.run import RunManifest
from agentv.model.trial import Trial
from agentv.registry import Registry
from agentv.runner.prior import Verdicts
from agentv.storage.filling import Filling
from agentv.storage.prior_run import PriorRun


class TakingAnswers:
    """Decides for every trial of a run, and fills the new run's folder accordingly.

    Args:
        prior: What the earlier run recorded; it is left as it is.
        manifest: What was asked then.
        suites: Of the run as it is planned now.
        registry: Knows the evaluators.
        anew: Globs over the names of evaluators whose verdicts are never taken over.
        filling: The new folder; nothing is written when `None`.
    """

    def __init__(
        self,
        prior: PriorRun,
        manifest: RunManifest,
        suites: Sequence[SuiteName],
        registry: Registry,
        *,
        anew: Collection[str] = (),
        filling: Filling | None = None,
    ) -> None:
        self._prior = prior
        self._run_id = manifest.run_id
        self._planned_then = sum(suite.trials for suite in manifest.suites)
        self._suites_then = moved_suites(manifest.suites, suites)
        self._digests_then = {(t.name, t.digest) for t in manifest.targets}
        self._registry = registry
        self._anew = anew
        self._filling = filling
        self._reasons = Reasons()
        self._work = WorkTally()
        self._kept = self._judged = self._unanswered = self._workspaces_gone = 0
        self._places: dict[int, int] = {}
        self.callees = Callees()
        """The judges that will be called."""

    def of(self, parts: Iterable[Part], steps: Path) -> LeftToDo:
        """What is to be judged.

        Args:
            parts: Of the run as it is planned now.
            steps: Where the answers can be read afterwards.

        Raises:
            SetupError: The earlier run cannot be read, or the folder cannot be written.
        """
        for part in parts:
            for trial in trials_of(part):
                self._decide(trial, part)
        if self._filling is not None:
            self._filling.finish()
        return LeftToDo(
            steps=steps,
            announcement=self.announcement(),
            places=self._places,
            callees=self.callees,
        )

    def announcement(self) -> RunRescored:
        """What stands and what is to be done, of the trials so far."""
        return RunRescored(
            run_id=self._run_id,
            kept=self._kept,
            judged=self._judged,
            unanswered=self._unanswered,
            reasons=self._reasons.all(),
            evaluators=self._work.works(),
            workspaces_gone=self._workspaces_gone,
            without_row=max(0, self._planned_then - self._prior.rows),
        )

    def _decide(self, trial: Trial, part: Part) -> None:
        known = self._prior.known(key_then(key_of(trial), self._prior, self._suites_then))
        planned = planned_evaluators(trial, part, self._registry)
        decision = decide_rescoring(known, trial.digest, planned)
        if decision.prior is not None:
            self._judged += 1
            self._take_over(trial, part, planned, decision.prior)
        elif decision.kept and known.row is not None:
            self._kept += 1
            if self._filling is not None:
                self._filling.keep(row_from_elsewhere(known.row, trial))
        else:
            self._unanswered += 1
            self._reasons.add(decision.why, trial)

    def _take_over(self, trial: Trial, part: Part, planned: list[Planned], prior: Prior) -> None:
        doubted = {
            evaluator.digest
            for evaluator in planned
            if any(fnmatchcase(evaluator.label, glob) for glob in self._anew)
        }
        standing = tuple(said for said in prior.verdicts if said.digest not in doubted)
        self._count(trial, part, planned, prior, standing)
        taken = msgspec.structs.replace(prior, verdicts=standing)
        self.callees.add(trial, part, planned, taken)
        if self._filling is not None:
            self._places[hash(key_of(trial))] = self._filling.take_over(trial, taken)

    def _count(
        self,
        trial: Trial,
        part: Part,
        planned: list[Planned],
        prior: Prior,
        standing: Iterable[EvaluatorResult],
    ) -> None:
        verdicts = Verdicts(standing)
        by_name = {said.name: said for said in prior.verdicts}
        wants_files = False
        for options, evaluator in zip(trial.case.evaluators, planned, strict=True):
            stands = verdicts.take(evaluator.digest) is not None
            judge = part.judge_of(options)
            self._work.add(evaluator, judge.name if judge else None, stands=stands)
            wants_files |= evaluator.needs_workspace and not stands
            said = by_name.get(evaluator.label)
            if judge is not None and said is not None and self._asked_alike(said, judge):
                self._work.paid(evaluator, judge.name, said)
        self._workspaces_gone += wants_files and self._has_lost_workspace(part, prior)

    def _asked_alike(self, said: EvaluatorResult, judge: Station) -> bool:
        """Whether a call of then tells what one costs now: the same model was asked."""
        asked = (said.evaluator_provider_request or {}).get("target")
        return asked == judge.name and (judge.name, judge.record.digest) in self._digests_then

    def _has_lost_workspace(self, part: Part, prior: Prior) -> bool:
        entry = self._registry.find("providers", part.station.record.provider)
        leavings = prior.response.leavings
        kept = leavings.artifacts.get("workspace") if leavings else None
        is_agent = entry is not None and entry.prompt_mode == "agent"
        return is_agent and (kept is None or not Path(kept).is_dir())
