"""What was asked of a run: the manifest, `run.json`."""

from typing import Any

from agentv.model.base import Record
from agentv.model.shard import Shard


class SuitePlan(Record, frozen=True, kw_only=True):
    """One suite's part of a run."""

    path: str
    dataset: str
    digest: str
    cases: int
    """In the suite."""
    trials: int
    """Planned, after filters and for every target; those of the shard, if the run is one."""
    in_all_shards: int | None = None
    """Planned over all shards; `None` for a run that is no shard."""
    threshold: float
    min_pass_rate: float


class TargetRecord(Record, frozen=True, kw_only=True):
    """A target as it was configured; values that came from the environment are left as names."""

    name: str
    provider: str
    settings: dict[str, Any]
    digest: str


class MergedRun(Record, frozen=True, kw_only=True):
    """A run whose rows went into another."""

    run_id: str
    folder: str
    """Where it lay; from the working directory where it was below that."""
    started: str
    shard: Shard | None = None


class RescoreLink(Record, frozen=True, kw_only=True):
    """The run whose answers were judged anew."""

    run_id: str
    folder: str
    """Where it was: from the working directory, where it was below that."""
    anew: tuple[str, ...] = ()
    """Evaluators, by globs over their names, none of whose verdicts were taken over."""


class RerunLink(Record, frozen=True, kw_only=True):
    """The run whose trials were asked anew, and which of them; all where nothing is said."""

    run_id: str
    folder: str
    """Where it was: from the working directory, where it was below that."""
    failed: bool = False
    errors: bool = False
    eval_ids: tuple[str, ...] = ()
    """Globs. A trial that any of these three means was chosen."""

    @property
    def chooses(self) -> bool:
        """Whether only some trials are meant."""
        return self.failed or self.errors or bool(self.eval_ids)


class RunManifest(Record, frozen=True, kw_only=True):
    """Everything needed to know what a run was; nothing that its rows can tell."""

    run_id: str
    started: str
    """UTC, ISO 8601."""
    version: str
    """Of AgentV."""
    python: str
    git_commit: str | None
    resumed: tuple[str, ...] = ()
    """When it was taken up again; UTC, ISO 8601."""
    arguments: dict[str, Any]
    dry_run: bool
    budget_usd: float | None = None
    """No trial was to be started once this much was known to be spent."""
    cache: bool = False
    """Whether answers were taken from the response cache, and kept in it."""
    shard: Shard | None = None
    """Which part of a plan it was; `None` for the whole."""
    merged: tuple[MergedRun, ...] = ()
    """The runs that it was joined from."""
    rescored_from: RescoreLink | None = None
    """Whose answers these are: no candidate may be asked in this run."""
    rerun_of: RerunLink | None = None
    recorded: str | None = None
    """The cassette that its exchanges were recorded in."""
    replayed: str | None = None
    """The cassette that all its answers come from: nobody was asked."""
    suites: tuple[SuitePlan, ...]
    targets: tuple[TargetRecord, ...]

    @property
    def datasets(self) -> tuple[str, ...]:
        """Of the suites that it has trials of; a selection may pass over some."""
        taken = [suite for suite in self.suites if suite.trials] or self.suites
        return tuple(dict.fromkeys(suite.dataset for suite in taken))

    @property
    def trials(self) -> int:
        """How many rows a complete run has."""
        return sum(suite.trials for suite in self.suites)
