"""Targets files: found, checked, and asked for one target at a time."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from agentv.loading.document import Document, locate, read_document
from agentv.loading.environment import has_variable
from agentv.loading.evaluator_options import unknown_target
from agentv.loading.files import SearchPath
from agentv.loading.mistake import Mistake
from agentv.loading.project import show
from agentv.loading.resolved_target import ResolvedTarget, check_target, resolve_target
from agentv.loading.salvage import STAND_IN_ID, read_record
from agentv.loading.target_definition import (
    Definition,
    define,
    unknown_provider,
)
from agentv.loading.target_secrets import literal_secrets
from agentv.model.base import AuthoredRecord
from agentv.model.problem import KeyPath, Problem
from agentv.registry import Registry

__all__ = ["ResolvedTarget", "Targets", "TargetsFile", "find_targets_file", "load_targets"]

FILE_NAMES = ("targets.yaml", "targets.yml", ".agentv/targets.yaml", ".agentv/targets.yml")


class TargetsFile(AuthoredRecord, frozen=True, kw_only=True):
    """A targets file, as it is written."""

    schema: Literal["agentv-targets-v2", "agentv-targets-v2.1", "agentv-targets-v2.2"] | None = (
        msgspec.field(name="$schema", default=None)
    )
    targets: Annotated[list[dict[str, Any]], Meta(min_length=1)]


class Targets(msgspec.Struct, kw_only=True):
    """The targets of one file. `problems` holds every mistake that needs no environment."""

    path: Path
    document: Document
    registry: Registry
    files: SearchPath
    """Finds what targets refer to."""
    problems: list[Problem] = []
    definitions: dict[str, Definition] = {}
    """Targets whose provider is known, here or elsewhere."""
    names: list[str] = []
    """In file order; also of targets whose provider is unknown."""
    nameless: bool = False
    """Whether there are more targets than names."""

    @property
    def shown(self) -> str:
        """The path as the user would type it."""
        return self.document.shown

    @property
    def folder(self) -> Path:
        """Relative paths start here: the file's folder, or the one that holds `.agentv`."""
        return _project_folder(self.path)

    @property
    def trusted_names(self) -> Collection[str] | None:
        """The names that may be used; `None` when mistakes in the file may have cost some."""
        return None if self.nameless or not self.names else self.names

    def judge_of(self, name: str) -> str:
        """The target that judges a target's answers: itself unless it names another."""
        judge = self.definitions[name].keys.get("judge_target")
        return judge if isinstance(judge, str) and judge in self.definitions else name

    def resolve(
        self, name: str, env: Mapping[str, str]
    ) -> tuple[ResolvedTarget | None, list[Problem]]:
        """A target with its variables replaced, or what stands in the way."""
        definition = self.definitions[name]
        found = resolve_target(definition, env, self.registry, self.files, self.folder)
        if isinstance(found, ResolvedTarget):
            return found, []
        return None, locate(found, self.document)

    def warnings(self) -> list[Problem]:
        """Secrets in plain text, which `validate` points out."""
        found: list[Mistake] = []
        for definition in self.definitions.values():
            found += definition.placed(map(_in_plain_text, literal_secrets(definition.keys)))
        return locate(found, self.document)


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
    files = SearchPath(tuple(dict.fromkeys([_project_folder(path), path.parent, cwd])))
    targets = Targets(path=path, document=document, registry=registry, files=files)
    reading = read_record(document.tree, TargetsFile)
    mistakes = list(reading.mistakes)
    defined = []
    for number, raw in enumerate(reading.record.targets if reading.record else ()):
        definition = define(raw, reading.written(("targets", number)), registry)
        mistakes += _add(definition, targets)
        defined.append(definition)
    for definition in defined:
        mistakes += definition.placed(_check_judge(definition, targets))
        mistakes += definition.placed(check_target(definition, registry, files))
    targets.problems += locate(mistakes, document)
    return targets


def _project_folder(path: Path) -> Path:
    return path.parent.parent if path.parent.name == ".agentv" else path.parent


def _add(definition: Definition, targets: Targets) -> list[Mistake]:
    """Add a target to the others, unless it cannot be told which one it is."""
    name = definition.keys.get("name")
    if name == STAND_IN_ID:
        targets.nameless = True
        return []
    found = []
    if definition.entry is None:
        found.append(unknown_provider(definition, targets.registry))
    if not isinstance(name, str) or not name.strip():
        targets.nameless = True
        found.append(_no_name(name))
    elif name in targets.names:
        message = f"two targets are called '{name}'"
        found.append(_mistake(("name",), message, "rename one", "duplicate-name"))
    else:
        targets.names.append(name)
        if not found:
            targets.definitions[name] = definition
    return [*definition.mistakes, *definition.placed(found)]


def _check_judge(definition: Definition, targets: Targets) -> Iterator[Mistake]:
    judge = definition.keys.get("judge_target")
    known = targets.trusted_names
    if has_variable(judge):
        # Which targets a run needs, and so whose variables, is known before any variable is.
        hint = "write the name of a target; its settings may hold variables"
        yield _mistake(("judge_target",), "`judge_target` takes no variable", hint, "variable-name")
    elif isinstance(judge, str) and known is not None and judge not in known:
        yield unknown_target(judge, known, ("judge_target",))


def _in_plain_text(path: KeyPath) -> Mistake:
    key = next(part for part in reversed(path) if isinstance(part, str))
    return Mistake(
        path=path,
        message=f"'{key}' holds a secret in plain text",
        hint="write ${{ NAME }} and set the variable in the environment or in .env",
        code="literal-secret",
        severity="warning",
    )


def _no_name(name: Any) -> Mistake:
    if name is None:
        return _mistake((), "the target has no name", "add `name: …`", "missing-key")
    return _mistake(("name",), "a target's name is text", "write a name", "wrong-type")


def _mistake(path: KeyPath, message: str, hint: str, code: str) -> Mistake:
    return Mistake(path=path, message=message, hint=hint, code=code)
