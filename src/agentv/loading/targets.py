"""Targets files: found, checked, and resolved with the environment one target at a time."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from agentv.core.digest import digest
from agentv.loading.check import CheckFailed, convert
from agentv.loading.document import Document, locate, read_document
from agentv.loading.environment import interpolate
from agentv.loading.evaluator_options import unknown_target
from agentv.loading.files import SearchPath
from agentv.loading.mistake import Mistake
from agentv.loading.nearest import did_you_mean
from agentv.loading.project import show
from agentv.loading.salvage import salvage
from agentv.loading.target_keys import OneSpelling, one_spelling
from agentv.loading.target_secrets import literal_secrets, secrets_of, without_secrets
from agentv.model.base import AuthoredRecord
from agentv.model.options import TargetOptions
from agentv.model.problem import KeyPath, Problem
from agentv.registry import KNOWN_ELSEWHERE, Entry, Registry

FILE_NAMES = ("targets.yaml", "targets.yml", ".agentv/targets.yaml", ".agentv/targets.yml")


class TargetsFile(AuthoredRecord, frozen=True, kw_only=True):
    """A targets file, as it is written."""

    schema: Literal["agentv-targets-v2", "agentv-targets-v2.1", "agentv-targets-v2.2"] | None = (
        msgspec.field(name="$schema", default=None)
    )
    targets: Annotated[list[dict[str, Any]], Meta(min_length=1)]


@dataclass(frozen=True, kw_only=True)
class ResolvedTarget:
    """A target ready to be built."""

    options: TargetOptions
    entry: Entry
    settings: dict[str, Any]
    """As written, variables unresolved: fit for a manifest."""
    digest: str
    """Over `settings`, without what does not shape answers."""
    secrets: Mapping[str, str]
    """Resolved values that must not be shown, by the name of their variable."""
    folder: Path
    """Where relative paths in the options start."""


@dataclass(frozen=True, kw_only=True)
class _Definition:
    """One target of a file, before the environment is asked."""

    path: KeyPath
    spelling: OneSpelling
    entry: Entry | None


@dataclass
class Targets:
    """The targets of one file. `problems` holds every mistake that needs no environment."""

    path: Path
    shown: str
    document: Document
    registry: Registry
    problems: list[Problem] = field(default_factory=list)
    definitions: dict[str, _Definition] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    """In file order; also of targets whose provider is unknown."""

    @property
    def folder(self) -> Path:
        """Relative paths start here: the file's folder, or the one that holds `.agentv`."""
        parent = self.path.parent
        return parent.parent if parent.name == ".agentv" else parent

    @cached_property
    def files(self) -> SearchPath:
        """Finds what targets refer to."""
        return SearchPath((self.folder, self.path.parent, Path.cwd()))

    def judge_of(self, name: str) -> str:
        """The target that judges a target's answers: itself unless it names another."""
        judge = self.definitions[name].spelling.keys.get("judge_target")
        return judge if isinstance(judge, str) and judge in self.definitions else name

    def resolve(
        self, name: str, env: Mapping[str, str]
    ) -> tuple[ResolvedTarget | None, list[Problem]]:
        """A target with its variables replaced, or what stands in the way."""
        definition = self.definitions[name]
        spelling = definition.spelling
        provider = spelling.keys.get("provider")
        if definition.entry is None:
            place = (*definition.path, *spelling.written(("provider",)))
            message = f"target '{name}' uses provider '{provider}', which {_elsewhere(provider)}"
            hint = f"this version has {', '.join(self.registry.names('providers'))}"
            mistake = Mistake(path=place, message=message, hint=hint, code="unavailable-provider")
            return None, locate([mistake], self.document)
        filled = interpolate(spelling.keys, env, (), f"target '{name}'")
        options, mistakes = self._options(filled.tree, definition.entry, spelling)
        mistakes = [*filled.mistakes, *([] if filled.mistakes else mistakes)]
        if options is None or mistakes:
            return None, locate(_placed(definition, mistakes), self.document)
        settings = {key: value for key, value in spelling.keys.items() if key != "name"}
        return ResolvedTarget(
            options=options,
            entry=definition.entry,
            settings=without_secrets(settings),
            digest=digest(_shaping(without_secrets(settings))),
            secrets=dict(secrets_of(filled, settings)),
            folder=self.folder,
        ), []

    def _options(
        self, tree: dict[str, Any], entry: Entry, spelling: OneSpelling
    ) -> tuple[TargetOptions | None, list[Mistake]]:
        model = self.registry.provider_options(entry)
        typed = _typed(tree, spelling.keys, model)
        mistakes: list[Mistake] = []
        try:
            options: TargetOptions | None = convert(typed, model)
        except CheckFailed as failed:
            mistakes += failed.mistakes
            options = salvage(typed, model)
        if options is not None:
            mistakes += [
                Mistake(path=p.path, message=p.message, hint=p.hint, code=p.code)
                for p in options.problems(self.files)
            ]
        return options, mistakes

    def check(self) -> None:
        """Find every mistake that does not depend on the environment."""
        mistakes: list[Mistake] = []
        for definition in self.definitions.values():
            mistakes += _placed(definition, definition.spelling.mistakes)
            mistakes += _placed(definition, self._check_judge(definition))
            if definition.entry is not None:
                model = self.registry.provider_options(definition.entry)
                keys = _without_open_values(definition.spelling.keys, model)
                _, own = self._options(keys, definition.entry, definition.spelling)
                mistakes += _placed(definition, own)
        self.problems += locate(mistakes, self.document)

    def warnings(self) -> list[Problem]:
        """Secrets in plain text, which `validate` points out."""
        found = [
            Mistake(
                path=(*definition.path, *definition.spelling.written((key,))),
                message=f"'{key}' holds a secret in plain text",
                hint="write ${{ NAME }} and set the variable in the environment or in .env",
                code="literal-secret",
                severity="warning",
            )
            for definition in self.definitions.values()
            for key in literal_secrets(definition.spelling.keys)
        ]
        return locate(found, self.document)

    def _check_judge(self, definition: _Definition) -> Iterator[Mistake]:
        judge = definition.spelling.keys.get("judge_target")
        if isinstance(judge, str) and "${{" not in judge and judge not in self.names:
            yield unknown_target(judge, self.names, ("judge_target",))


def find_targets_file(folders: Iterable[Path]) -> Path | None:
    """The first targets file on the way up, then in the working directory."""
    candidates = (folder / name for folder in folders for name in FILE_NAMES)
    return next((path for path in candidates if path.is_file()), None)


def load_targets(path: Path, cwd: Path, registry: Registry) -> Targets:
    """Read and check a targets file.

    Raises:
        LoadError: It cannot be read as YAML at all; other mistakes are in `problems`.
    """
    document = read_document(path, show(path, cwd))
    targets = Targets(path=path, shown=document.shown, document=document, registry=registry)
    try:
        file = convert(document.tree, TargetsFile)
    except CheckFailed as failed:
        targets.problems += locate(failed.mistakes, document)
        return targets
    mistakes: list[Mistake] = []
    for number, raw in enumerate(file.targets):
        _define(targets, raw, ("targets", number), mistakes)
    targets.problems += locate(mistakes, document)
    targets.check()
    return targets


def _define(targets: Targets, raw: dict[str, Any], path: KeyPath, mistakes: list[Mistake]) -> None:
    spelling = one_spelling(raw)
    name, provider = spelling.keys.get("name"), spelling.keys.get("provider")
    if not isinstance(name, str) or not name.strip():
        message = "the target has no name" if name is None else "a target's name is text"
        mistakes.append(
            Mistake(path=path, message=message, hint="add `name: …`", code="missing-key")
        )
        return
    if name in targets.names:
        message = f"two targets are called '{name}'"
        mistakes.append(
            Mistake(path=(*path, "name"), message=message, hint="rename one", code="duplicate-name")
        )
        return
    targets.names.append(name)
    entry = None
    if isinstance(provider, str):
        entry = targets.registry.find("providers", provider)
        if entry is None and provider not in KNOWN_ELSEWHERE:
            mistakes.append(_unknown_provider(targets.registry, provider, (*path, "provider")))
            return
    else:
        message = f"target '{name}' has no provider"
        hint = f"add `provider: …`, one of {', '.join(targets.registry.names('providers'))}"
        mistakes.append(Mistake(path=path, message=message, hint=hint, code="missing-key"))
        return
    targets.definitions[name] = _Definition(path=path, spelling=spelling, entry=entry)


def _unknown_provider(registry: Registry, provider: str, path: KeyPath) -> Mistake:
    names = registry.names("providers")
    hint = did_you_mean(provider, [*names, *KNOWN_ELSEWHERE]) or f"one of {', '.join(names)}"
    message = f"unknown provider '{provider}'"
    return Mistake(path=path, message=message, hint=hint, code="unknown-provider")


def _elsewhere(provider: Any) -> str:
    return KNOWN_ELSEWHERE.get(str(provider), "is not known")


def _placed(definition: _Definition, mistakes: Iterable[Mistake]) -> list[Mistake]:
    """Mistakes below a target, at the places where their keys were written."""
    return [
        msgspec.structs.replace(m, path=(*definition.path, *_written(definition, m)))
        for m in mistakes
    ]


def _written(definition: _Definition, mistake: Mistake) -> KeyPath:
    if mistake.code == "given-twice":  # found while spelling: it already is where it was written
        return mistake.path
    return definition.spelling.written(mistake.path)


_NOT_SHAPING = frozenset({"workers", "judge_target", "provider_batching", "verbose"})


def _shaping(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key not in _NOT_SHAPING}


def _typed(
    tree: dict[str, Any], written: Mapping[str, Any], model: type[TargetOptions]
) -> dict[str, Any]:
    """Numbers and booleans that came out of a variable are text; read them as their key's type."""
    types = {f.encode_name: f.type for f in msgspec.structs.fields(model)}
    typed = dict(tree)
    for key, value in tree.items():
        if key in types and _has_variable(written.get(key)):
            try:
                typed[key] = msgspec.convert(value, types[key], strict=False)
            except msgspec.ValidationError:
                continue  # the check that follows says what is wrong
    return typed


def _without_open_values(keys: dict[str, Any], model: type[TargetOptions]) -> dict[str, Any]:
    """Leave out values that wait for a variable and are not text once they have it."""
    types = {f.encode_name: f.type for f in msgspec.structs.fields(model)}

    def is_open(key: str, value: Any) -> bool:
        try:
            return _has_variable(value) and msgspec.convert(value, types.get(key, str)) is None
        except msgspec.ValidationError:
            return True

    return {key: value for key, value in keys.items() if not is_open(key, value)}


def _has_variable(value: Any) -> bool:
    return isinstance(value, str) and "${{" in value
