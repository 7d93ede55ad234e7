"""What was asked of a run: the manifest, `run.json`."""

from typing import Any

from agentv.model.base import Record


class SuitePlan(Record, frozen=True, kw_only=True):
    """One suite's part of a run."""

    path: str
    dataset: str
    digest: str
    cases: int
    """In the suite."""
    trials: int
    """Planned, after filters and for every target."""
    threshold: float
    min_pass_rate: float


class TargetRecord(Record, frozen=True, kw_only=True):
    """A target as it was configured; values that came from the environment are left as names."""

    name: str
    provider: str
    settings: dict[str, Any]
    digest: str


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
    recorded: str | None = None
    """The cassette that its exchanges were recorded in."""
    replayed: str | None = None
    """The cassette that all its answers come from: nobody was asked."""
    suites: tuple[SuitePlan, ...]
    targets: tuple[TargetRecord, ...]

    @property
    def trials(self) -> int:
        """How many rows a complete run has."""
        return sum(suite.trials for suite in self.suites)
