"""One target as it is written: where, under which provider, its keys in one spelling."""

from collections.abc import Iterable
from typing import Any

import msgspec

from agentv.loading.environment import has_variable
from agentv.loading.mistake import Mistake
from agentv.loading.nearest import did_you_mean
from agentv.loading.target_keys import OneSpelling, one_spelling
from agentv.model.base import Record
from agentv.model.problem import KeyPath
from agentv.registry import Entry, Registry


class Definition(Record, frozen=True, kw_only=True):
    """One target of a file, before the environment is asked."""

    path: KeyPath
    """Its place in the file."""
    spelling: OneSpelling
    entry: Entry | None
    """`None` if there is no such provider."""

    @property
    def name(self) -> str:
        """How it is called."""
        return str(self.keys.get("name"))

    @property
    def keys(self) -> dict[str, Any]:
        """Its keys in their one spelling, with the author's values."""
        return self.spelling.keys

    @property
    def mistakes(self) -> list[Mistake]:
        """What is wrong with the spelling of its keys, at places in the file."""
        return [self._below(mistake) for mistake in self.spelling.mistakes]

    def placed(self, mistakes: Iterable[Mistake]) -> list[Mistake]:
        """Mistakes found in the target's keys, at their places in the file."""
        return [self._below(self.spelling.placed(mistake)) for mistake in mistakes]

    def _below(self, mistake: Mistake) -> Mistake:
        return msgspec.structs.replace(mistake, path=(*self.path, *mistake.path))


def define(raw: dict[str, Any], path: KeyPath, registry: Registry) -> Definition:
    """The definition that stands at `path`; mistakes in its keys are in its `spelling`."""
    spelling = one_spelling(raw)
    spelling.mend("name")
    spelling.mend("provider")
    provider = spelling.keys.get("provider")
    entry = registry.find("providers", provider) if isinstance(provider, str) else None
    return Definition(path=path, spelling=spelling, entry=entry)


def unknown_provider(definition: Definition, registry: Registry) -> Mistake:
    """There is no such provider anywhere; at its place in the definition."""
    keys, names = definition.keys, registry.names("providers")
    name, provider = keys.get("name"), keys.get("provider")
    every = f"one of {', '.join(names)}"
    if provider is None:
        who = f"target '{name}'" if isinstance(name, str) else "the target"
        message, hint = f"{who} has no provider", f"add `provider: …`, {every}"
        return Mistake(message=message, hint=hint, code="missing-key")
    if not isinstance(provider, str) or has_variable(provider):
        message, hint = "a provider is the name of one, without variables", every
    else:
        message = f"unknown provider '{provider}'"
        hint = did_you_mean(provider, names) or every
    return Mistake(path=("provider",), message=message, hint=hint, code="unknown-provider")
