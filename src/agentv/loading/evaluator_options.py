"""From the `evaluators` of a file to valid options, each checked against its own model."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from agentv.loading.files import SearchPath
from agentv.loading.mistake import Mistake
from agentv.loading.nearest import did_you_mean
from agentv.loading.options_reading import read_options
from agentv.loading.salvage import misspelt_key
from agentv.model.options import EvaluatorOptions
from agentv.model.problem import KeyPath
from agentv.registry import Registry

_COMMON_KEYS = EvaluatorOptions.__struct_fields__
_REMEMBERED_LISTS = 256

Parsed = tuple[EvaluatorOptions, ...]


class EvaluatorParser:
    """Checks evaluators of one suite and remembers what it learnt of each type."""

    def __init__(
        self, registry: Registry, files: SearchPath, target_names: Collection[str] | None
    ) -> None:
        self._registry = registry
        self._files = files
        self._target_names = target_names
        self._models: dict[str, type[EvaluatorOptions]] = {}
        self._asks: dict[str, bool] = {}
        self._parsed: dict[str, Parsed] = {}

    def parse(self, raw: Sequence[Any], path: KeyPath, mistakes: list[Mistake]) -> Parsed:
        """The options of a list of evaluators, in order; mistakes are added to `mistakes`.

        Lists that were written alike give the same options, so that cases share what is built
        from them.
        """
        spelling = repr(raw)
        if known := self._parsed.get(spelling):
            return known
        own: list[Mistake] = []
        found = {
            index: parsed
            for index, item in enumerate(raw)
            if (parsed := self._parse_one(item, (*path, index), own))
        }
        options = _distinct(found, path, own)
        if own:
            mistakes += own
            return options
        if len(self._parsed) >= _REMEMBERED_LISTS:
            self._parsed.clear()
        self._parsed[spelling] = options
        return options

    def named_alone(self, type_: str, path: KeyPath, mistakes: list[Mistake]) -> Parsed:
        """The one evaluator of a key such as `evaluator: llm_judge`, without settings."""
        own: list[Mistake] = []
        options = self.parse([{"type": type_}], (), own)
        needed = [str(mistake.path[-1]) for mistake in own if mistake.code == "missing-key"]
        if needed:
            settings = ", ".join(f"{key}: …" for key in needed)
            mistakes.append(
                Mistake(
                    path=path,
                    message=f"the evaluator '{type_}' cannot do without settings",
                    hint=f"list it: `evaluators: [{{type: {type_}, {settings}}}]`",
                    code="missing-key",
                )
            )
        else:
            mistakes += [msgspec.structs.replace(mistake, path=path) for mistake in own]
        return options

    def needs_judge(self, options: EvaluatorOptions) -> bool:
        """Whether an evaluator asks another target."""
        asks = self._asks.get(options.type)
        if asks is None:
            entry = self._registry.find("evaluators", options.type)
            asks = self._asks[options.type] = entry is not None and entry.needs_judge
        return asks

    def _parse_one(
        self, raw: Any, path: KeyPath, mistakes: list[Mistake]
    ) -> EvaluatorOptions | None:
        model = self._model(raw, path, mistakes)
        if model is None:
            return None
        options, own = read_options(raw, model, self._files)
        mistakes += [msgspec.structs.replace(m, path=(*path, *m.path)) for m in own]
        judge = judge_named_by(options)
        known = self._target_names
        if judge is not None and known is not None and judge not in known:
            mistakes.append(unknown_target(judge, known, (*path, "target")))
        return options

    def _model(
        self, raw: Any, path: KeyPath, mistakes: list[Mistake]
    ) -> type[EvaluatorOptions] | None:
        """The options model of an evaluator's type; mistakes when it has none."""
        if not isinstance(raw, Mapping):
            hint = "write a mapping with `type:` and its settings"
            mistakes.append(_mistake(path, "expected an evaluator", hint, "wrong-type"))
            return None
        key = "type" if "type" in raw else misspelt_key(raw, "type", _COMMON_KEYS)
        type_ = raw[key] if key else None
        if isinstance(type_, str) and type_ in self._models:
            return self._models[type_]
        entry = self._registry.find("evaluators", type_) if isinstance(type_, str) else None
        if entry is None:
            mistakes.append(_no_such_type(type_, path, key, self._registry.names("evaluators")))
            return None
        model = self._registry.evaluator_options(entry)
        self._models[str(type_)] = model
        return model


def _no_such_type(type_: Any, path: KeyPath, key: str | None, names: Sequence[str]) -> Mistake:
    every = f"one of {', '.join(names)}"
    if key is None:
        message = "the evaluator has no type"
        return _mistake(path, message, f"add `type: …`, {every}", "missing-key")
    unknown = isinstance(type_, str) and bool(type_)
    message = f"unknown evaluator '{type_}'" if unknown else "expected an evaluator's type"
    hint = (did_you_mean(type_, names) if isinstance(type_, str) else "") or every
    return _mistake((*path, key), message, hint, "unknown-evaluator")


def judge_named_by(options: EvaluatorOptions | None) -> str | None:
    """The target that an evaluator itself names as its judge."""
    target = getattr(options, "target", None)
    return target if isinstance(target, str) else None


def unknown_target(name: str, known: Collection[str], path: KeyPath) -> Mistake:
    """No target has this name."""
    hint = did_you_mean(name, known) or f"the targets file has {', '.join(known)}"
    return _mistake(path, f"unknown target '{name}'", hint, "unknown-target")


def _distinct(
    found: Mapping[int, EvaluatorOptions], path: KeyPath, mistakes: list[Mistake]
) -> Parsed:
    """Rows tell evaluators apart by name: unnamed ones are numbered, equal names are mistakes."""
    if len(found) < 2:
        return tuple(found.values())
    given: set[str] = set()
    for index, options in found.items():
        if options.name and options.name in given:
            message = f"two evaluators are called '{options.name}'"
            place = (*path, index, "name")
            mistakes.append(_mistake(place, message, "give each its own name", "duplicate-name"))
        elif options.name:
            given.add(options.name)
    taken = set(given)
    named = []
    for options in found.values():
        label, number = options.label, 1
        while not options.name and label in taken:
            number += 1
            label = f"{options.type}_{number}"
        taken.add(label)
        named.append(
            options if options.label == label else msgspec.structs.replace(options, name=label)
        )
    return tuple(named)


def _mistake(path: KeyPath, message: str, hint: str | None, code: str) -> Mistake:
    return Mistake(path=path, message=message, hint=hint, code=code)
