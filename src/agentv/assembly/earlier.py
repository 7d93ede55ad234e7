"""The earlier run that a run goes on with, judges anew, or asks anew."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from agentv.assembly.assembly import Assembly
from agentv.assembly.choosing import Scope, choose, chosen_before
from agentv.assembly.rescoring import TakingAnswers
from agentv.assembly.resuming import refuse_rehearsal, refuse_unlike, take_up
from agentv.core.moved_suites import SuiteName
from agentv.errors import AuthorError
from agentv.loading.nearest import did_you_mean
from agentv.model.base import Record
from agentv.model.event import RunRescored
from agentv.model.problem import LoadError
from agentv.model.run import RerunLink, RescoreLink, RunManifest
from agentv.model.score import Usage
from agentv.registry import Registry
from agentv.storage.filling import Filling
from agentv.storage.manifest import read_manifest
from agentv.storage.prior_run import PriorRun
from agentv.storage.run_folder import RunFolder


class Resume(Record, frozen=True, kw_only=True):
    """Go on with a run that was cut short, or that is to be brought up to date."""

    folder: RunFolder
    retry_errors: bool = False


class Rescore(Record, frozen=True, kw_only=True):
    """Judge the answers of an earlier run anew, in a new run; no candidate is asked."""

    folder: RunFolder
    anew: tuple[str, ...] = ()
    """Globs: evaluators of these names judge anew even where nothing that is seen changed."""

    def link(self, manifest: RunManifest) -> RescoreLink:
        """What the new run's manifest says of the earlier one."""
        return RescoreLink(run_id=manifest.run_id, folder=_seen(self.folder), anew=self.anew)


class Rerun(Record, frozen=True, kw_only=True):
    """Ask trials of an earlier run anew, in a new run; all of them where none are chosen."""

    folder: RunFolder
    failed: bool = False
    errors: bool = False
    eval_ids: tuple[str, ...] = ()
    """Globs. A trial that any of these three means is chosen."""

    def link(self, manifest: RunManifest) -> RerunLink:
        """What the new run's manifest says of the earlier one."""
        return RerunLink(
            run_id=manifest.run_id,
            folder=_seen(self.folder),
            failed=self.failed,
            errors=self.errors,
            eval_ids=self.eval_ids,
        )


Earlier = Resume | Rescore | Rerun


def scope_of(earlier: Earlier | None, suites: Sequence[SuiteName]) -> Scope:
    """What of its suites a run is of, as the earlier run says.

    Args:
        earlier: That run; `None` if there is none.
        suites: Of the run as it is planned now.

    Raises:
        SetupError: It cannot be read, or has no answers to judge.
    """
    if earlier is None:
        return Scope()
    manifest = read_manifest(earlier.folder.manifest_path)
    if isinstance(earlier, Rerun):
        return Scope(chosen=choose(earlier.folder, manifest, earlier.link(manifest), suites))
    if isinstance(earlier, Rescore):
        refuse_rehearsal(manifest)
    asks_nobody = isinstance(earlier, Rescore) or manifest.rescored_from is not None
    return Scope(
        chosen=chosen_before(earlier.folder, manifest, suites),
        answered={target.name: target for target in manifest.targets} if asks_nobody else None,
    )


def take_up_earlier(
    earlier: Earlier,
    assembly: Assembly,
    folder: RunFolder,
    manifest: RunManifest,
    registry: Registry,
) -> RunManifest:
    """Find out what is left to do, put the folder in order, and link the manifest.

    Raises:
        SetupError: A folder cannot be read or written.
    """
    before = read_manifest(earlier.folder.manifest_path)
    if isinstance(earlier, Rerun):
        return msgspec.structs.replace(manifest, rerun_of=earlier.link(before))
    if isinstance(earlier, Rescore):
        with PriorRun(earlier.folder) as prior, Filling(folder) as filling:
            taking = TakingAnswers(
                prior, before, assembly.suites, registry, anew=earlier.anew, filling=filling
            )
            assembly.left = taking.of(assembly.parts, folder.steps_path)
        return msgspec.structs.replace(manifest, rescored_from=earlier.link(before))
    refuse_unlike(before, manifest)
    _go_on(earlier, assembly, before, registry)
    return msgspec.structs.replace(
        manifest,
        run_id=before.run_id,
        started=before.started,
        resumed=(*before.resumed, manifest.started),
        merged=before.merged,
        rescored_from=before.rescored_from,
        rerun_of=before.rerun_of,
    )


def plan_rescoring(rescore: Rescore, assembly: Assembly, registry: Registry) -> RunRescored:
    """What rescoring would do; nobody is asked and nothing is written."""
    return _rehearsed(rescore, assembly, registry).announcement()


def refuse_unset(earlier: Earlier | None, assembly: Assembly, registry: Registry) -> None:
    """See that every target that will be called has its variables.

    Raises:
        LoadError: One has not; with the place of each variable.
    """
    unset = [station for station in assembly.stations.all() if station.unset]
    if unset and isinstance(earlier, Rescore):
        callees = _rehearsed(earlier, assembly, registry).callees
        unset = [station for station in unset if callees.has(station)]
    if unset:
        raise LoadError([problem for station in unset for problem in station.unset])


def _rehearsed(rescore: Rescore, assembly: Assembly, registry: Registry) -> TakingAnswers:
    before = read_manifest(rescore.folder.manifest_path)
    with PriorRun(rescore.folder) as prior:
        taking = TakingAnswers(prior, before, assembly.suites, registry, anew=rescore.anew)
        taking.of(assembly.parts, rescore.folder.steps_path)
        return taking


def refuse_unknown_evaluators(rescore: Rescore, assembly: Assembly) -> None:
    """A name that no evaluator has would change nothing, in silence; raises `AuthorError`."""
    unmatched = set(rescore.anew)
    known: dict[str, None] = {}
    if not unmatched:
        return
    for part in assembly.parts:
        for case in part.loaded.suite.cases:
            for options in case.evaluators:
                known[options.label] = None
                unmatched -= {glob for glob in unmatched if fnmatchcase(options.label, glob)}
            if not unmatched:
                return
    glob = next(iter(unmatched))
    near = did_you_mean(glob, known)
    hint = f"D{near[1:]}" if near else f"There are {', '.join(known)}."
    raise AuthorError(f"No evaluator is called '{glob}'. {hint}")


def _go_on(resume: Resume, assembly: Assembly, before: RunManifest, registry: Registry) -> None:
    budget = assembly.asking.budget
    with PriorRun(resume.folder) as prior:
        assembly.left = take_up(
            assembly.parts,
            assembly.suites,
            prior,
            before,
            registry,
            retry_errors=resume.retry_errors,
            asks_nobody=assembly.scope.asks_nobody,
            pay=budget.spend if budget else _ignore,
        )


def _ignore(target: str, usage: Usage) -> None:
    del target, usage


def _seen(folder: RunFolder) -> str:
    """Where a run lies, from the working directory where it is below that."""
    path, here = folder.path.absolute(), Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
