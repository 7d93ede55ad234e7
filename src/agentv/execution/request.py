"""What is to be run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentv.assembly.earlier import Rerun, Rescore, Resume
from agentv.assembly.options import CustomTarget, RunOptions
from agentv.errors import AuthorError
from agentv.loading.workspace import Workspace
from agentv.model.base import Record
from agentv.protocols import Sink
from agentv.registry import Registry


class RunRequest(Record, frozen=True, kw_only=True):
    """What is to be run, and where its folder goes."""

    workspace: Workspace
    options: RunOptions
    registry: Registry
    cwd: Path
    arguments: Mapping[str, Any] = {}
    """For the manifest."""
    out: Path | None = None
    """The run's folder; a new one below `.agentv/results` when `None`."""
    custom: CustomTarget | None = None
    resume: Resume | None = None
    """The run that goes on; a new one is made when `None`."""
    origin: Rescore | Rerun | None = None
    """The earlier run that the new one comes of, if any."""
    record: Path | None = None
    """The cassette that the run's exchanges are recorded in."""
    replay: Path | None = None
    """The cassette that answers in place of the world."""
    sinks: Sequence[Sink] = ()

    def __post_init__(self) -> None:
        refuse_cassette_with(
            record=self.record,
            replay=self.replay,
            cache=self.options.cache,
            dry_run=self.options.dry_run,
        )


def refuse_cassette_with(
    *, record: Path | None, replay: Path | None, cache: bool, dry_run: bool
) -> None:
    """Refuse what makes no sense together with a cassette; raises `AuthorError`."""
    if record is None and replay is None:
        return
    if record is not None and replay is not None:
        raise AuthorError("--record and --replay exclude each other.")
    option = "--replay" if record is None else "--record"
    if cache:
        raise AuthorError(
            f"{option} and --cache exclude each other: an answer out of the response cache is no "
            "exchange that could be recorded or replayed."
        )
    if dry_run:
        raise AuthorError(f"{option} and --dry-run exclude each other: a rehearsal asks nobody.")
