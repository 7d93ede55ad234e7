"""One target of a file: checked as it is written, then resolved with the environment."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from agentv.core.answer_key import NOT_SHAPING
from agentv.core.digest import digest
from agentv.core.redaction import Redactor
from agentv.loading.environment import (
    Interpolation,
    interpolate,
    malformed_references,
    variable_places,
)
from agentv.loading.files import SearchPath
from agentv.loading.mistake import Mistake
from agentv.loading.options_reading import is_related, read_options
from agentv.loading.stand_ins import is_stand_in
from agentv.loading.target_definition import Definition
from agentv.loading.target_secrets import secrets_of, without_secrets
from agentv.loading.variable_values import read_values
from agentv.model.base import Record
from agentv.model.options import TargetOptions
from agentv.model.problem import Problem
from agentv.registry import Entry, Registry


class ResolvedTarget(Record, frozen=True, kw_only=True):
    """A target ready to be built."""

    options: TargetOptions
    entry: Entry
    settings: dict[str, Any]
    """As written, variables unresolved: fit for a manifest."""
    digest: str
    """Over `settings`, without what does not shape answers; see `_shaping`."""
    secrets: Mapping[str, str]
    """Resolved values that must not be shown, by the name of their variable or key."""
    variables: Mapping[str, str]
    """Every variable that was put in, with its value."""
    folder: Path
    """Where relative paths in the options start."""
    unset: tuple[Problem, ...] = ()
    """Variables that it lacks, where it was resolved with something in their place: it can be
    compared with what it was, and not be called."""


def check_target(definition: Definition, registry: Registry, files: SearchPath) -> list[Mistake]:
    """What is wrong with a target's keys whatever its variables will be."""
    keys = definition.keys
    found = malformed_references(keys)
    if definition.entry is not None:
        model = registry.provider_options(definition.entry)
        waiting = [path for path, _ in variable_places(keys)]
        # Name and provider have been looked at: without them this would not be the model.
        looked_at = {"name": definition.name or "-", "provider": "-"}
        _, mistakes = read_options({**keys, **looked_at}, model, files)
        found += [m for m in mistakes if not any(is_related(m.path, p) for p in waiting)]
    return found


def resolve_target(
    definition: Definition,
    env: Mapping[str, str],
    registry: Registry,
    files: SearchPath,
    folder: Path,
) -> ResolvedTarget | list[Mistake]:
    """A target with its variables replaced, or what stands in the way."""
    keys, entry, name = definition.keys, definition.entry, definition.name
    if entry is None:
        raise ValueError(f"target '{name}' has no provider that could be resolved")
    model = registry.provider_options(entry)
    filled = interpolate(keys, env, f"target '{name}'")
    settings = {key: value for key, value in keys.items() if key != "name"}
    known = secrets_of(filled, settings, name)
    secrets = {label: value for label, value in known if not is_stand_in(env, label, value)}
    options, mistakes = read_options(read_values(filled.tree, keys, model), model, files)
    unset = [mistake.path for mistake in filled.mistakes]
    mistakes = [m for m in mistakes if not any(is_related(m.path, p) for p in unset)]
    if options is None or mistakes or filled.mistakes:
        redactor = Redactor(secrets)
        shown = [_without(redactor, mistake) for mistake in mistakes]
        return definition.placed([*filled.mistakes, *shown])
    public = without_secrets(settings)
    return ResolvedTarget(
        options=options,
        entry=entry,
        settings=public,
        digest=digest(_shaping(public, filled, secrets)),
        secrets=secrets,
        variables=filled.used,
        folder=folder,
    )


_WHICH_SYSTEM = frozenset(
    [
        *("model", "deployment", "deployment_name", "version", "api_version"),
        *("endpoint", "base_url", "url", "resource", "resource_name"),
        *("temperature", "top_p", "seed", "stop", "max_output_tokens", "max_tokens"),
        *("reasoning_effort", "thinking_budget"),
    ]
)
"""Settings whose variables count by their values: with another model it is another system."""
_WHICH_SYSTEM_BY_NAME = ("model", "deployment", "temperature", "effort", "seed")
"""How variables are called that count by their values wherever they stand: in a command, say."""


def _shaping(
    public: Mapping[str, Any], filled: Interpolation, secrets: Mapping[str, str]
) -> dict[str, Any]:
    """What shapes the answers.

    Other variables count by their names: where a folder lies shapes nothing, and not even a digest
    of a secret is to be kept. How a prompt is laid out is a part of the question elsewhere; here
    the question is known by its pieces.
    """
    shaping = {
        key: value
        for key, value in public.items()
        if key not in NOT_SHAPING or key == "prompt_mode"
    }
    for key in _WHICH_SYSTEM & shaping.keys():
        value = filled.tree[key]
        if not any(secret in str(value) for secret in secrets.values()):
            shaping[key] = value
    telling = {
        name: value
        for name, value in filled.used.items()
        if name.lower().endswith(_WHICH_SYSTEM_BY_NAME)
        and not filled.keys[name] <= _WHICH_SYSTEM | NOT_SHAPING
    }
    return {**shaping, "variables": telling} if telling else shaping


def _without(redactor: Redactor, mistake: Mistake) -> Mistake:
    hint = redactor.text(mistake.hint) if mistake.hint else None
    return msgspec.structs.replace(mistake, message=redactor.text(mistake.message), hint=hint)
