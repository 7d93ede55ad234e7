"""What a run was asked, for its `run.json`."""

import platform
import subprocess
from datetime import datetime
from pathlib import Path

from agentv import __version__
from agentv.assembly.assembly import Assembly
from agentv.execution.request import RunRequest
from agentv.model.run import RunManifest


def manifest_of(request: RunRequest, assembly: Assembly, run_id: str, now: datetime) -> RunManifest:
    """What was asked.

    Args:
        request: All that the run was told.
        assembly: What it comes to.
        run_id: By what the run is called.
        now: In UTC.
    """
    records = [station.record for station in assembly.stations.all()]
    used = {record.name: record for record in records}
    if assembly.scope.asks_nobody:
        # A target may judge with other settings than those with which it gave the answers.
        used |= {part.station.name: part.station.record for part in assembly.parts}
    return RunManifest(
        run_id=run_id,
        started=now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        version=__version__,
        python=platform.python_version(),
        git_commit=_git_commit(request.cwd),
        arguments=dict(request.arguments),
        dry_run=request.options.dry_run,
        budget_usd=request.options.budget_usd,
        cache=request.options.cache,
        shard=request.options.shard,
        recorded=_shown_cassette(request.record),
        replayed=_shown_cassette(request.replay),
        suites=assembly.suites,
        targets=tuple(used.values()),
    )


def _shown_cassette(folder: Path | None) -> str | None:
    return None if folder is None else str(folder)


def _git_commit(cwd: Path) -> str | None:
    try:
        done = subprocess.run(
            # Without --verify, a repository without a commit answers `HEAD`.
            ["git", "rev-parse", "--verify", "--quiet", "HEAD"],
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
