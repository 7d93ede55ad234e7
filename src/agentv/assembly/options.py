"""What a run is told besides its files."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from agentv.errors import AuthorError
from agentv.model.base import Record
from agentv.model.event import Event
from agentv.model.options import PromptMode
from agentv.model.shard import Shard
from agentv.protocols import (
    Cassette,
    HttpSender,
    ProcessRunner,
    Provider,
    ResponseCache,
    TrafficControl,
)
from agentv.registry import Registry

DEFAULT_THRESHOLD = 0.8
DEFAULT_MIN_PASS_RATE = 1.0
DEFAULT_TIMEOUT_SECONDS = 120.0
DEFAULT_MAX_RETRIES = 2


class RunOptions(Record, frozen=True, kw_only=True):
    """`None` leaves a setting to the suite, the target or the default, in this order."""

    workers: int | None = None
    """One budget over all suites and targets."""
    agent_timeout: float | None = None
    """Seconds an attempt may take; wins over a target's own limit."""
    max_retries: int = DEFAULT_MAX_RETRIES
    """Attempts that may follow a time-out."""
    threshold: float | None = None
    min_pass_rate: float | None = None
    dry_run: bool = False
    dry_run_delay_ms: tuple[float, float] = (0.0, 0.0)
    """The shortest and the longest pause of a rehearsed answer."""
    seed: int = 0
    budget_usd: float | None = None
    """No trial is started once this much is known to be spent."""
    cache: bool = False
    """Take answers that were given before from the response cache, and keep new ones in it."""
    shard: Shard | None = None
    """Run this part of the plan alone."""

    def __post_init__(self) -> None:
        if self.budget_usd is not None and not self.budget_usd > 0:
            raise AuthorError(f"A budget is an amount above $0, and not {self.budget_usd:g}.")


class CustomTarget(Record, frozen=True, kw_only=True):
    """A provider that a program brings itself, in place of every target the suites name."""

    name: str
    provider: Provider
    prompt_mode: PromptMode = "lm"
    takes_chat: bool = True


class Surroundings(Record, frozen=True, kw_only=True):
    """The world as a run sees it; a test brings its own."""

    processes: ProcessRunner
    http: HttpSender
    traffic: TrafficControl
    registry: Registry
    emit: Callable[[Event], None]
    now: Callable[[], datetime]
    cache: ResponseCache | None = None
    cassette: Cassette | None = None
    cwd: Path = Path()
    """Where the run was started, and the cache lies."""


def first(*values: float | None) -> float:
    """The first value that is set."""
    return next(value for value in values if value is not None)
