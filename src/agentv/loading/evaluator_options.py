"""From the `evaluators` of a file to valid options, each checked against its own model."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from agentv.loading.check import CheckFailed, convert
from agentv.loading.files import SearchPath
from agentv.loading.mistake import Mistake
from agentv.loading.nearest import did_you_mean
from agentv.loading.salvage import salvage
from agentv.model.options import EvaluatorOptions
from agentv.model.problem import KeyPath
from agentv.registry import Registry


class EvaluatorParser:
    """Checks evaluators of one suite and remembers what it learnt of each type."""

    def __init__(
        self, registry: Registry, files: SearchPath, target_names: Sequence[str] | None
    ) -> None:
        self._registry = registry
        self._files = files
        self._target_names = target_names
        self._models: dict[str, type[EvaluatorOptions]] = {}

    def parse(
        self, raw: Sequence[Any], path: KeyPath, mistakes: list[Mistake]
    ) -> tuple[EvaluatorOptions, ...]:
        """The options of a list of evaluators, in order.

        Mistakes are added to `mistakes`; an evaluator that has one is left out of the result.
        """
        found = [self._parse_one(item, (*path, i), mistakes) for i, item in enumerate(raw)]
        valid = [options for options in found if options is not None]
        return _distinct(valid, path, mistakes)

    def default(
        self, type_: str, path: KeyPath, mistakes: list[Mistake]
    ) -> tuple[EvaluatorOptions, ...]:
        """The one evaluator that is used when no list is given."""
        own: list[Mistake] = []
        found = self._parse_one({"type": type_}, path, own)
        mistakes.extend(msgspec.structs.replace(mistake, path=path) for mistake in own)
        return (found,) if found else ()

    def needs_judge(self, options: EvaluatorOptions) -> bool:
        """Whether an evaluator asks another target."""
        entry = self._registry.find("evaluators", options.type)
        return entry is not None and entry.needs_judge

    def _parse_one(
        self, raw: Any, path: KeyPath, mistakes: list[Mistake]
    ) -> EvaluatorOptions | None:
        model = self._model(raw, path, mistakes)
        if model is None:
            return None
        try:
            options: EvaluatorOptions | None = convert(raw, model)
        except CheckFailed as failed:
            mistakes.extend(_below(path, mistake) for mistake in failed.mistakes)
            options = salvage(raw, model)
        if options is not None:
            mistakes.extend(self._deeper_mistakes(options, path))
        return options

    def _model(
        self, raw: Any, path: KeyPath, mistakes: list[Mistake]
    ) -> type[EvaluatorOptions] | None:
        type_ = raw.get("type") if isinstance(raw, Mapping) else None
        if isinstance(type_, str) and type_ in self._models:
            return self._models[type_]
        names = self._registry.names("evaluators")
        if not isinstance(raw, Mapping):
            hint = "write a mapping with `type:` and its settings"
            mistakes.append(
                Mistake(path=path, message="expected an evaluator", hint=hint, code="wrong-type")
            )
        elif not isinstance(type_, str):
            near = f"give it one of {', '.join(names)}"
            message = "the evaluator has no type" if type_ is None else "expected a type's name"
            place = path if type_ is None else (*path, "type")
            mistakes.append(Mistake(path=place, message=message, hint=near, code="missing-key"))
        elif (entry := self._registry.find("evaluators", type_)) is None:
            message = f"unknown evaluator '{type_}'"
            hint = did_you_mean(type_, names) or f"one of {', '.join(names)}"
            code = "unknown-evaluator"
            place = (*path, "type")
            mistakes.append(Mistake(path=place, message=message, hint=hint, code=code))
        else:
            model = self._registry.evaluator_options(entry)
            self._models[type_] = model
            return model
        return None

    def _deeper_mistakes(self, options: EvaluatorOptions, path: KeyPath) -> list[Mistake]:
        found = [
            Mistake(path=(*path, *p.path), message=p.message, hint=p.hint, code=p.code)
            for p in options.problems(self._files)
        ]
        target = getattr(options, "target", None)
        known = self._target_names
        if isinstance(target, str) and known is not None and target not in known:
            found.append(unknown_target(target, known, (*path, "target")))
        return found


def unknown_target(name: str, known: Sequence[str], path: KeyPath) -> Mistake:
    """No target has this name."""
    hint = did_you_mean(name, known) or f"the targets file has {', '.join(known)}"
    return Mistake(path=path, message=f"unknown target '{name}'", hint=hint, code="unknown-target")


def _below(path: KeyPath, mistake: Mistake) -> Mistake:
    return msgspec.structs.replace(mistake, path=(*path, *mistake.path))


def _distinct(
    found: Sequence[EvaluatorOptions], path: KeyPath, mistakes: list[Mistake]
) -> tuple[EvaluatorOptions, ...]:
    """Rows tell evaluators apart by name: unnamed ones are numbered, equal names are mistakes."""
    if len(found) < 2:
        return tuple(found)
    given = [options.name for options in found if options.name]
    for name in sorted({name for name in given if given.count(name) > 1}):
        message = f"two evaluators are called '{name}'"
        mistakes.append(
            Mistake(
                path=path, message=message, hint="give each its own name", code="duplicate-name"
            )
        )
    taken = set(given)
    named = []
    for options in found:
        label, number = options.label, 1
        while not options.name and label in taken:
            number += 1
            label = f"{options.type}_{number}"
        taken.add(label)
        named.append(
            options if options.label == label else msgspec.structs.replace(options, name=label)
        )
    return tuple(named)
