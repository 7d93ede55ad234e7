"""Eval files: one YAML suite with all its mistakes found in one pass."""

import hashlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import msgspec

from agentv.core.guidelines import DEFAULT_PATTERNS
from agentv.loading.case_builder import CaseBuilder, nothing_asserted
from agentv.loading.cases import FoundCases, cases_in_file, listed_cases
from agentv.loading.config import find_config, load_guideline_patterns
from agentv.loading.context import LoadContext
from agentv.loading.document import Document, locate, problem_at, read_document
from agentv.loading.environment import Environment, load_environment
from agentv.loading.evaluator_options import EvaluatorParser, Parsed
from agentv.loading.files import SearchPath
from agentv.loading.mistake import Mistake
from agentv.loading.project import find_root, folders_to_root, folders_up, show
from agentv.loading.suite_reading import read_suite
from agentv.loading.suite_target import DEFAULT_TARGET, named_targets, target_mistakes
from agentv.loading.targets import Targets, find_targets_file
from agentv.loading.turns import TurnReader
from agentv.model.case import Suite
from agentv.model.problem import LoadError, Problem

__all__ = ["LoadContext", "LoadedSuite", "load_document", "load_suite"]

DEFAULT_EVALUATOR = "llm_judge"


class LoadedSuite(msgspec.Struct, kw_only=True):
    """A suite with what it takes to run it. Only trust `suite` when there are no errors."""

    suite: Suite
    turns: TurnReader
    files: SearchPath
    environment: Environment
    targets: Targets | None
    target_names: tuple[str, ...]
    """The targets of cases that name none themselves; none when the caller brings its own."""
    total_cases: int
    """In the file, selected or not; `suite.cases` holds the selected ones."""
    case_targets: Mapping[str, int]
    """The targets that selected cases name themselves, each with the number of such cases."""
    judges: tuple[str, ...]
    """The targets that evaluators name themselves."""
    judged: bool
    """Whether some evaluator leaves it to the target who judges its answers."""
    problems: list[Problem]


def load_suite(path: Path, context: LoadContext) -> LoadedSuite:
    """Read and check an eval file and all it refers to.

    Raises:
        LoadError: It cannot be read as a YAML mapping; other mistakes are in `problems`.
    """
    shown = show(path, context.cwd)
    return load_document(read_document(path, shown), path, context)


def load_document(document: Document, path: Path, context: LoadContext) -> LoadedSuite:
    """Check an eval file that has been read.

    Raises:
        LoadError: It is not a mapping; other mistakes are in `problems`.
    """
    return _SuiteLoader(document, path, context).load()


class _SuiteLoader:
    """The steps of loading one suite; each notes the mistakes that it finds."""

    def __init__(self, document: Document, path: Path, context: LoadContext) -> None:
        self.document = document
        self.path = path
        self.context = context
        self.reading = read_suite(document)
        self.root = find_root(path.parent, context.cwd)
        self.folders = folders_up(path.parent, self.root, context.cwd)
        self.files = SearchPath(self.folders)
        self.mistakes: list[Mistake] = list(self.reading.mistakes)
        self.problems: list[Problem] = []

    def load(self) -> LoadedSuite:
        environment = self._environment()
        patterns = self._patterns()
        targets = self._targets()
        names = targets.trusted_names if targets else None
        parser = EvaluatorParser(self.context.registry, self.files, names)
        builder = CaseBuilder(self.files, parser, self._defaults(parser), names)
        found = self._cases(builder)
        target = self._target(names, found)
        self.problems += [*locate(self.mistakes, self.document), *found.problems]
        return LoadedSuite(
            suite=self._suite(found, target, patterns),
            turns=TurnReader(self.files, self.root, patterns),
            files=self.files,
            environment=environment,
            targets=targets,
            target_names=self._target_names(target),
            total_cases=found.tally.total,
            case_targets=found.tally.targets if self.context.targets_needed else {},
            judges=tuple(found.tally.judges),
            judged=found.tally.judged,
            problems=self.problems,
        )

    def _environment(self) -> Environment:
        try:
            return load_environment(self.folders, self.context.process_env)
        except LoadError as error:
            self.problems += error.problems
            return Environment(values=dict(self.context.process_env))

    def _patterns(self) -> tuple[str, ...]:
        config = find_config(self.path.parent, folders_to_root(self.path.parent, self.root))
        try:
            return load_guideline_patterns(config, self.context.cwd)
        except LoadError as error:
            self.problems += error.problems
            return DEFAULT_PATTERNS

    def _targets(self) -> Targets | None:
        path = self.context.targets_path or find_targets_file(self.folders)
        if path is None:
            if self.context.targets_needed:
                self.problems.append(_no_targets(self.document.shown, self.folders))
            return None
        try:
            return self.context.targets(path)
        except LoadError as error:
            self.problems += error.problems
            return None

    def _defaults(self, parser: EvaluatorParser) -> Parsed:
        """The evaluators of cases that name none themselves."""
        file, own = self.reading.file, list[Mistake]()
        listed = file.execution.evaluators if file.execution else None
        if listed is not None:
            place = ("execution", "evaluators")
            if not listed:
                own.append(nothing_asserted(place))
            found = parser.parse(listed, place, own)
        else:
            kind = file.evaluator or DEFAULT_EVALUATOR
            found = parser.named_alone(kind, ("evaluator",), own)
        self.mistakes += self.reading.placed(own)
        if self.context.evaluators is not None:
            return self._given(parser, self.context.evaluators)
        # Cases must not be held to a default that the author may have replaced, misspelt.
        doubtful = listed is None and self.reading.in_doubt("execution", "evaluator")
        return () if doubtful else found

    def _given(self, parser: EvaluatorParser, evaluators: Collection[Mapping[str, Any]]) -> Parsed:
        """What a program asks for in place of the suite's own evaluators."""
        own: list[Mistake] = [] if evaluators else [nothing_asserted(())]
        found = parser.parse([*evaluators], (), own)
        self.problems += [problem_at(mistake, "<evaluators>", None, None) for mistake in own]
        return found

    def _cases(self, builder: CaseBuilder) -> FoundCases:
        cases, place, select = self.reading.cases, self.reading.place, self.context.select
        if cases is None:
            return FoundCases()
        if isinstance(cases, str):
            found = cases_in_file(cases, place, builder, select, self.context.cwd)
        else:
            found = listed_cases(cases, place, builder, select)
        self.mistakes += found.mistakes
        return found

    def _target(self, names: Collection[str] | None, found: FoundCases) -> str | None:
        """The target that the suite names."""
        own = target_mistakes(
            self.reading,
            names if not self.context.target_names else None,
            needs_one=found.tally.unpinned > 0 and self.context.targets_needed,
        )
        self.mistakes += self.reading.placed(own)
        return next(iter(named_targets(self.reading.file).values()), None)

    def _target_names(self, target: str | None) -> tuple[str, ...]:
        if not self.context.targets_needed:
            return ()
        return self.context.target_names or (target or DEFAULT_TARGET,)

    def _suite(self, found: FoundCases, target: str | None, patterns: tuple[str, ...]) -> Suite:
        file = self.reading.file
        return Suite(
            path=self.path,
            shown=self.document.shown,
            dataset=file.dataset or _stem(self.path),
            description=file.description,
            target=target,
            threshold=file.execution.threshold if file.execution else None,
            min_pass_rate=file.execution.min_pass_rate if file.execution else None,
            digest=_digest(self.document, found.file_digest),
            cases=found.cases,
            guideline_patterns=patterns,
            root=self.root,
        )


def _digest(document: Document, case_file: bytes) -> str:
    text = document.text
    own = msgspec.json.encode(document.tree) if text is None else text.encode()
    return hashlib.sha256(own + case_file).hexdigest()


def _stem(path: Path) -> str:
    """`first.eval.yaml` -> `first`."""
    return path.name.removesuffix(path.suffix).removesuffix(".eval")


def _no_targets(shown: str, folders: Collection[Path]) -> Problem:
    tried = ", ".join(str(folder / "targets.yaml") for folder in folders)
    return Problem(
        file=shown,
        message="no targets file was found for this suite",
        hint=f"run `agentv init` or write one; tried {tried}, and .agentv/targets.yaml beside each",
        code="no-targets",
    )
