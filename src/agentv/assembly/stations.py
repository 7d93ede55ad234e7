"""Stations: targets, built, to which trials are sent and which judges are asked."""

import asyncio
from collections.abc import Callable, Mapping
from os.path import relpath
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from agentv.assembly.options import (
    DEFAULT_TIMEOUT_SECONDS,
    CustomTarget,
    RunOptions,
    Surroundings,
    first,
)
from agentv.core.answer_key import setup_key
from agentv.core.inherited import SAFE, inherited
from agentv.core.redaction import Redactor
from agentv.errors import AuthorError, RunAborted, SetupError
from agentv.loading.suites import LoadedSuite
from agentv.loading.target_secrets import is_secret_name
from agentv.loading.workspace import Workspace
from agentv.model.base import Record
from agentv.model.event import Notice
from agentv.model.options import PromptMode, TargetOptions
from agentv.model.problem import Problem
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.model.run import TargetRecord
from agentv.protocols import Cassette, Provider, ProviderBuild
from agentv.registry import ALIASES, Entry, Registry
from agentv.runner.attempts import AttemptPolicy

_DRY_ANSWER = "[dry run: the target was not asked]"


class Station(Record, frozen=True, kw_only=True):
    """A target with its provider and everything a trial needs to know of it."""

    name: str
    provider: Provider
    mode: PromptMode
    chat: bool
    workers: int
    batching: bool
    costs: bool
    """Whether asking it takes time or money; a canned reply does not."""
    policy: AttemptPolicy
    record: TargetRecord
    """For the manifest."""
    setup: str | None = None
    """Stands for all that shapes its answers; `None` if that cannot be known, so that none may be
    kept."""
    secrets: Mapping[str, str]
    """Values that must not be shown, by the name of their variable or key."""
    unset: tuple[Problem, ...] = ()
    """Variables that it lacks: it cannot be called."""


class Stations:
    """Builds each target once, however many suites and judges use it."""

    def __init__(
        self,
        workspace: Workspace,
        options: RunOptions,
        around: Surroundings,
        custom: CustomTarget | None,
        answered: Mapping[str, TargetRecord] | None = None,
    ) -> None:
        self._answered = answered
        self._workspace = workspace
        self._options = options
        self._around = around
        self._custom = custom
        self._built: dict[Any, Station] = {}

    def all(self) -> list[Station]:
        """Every station built so far."""
        return list(self._built.values())

    def of(self, loaded: LoadedSuite, name: str) -> Station:
        """The station that a suite means by a name."""
        if self._custom is not None and name == self._custom.name:
            custom = self._custom
            return self._once(name, lambda: self._from_program(custom))
        project = loaded.targets.path if loaded.targets else None
        if self._options.dry_run:
            return self._once((project, name), lambda: self._rehearsal(loaded, name))
        key = (project, loaded.environment.file, name)
        return self._once(key, lambda: self._from_file(loaded, name))

    def candidate(self, loaded: LoadedSuite, name: str) -> Station:
        """The station of a target under test.

        Where its answers are there already it is the target as it was then, and cannot be asked:
        neither its program nor its keys are needed.
        """
        if self._answered is None:
            return self.of(loaded, name)
        record = self._answered.get(name)
        return self._once(
            ("answered", name), lambda: answered_station(name, record, self._around.registry)
        )

    def _once(self, key: Any, build: Callable[[], Station]) -> Station:
        if key not in self._built:
            self._built[key] = build()
        return self._built[key]

    def _from_file(self, loaded: LoadedSuite, name: str) -> Station:
        if loaded.targets is None:
            shown = loaded.suite.shown
            raise AuthorError(f"{shown} needs the target '{name}', but has no targets file.")
        target = self._workspace.target(loaded, name)
        own, entry = target.options, target.entry
        limit = first(self._options.agent_timeout, own.timeout_seconds, DEFAULT_TIMEOUT_SECONDS)
        env = _environment(entry, loaded.environment.values)
        secrets = {**_inherited_secrets(entry, env), **target.secrets}
        self._refuse_unrecordable(name, own.provider, entry)
        build = self._provider_build(loaded, name, target.folder, env)
        provider = self._around.registry.build_provider(
            msgspec.structs.replace(own, timeout_seconds=limit),
            msgspec.structs.replace(build, written=target.settings, redact=Redactor(secrets).text),
        )
        return Station(
            name=name,
            provider=provider,
            mode=own.prompt_mode or entry.prompt_mode,
            chat=entry.takes_chat,
            workers=own.workers or 1,
            batching=own.provider_batching,
            costs=entry.takes_time,
            policy=self._policy(None if entry.keeps_time else limit),
            record=TargetRecord(
                name=name, provider=own.provider, settings=target.settings, digest=target.digest
            ),
            setup=self._setup(own, target.folder) if entry.repeatable else None,
            secrets=secrets,
            unset=target.unset,
        )

    def _rehearsal(self, loaded: LoadedSuite, name: str) -> Station:
        """Formats like the target, and answers with a canned text."""
        definition = loaded.targets.definitions.get(name) if loaded.targets else None
        entry = definition.entry if definition else None
        keys = definition.spelling.keys if definition else {}
        own, workers = keys.get("prompt_mode"), keys.get("workers")
        mode: PromptMode = entry.prompt_mode if entry else "lm"
        provider = self._around.registry.build_provider(
            self._dry_options(name),
            self._provider_build(loaded, name, loaded.suite.path.parent, loaded.environment.values),
        )
        return Station(
            name=name,
            provider=provider,
            mode=own if own in ("lm", "agent") else mode,
            chat=entry.takes_chat if entry else False,
            workers=workers if isinstance(workers, int) else 1,
            batching=False,
            costs=False,
            policy=AttemptPolicy(timeout_seconds=None, max_retries=0),
            record=TargetRecord(name=name, provider="dry-run", settings={}, digest="dry-run"),
            secrets={},
        )

    def _from_program(self, custom: CustomTarget) -> Station:
        return Station(
            name=custom.name,
            provider=custom.provider,
            mode=custom.prompt_mode,
            chat=custom.takes_chat,
            workers=1,
            batching=False,
            costs=True,
            policy=self._policy(first(self._options.agent_timeout, DEFAULT_TIMEOUT_SECONDS)),
            record=TargetRecord(
                name=custom.name, provider="python", settings={}, digest=custom.name
            ),
            secrets={},
        )

    def _setup(self, options: TargetOptions, folder: Path) -> str:
        provider = ALIASES["providers"].get(options.provider, options.provider)
        seen_from = relpath(folder, self._around.cwd)
        return setup_key(provider, msgspec.to_builtins(options), seen_from)

    def _policy(self, timeout_seconds: float | None) -> AttemptPolicy:
        return AttemptPolicy(timeout_seconds=timeout_seconds, max_retries=self._options.max_retries)

    def _provider_build(
        self, loaded: LoadedSuite, name: str, folder: Path, env: Mapping[str, str]
    ) -> ProviderBuild:
        emit = self._around.emit
        build = ProviderBuild(
            folder=folder,
            env=env,
            processes=self._around.processes,
            http=self._around.http,
            traffic=self._around.traffic,
            rng=Random(self._options.seed),  # noqa: S311 - for delays, not for secrets
            notify=lambda line: emit(Notice(level="verbose", message=line)),
            warn=lambda line: emit(Notice(level="warning", message=line)),
            emit=emit,
            source=loaded.targets.shown if loaded.targets else "",
            cwd=self._around.cwd,
        )
        cassette = self._around.cassette
        return build if cassette is None else _through(cassette, build, name)

    def _refuse_unrecordable(self, name: str, provider: str, entry: Entry) -> None:
        """What goes around the borders would be left out of a recording, and called in a replay."""
        if self._around.cassette is not None and not entry.keeps_to_borders:
            raise SetupError(
                f"Target '{name}': what is asked by '{provider}' can be neither recorded nor "
                "replayed; leave --record and --replay out, or choose another target."
            )

    def _dry_options(self, name: str) -> TargetOptions:
        entry = self._around.registry.find("providers", "mock")
        if entry is None:
            raise SetupError("A dry run needs the provider 'mock'.")
        shortest, longest = self._options.dry_run_delay_ms
        raw: dict[str, Any] = {"name": name, "provider": "mock", "response": _DRY_ANSWER}
        if longest:
            raw |= {"delay_min_ms": shortest, "delay_max_ms": longest}
        return msgspec.convert(raw, self._around.registry.provider_options(entry))


class _Silent:
    """In place of a target whose answers are there already."""

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        """Never called; it would be a mistake of ours, and must not pass unseen."""
        raise RunAborted(f"'{request.eval_id}' was to be asked in a run that asks no candidate")


def answered_station(name: str, record: TargetRecord | None, registry: Registry) -> Station:
    """A target whose answers are there already, as it was then; `None` if it was not there."""
    known = record or TargetRecord(name=name, provider="unknown", settings={}, digest="unknown")
    entry = registry.find("providers", known.provider)
    mode, workers = known.settings.get("prompt_mode"), known.settings.get("workers")
    usual: PromptMode = entry.prompt_mode if entry else "lm"
    return Station(
        name=name,
        provider=_Silent(),
        mode=mode if mode in ("lm", "agent") else usual,
        chat=entry.takes_chat if entry else False,
        workers=workers if isinstance(workers, int) and workers > 0 else 1,
        batching=False,
        costs=False,
        policy=AttemptPolicy(timeout_seconds=None, max_retries=0),
        record=known,
        secrets={},
    )


def _through(cassette: Cassette, build: ProviderBuild, target: str) -> ProviderBuild:
    """With the cassette between a target and the borders."""
    project = build.folder
    return msgspec.structs.replace(
        build,
        processes=cassette.processes(build.processes, target, project),
        http=cassette.http(build.http, target, project),
        traffic=cassette.traffic(build.traffic),
        replays=cassette.replays,
        sleep=_at_once if cassette.replays else build.sleep,
        token=cassette.token,
        moment=cassette.moment,
    )


async def _at_once(seconds: float) -> None:
    del seconds
    await asyncio.sleep(0)


def _environment(entry: Entry, values: Mapping[str, str]) -> Mapping[str, str]:
    """What reaches a provider of the variables that the run inherited."""
    return values if entry.inherits is None else inherited(values, (*SAFE, *entry.inherits))


def _inherited_secrets(entry: Entry, env: Mapping[str, str]) -> dict[str, str]:
    """The keys that an agent finds by itself: no target names them."""
    if entry.inherits is None:
        return {}
    own = inherited(env, entry.inherits)
    return {name: value for name, value in own.items() if is_secret_name(name)}
