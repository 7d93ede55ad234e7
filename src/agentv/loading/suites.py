"""Eval files: one YAML suite with all its mistakes found in one pass."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from agentv.core.guidelines import DEFAULT_PATTERNS
from agentv.loading.case_builder import CaseBuilder, nothing_asserted
from agentv.loading.case_file import CaseFile, SuiteFile
from agentv.loading.case_sources import JsonlCases, check_lines, stamp
from agentv.loading.check import CheckFailed, convert
from agentv.loading.config import find_config, load_guideline_patterns
from agentv.loading.document import Document, locate, read_document
from agentv.loading.environment import Environment, load_environment
from agentv.loading.evaluator_options import EvaluatorParser, unknown_target
from agentv.loading.files import SearchPath
from agentv.loading.mistake import Mistake
from agentv.loading.project import find_root, folders_up, show
from agentv.loading.salvage import STAND_IN_ID, salvage
from agentv.loading.targets import Targets, find_targets_file, load_targets
from agentv.loading.turns import TurnReader
from agentv.model.case import CaseSource, Message, Suite
from agentv.model.options import EvaluatorOptions
from agentv.model.problem import KeyPath, LoadError, Problem
from agentv.registry import Registry

DEFAULT_TARGET = "default"
DEFAULT_EVALUATOR = "llm_judge"

_LOST = CaseFile(id=STAND_IN_ID, input_messages=[Message(role="user", content="-")])


@dataclass(frozen=True, kw_only=True)
class LoadContext:
    """What loading knows besides the files themselves."""

    cwd: Path
    process_env: Mapping[str, str]
    registry: Registry
    targets_path: Path | None = None
    """`--targets`; found from the suite upwards when `None`."""
    target_names: tuple[str, ...] = ()
    """`--target`; the suite's own when empty."""
    targets_needed: bool = True
    """False when the caller brings its own target."""
    evaluators: tuple[Mapping[str, Any], ...] | None = None
    """For cases that name none, in place of the suite's."""
    select: Callable[[str], bool] = lambda _id: True
    """Which case ids take part in the run; every case is checked all the same."""
    _targets: dict[Path, Targets] = field(default_factory=dict)

    def targets(self, path: Path) -> Targets:
        """A targets file; each is read once."""
        if path not in self._targets:
            self._targets[path] = load_targets(path, self.cwd, self.registry)
        return self._targets[path]


@dataclass(kw_only=True)
class LoadedSuite:
    """A suite with what it takes to run it. Only trust `suite` when there are no errors."""

    suite: Suite
    turns: TurnReader
    files: SearchPath
    environment: Environment
    targets: Targets | None
    target_names: tuple[str, ...]
    """The targets of cases that name none themselves."""
    total_cases: int
    """In the file, selected or not; `suite.cases` holds the selected ones."""
    case_targets: Mapping[str, int]
    """The targets that selected cases name themselves, each with the number of such cases."""
    judges: tuple[str, ...]
    """The targets that evaluators name themselves."""
    judged: bool
    """Whether some case is judged by a target."""
    problems: list[Problem]


def load_suite(path: Path, context: LoadContext) -> LoadedSuite:
    """Read and check an eval file and all it refers to.

    Raises:
        LoadError: It cannot be read as YAML at all; other mistakes are in `problems`.
    """
    shown = show(path, context.cwd)
    return load_document(read_document(path, shown), path, context)


def load_document(document: Document, path: Path, context: LoadContext) -> LoadedSuite:
    """Check an eval file that has been read."""
    return _SuiteLoader(document, path, context).load()


class _SuiteLoader:
    """The steps of loading one suite, sharing what they find."""

    def __init__(self, document: Document, path: Path, context: LoadContext) -> None:
        self.document = document
        self.path = path
        self.context = context
        self.mistakes: list[Mistake] = []
        self.problems: list[Problem] = []
        self.lost: set[int] = set()
        """The cases of which nothing could be salvaged."""
        root = find_root(path.parent, context.cwd)
        self.root = root
        self.folders = folders_up(path.parent, root, context.cwd)
        self.files = SearchPath(self.folders)

    def load(self) -> LoadedSuite:
        file = self._file()
        targets = self._targets(file)
        names = targets.names if targets else None
        parser = EvaluatorParser(self.context.registry, self.files, names)
        builder = CaseBuilder(
            files=self.files,
            evaluators=parser,
            defaults=self._defaults(file, parser),
            target_names=names,
        )
        patterns = self._patterns()
        found = self._cases(file, builder)
        execution = file.execution
        suite = Suite(
            path=self.path,
            shown=self.document.shown,
            dataset=file.dataset or self.path.name.split(".")[0],
            description=file.description,
            target=self._target_of(file),
            threshold=execution.threshold if execution else None,
            min_pass_rate=execution.min_pass_rate if execution else None,
            digest=found.digest,
            cases=found.cases,
            guideline_patterns=patterns,
            root=self.root,
        )
        self.problems += locate(self.mistakes, self.document)
        return LoadedSuite(
            suite=suite,
            turns=TurnReader(self.files, self.root, patterns),
            files=self.files,
            environment=load_environment(self.folders, self.context.process_env),
            targets=targets,
            target_names=self.context.target_names or (suite.target or DEFAULT_TARGET,),
            total_cases=found.total,
            case_targets=found.targets,
            judges=tuple(found.judges),
            judged=found.judged,
            problems=self.problems,
        )

    def _file(self) -> SuiteFile:
        """The file's record, or what can be salvaged of it once its mistakes are noted."""
        try:
            return convert(self.document.tree, SuiteFile)
        except CheckFailed as failed:
            self.mistakes += failed.mistakes
        tree = self.document.tree
        if not isinstance(tree, dict):
            raise LoadError(locate(self.mistakes, self.document))
        cases = tree.get("evalcases")
        file = salvage({**tree, "evalcases": []}, SuiteFile) or SuiteFile(evalcases=[])
        if isinstance(cases, str):
            return msgspec.structs.replace(file, evalcases=cases)
        salvaged = [salvage(raw, CaseFile) for raw in cases] if isinstance(cases, list) else []
        self.lost = {number for number, case in enumerate(salvaged) if case is None}
        return msgspec.structs.replace(file, evalcases=[case or _LOST for case in salvaged])

    def _targets(self, file: SuiteFile) -> Targets | None:
        path = self.context.targets_path or find_targets_file(self.folders)
        if path is None:
            if self.context.targets_needed:
                tried = ", ".join(str(folder / "targets.yaml") for folder in self.folders)
                self.problems.append(
                    Problem(
                        file=self.document.shown,
                        message="no targets file was found for this suite",
                        hint=f"run `agentv init` or write one; tried {tried}, "
                        "and .agentv/targets.yaml beside each",
                        code="no-targets",
                    )
                )
            return None
        targets = self.context.targets(path)
        if not self.context.target_names:
            name = self._target_of(file) or DEFAULT_TARGET
            if name not in targets.names and targets.names:
                place = _target_path(file)
                self.mistakes.append(unknown_target(name, targets.names, place))
        return targets

    def _target_of(self, file: SuiteFile) -> str | None:
        inner = file.execution.target if file.execution else None
        if inner and file.target and inner != file.target:
            message = f"the suite's target is '{file.target}' and '{inner}'"
            mistake = Mistake(
                path=("execution", "target"), message=message, hint="keep one", code="given-twice"
            )
            if mistake not in self.mistakes:
                self.mistakes.append(mistake)
        return inner or file.target

    def _defaults(self, file: SuiteFile, parser: EvaluatorParser) -> tuple[EvaluatorOptions, ...]:
        listed: Sequence[Any] | None = file.execution.evaluators if file.execution else None
        if self.context.evaluators is not None:
            listed = self.context.evaluators
        place: KeyPath = ("execution", "evaluators")
        if listed is not None:
            if not listed:
                self.mistakes.append(nothing_asserted(place))
            return parser.parse(listed, place, self.mistakes)
        return parser.default(file.evaluator or DEFAULT_EVALUATOR, ("evaluator",), self.mistakes)

    def _patterns(self) -> tuple[str, ...]:
        config = find_config(self.path.parent, self.folders)
        try:
            return load_guideline_patterns(config, self.context.cwd)
        except LoadError as error:
            self.problems += error.problems
            return DEFAULT_PATTERNS

    def _cases(self, file: SuiteFile, builder: CaseBuilder) -> "_FoundCases":
        content = hashlib.sha256(self._content())
        if isinstance(file.evalcases, str):
            return self._cases_in_file(file.evalcases, builder, content)
        cases = tuple(
            builder.build(raw, ("evalcases", number), self.mistakes)
            for number, raw in enumerate(file.evalcases)
            if number not in self.lost
        )
        if not file.evalcases and not self.mistakes:
            self.mistakes.append(_no_cases())
        self._check_ids([raw.id for raw in file.evalcases])
        selected = tuple(case for case in cases if self.context.select(case.id))
        options = {id(o): o for case in selected for o in case.evaluators}.values()
        return _FoundCases(
            cases=selected,
            total=len(cases),
            digest=content.hexdigest(),
            targets=Counter(case.target for case in selected if case.target),
            judges=_judges(options),
            judged=any(map(builder.evaluators.needs_judge, options)),
        )

    def _content(self) -> bytes:
        text = self.document.text
        return msgspec.json.encode(self.document.tree) if text is None else text.encode()

    def _cases_in_file(self, reference: str, builder: CaseBuilder, content: Any) -> "_FoundCases":
        path = self.files.find(reference)
        if path is None or not path.is_file():
            tried = ", ".join(map(str, self.files.tried(reference)))
            near = self.files.suggest(reference)
            hint = (f"did you mean '{near}'? " if near else "") + f"tried {tried}"
            self.mistakes.append(
                Mistake(
                    path=("evalcases",),
                    message=f"no such file '{reference}'",
                    hint=hint,
                    code="missing-file",
                )
            )
            return _FoundCases(cases=(), total=0, digest=content.hexdigest())
        shown = show(path, self.context.cwd)
        before = stamp(path)
        lines = check_lines(path, shown, builder, self.context.select)
        self.problems += lines.problems
        if not lines.total and not lines.problems:
            self.mistakes.append(_no_cases())
        with path.open("rb") as data:
            content.update(hashlib.file_digest(data, "sha256").digest())
        return _FoundCases(
            cases=JsonlCases(path, shown, builder, lines.starts, before),
            total=lines.total,
            digest=content.hexdigest(),
            targets=lines.targets,
            judges=tuple(lines.judges),
            judged=lines.judged or bool(lines.judges),
        )

    def _check_ids(self, ids: Sequence[str]) -> None:
        if len(set(ids)) == len(ids):
            return
        first: dict[str, int] = {}
        for number, id_ in enumerate(ids):
            if id_ == STAND_IN_ID:
                continue
            if id_ in first:
                message = f"the id '{id_}' is already taken by evalcases[{first[id_]}]"
                place: KeyPath = ("evalcases", number, "id")
                self.mistakes.append(
                    Mistake(path=place, message=message, hint="ids are unique", code="duplicate-id")
                )
            first.setdefault(id_, number)


@dataclass(frozen=True, kw_only=True)
class _FoundCases:
    cases: CaseSource
    total: int
    digest: str
    targets: Mapping[str, int] = field(default_factory=dict)
    judges: tuple[str, ...] = ()
    judged: bool = False


def _judges(options: Iterable[EvaluatorOptions]) -> tuple[str, ...]:
    named = (getattr(option, "target", None) for option in options)
    return tuple(dict.fromkeys(name for name in named if isinstance(name, str)))


def _no_cases() -> Mistake:
    hint = "a suite without cases proves nothing; add one"
    message = "there are no eval cases"
    return Mistake(path=("evalcases",), message=message, hint=hint, code="no-cases")


def _target_path(file: SuiteFile) -> KeyPath:
    if file.execution and file.execution.target:
        return ("execution", "target")
    return ("target",) if file.target else ()
