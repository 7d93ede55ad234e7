"""Everything a run needs, loaded and checked together: `validate` and `eval` both start here."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from agentv.loading.nearest import did_you_mean
from agentv.loading.stand_ins import StandIns
from agentv.loading.suites import LoadContext, LoadedSuite, load_suite
from agentv.loading.targets import ResolvedTarget, Targets
from agentv.model.base import Record
from agentv.model.problem import LoadError, Problem


class SuiteNames(Record, frozen=True, kw_only=True):
    """What a suite is known by: see `agentv.core.moved_suites`."""

    path: str
    dataset: str
    digest: str


class Workspace(msgspec.Struct):
    """Suites with the targets they use."""

    suites: list[LoadedSuite] = []
    resolved: dict[tuple[Path, Path | None, str], ResolvedTarget] = {}
    """By targets file, `.env` file and name: the same name may mean two things in two projects."""
    problems: list[Problem] = []

    @property
    def suite_names(self) -> list[SuiteNames]:
        """What the suites are known by, in runs too."""
        return [
            SuiteNames(path=one.suite.shown, dataset=one.suite.dataset, digest=one.suite.digest)
            for one in self.suites
        ]

    @property
    def errors(self) -> list[Problem]:
        """The problems that forbid a run."""
        return [problem for problem in self.problems if problem.severity == "error"]

    def target(self, suite: LoadedSuite, name: str) -> ResolvedTarget:
        """A target as a suite sees it; only for names that loading has resolved."""
        if suite.targets is None:
            raise KeyError(name)
        return self.resolved[_key(suite, suite.targets, name)]


def load_workspace(
    paths: Iterable[Path],
    context: LoadContext,
    *,
    resolve: bool = True,
    asks_nobody: bool = False,
    extra: Sequence[LoadedSuite] = (),
) -> Workspace:
    """Load suites, and resolve the targets they use.

    Args:
        paths: Eval files.
        context: What loading knows besides the files.
        extra: Suites that were loaded from elsewhere.
        resolve: Whether targets must be ready to be called; a dry run needs them only to exist.
        asks_nobody: Whether of all targets only the judges are called.

    Nothing is raised: every mistake of every file is in `problems`.
    """
    workspace = Workspace(suites=list(extra))
    for path in paths:
        try:
            workspace.suites.append(load_suite(path, context))
        except LoadError as error:
            workspace.problems += error.problems
    for suite in workspace.suites:
        workspace.problems += suite.problems
    for suite in workspace.suites:
        if suite.targets is not None:
            workspace.problems += suite.targets.problems
            workspace.problems += _asked_for(suite, suite.targets, context)
            if resolve:
                names = judges_of(suite) if asks_nobody else used_targets(suite)
                _resolve(workspace, suite, suite.targets, names, context, keyless=asks_nobody)
    # Suites that share a file find its mistakes once each; they are said once.
    workspace.problems = list(dict.fromkeys(workspace.problems))
    return workspace


def used_targets(suite: LoadedSuite) -> list[str]:
    """Every target that running a suite calls: candidates first, then judges."""
    return list(dict.fromkeys([*_candidates_of(suite), *judges_of(suite)]))


def judges_of(suite: LoadedSuite) -> list[str]:
    """Every target that is asked for verdicts."""
    judges = list(suite.judges)
    if suite.judged and suite.targets is not None:
        known = suite.targets.definitions
        judges += [suite.targets.judge_of(name) for name in _candidates_of(suite) if name in known]
    return list(dict.fromkeys(judges))


def _candidates_of(suite: LoadedSuite) -> list[str]:
    pinned = sum(suite.case_targets.values())
    shared = suite.target_names if len(suite.suite.cases) > pinned else ()
    return [*shared, *suite.case_targets]


def _resolve(
    workspace: Workspace,
    suite: LoadedSuite,
    targets: Targets,
    names: Iterable[str],
    context: LoadContext,
    *,
    keyless: bool,
) -> None:
    """Resolve targets of a suite.

    Args:
        workspace: Takes them, or what is wrong with them.
        suite: Whose variables count.
        targets: Its file.
        names: Which.
        context: What loading knows besides the files.
        keyless: Whether variables may be unset: a judge need not be called if its verdicts stand.
    """
    env = suite.environment.values
    if context.recorded_variables is not None:
        env = StandIns(env, context.recorded_variables)
    for name in names:
        key = _key(suite, targets, name)
        if name not in targets.definitions or key in workspace.resolved:
            continue
        found, problems = targets.resolve(name, env)
        if keyless and problems and all(each.code == "unset-variable" for each in problems):
            found, others = targets.resolve(name, StandIns(env, {}))
            if found is not None:
                found = msgspec.structs.replace(found, unset=tuple(problems))
            problems = others
        workspace.problems += problems
        if found is not None:
            workspace.resolved[key] = found


def _asked_for(suite: LoadedSuite, targets: Targets, context: LoadContext) -> list[Problem]:
    """Names given as `--target` that the suite's targets file lacks."""
    known = targets.trusted_names
    if known is None:
        return []
    return [
        Problem(
            file=suite.suite.shown,
            message=f"--target '{name}' is not in {targets.shown}",
            hint=did_you_mean(name, known) or f"it has {', '.join(known)}",
            code="unknown-target",
        )
        for name in context.target_names
        if name not in known
    ]


def _key(suite: LoadedSuite, targets: Targets, name: str) -> tuple[Path, Path | None, str]:
    return targets.path, suite.environment.file, name
