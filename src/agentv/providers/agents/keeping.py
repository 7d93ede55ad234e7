"""Where an agent target's logs and kept workspaces go."""

from pathlib import Path

from agentv.protocols import ProviderBuild
from agentv.providers.agents.log import AttemptLog
from agentv.providers.agents.options import AgentOptions


class Keeping:
    """Names the places of one target."""

    def __init__(self, options: AgentOptions, build: ProviderBuild) -> None:
        self._options = options
        self._build = build

    def open_log(self, attempt: str) -> AttemptLog | None:
        """The log of an attempt, open; `None` if the target wants none."""
        options = self._options
        if not options.stream_logs:
            return None
        folder = self._below_cwd("logs")
        if options.log_dir is not None:
            folder = self._build.folder / Path(options.log_dir).expanduser()
        suffix = ".jsonl" if options.log_format == "json" else ".log"
        log = AttemptLog(
            folder / f"{attempt}{suffix}",
            options.log_format,
            self._build.redact,
            self._build.notify,
        )
        log.open()
        return log

    def workspace(self, attempt: str) -> Path:
        """Where an attempt's workspace goes if it is kept."""
        return self._below_cwd("workspaces") / attempt

    def shown(self, path: Path) -> str:
        """From where the run was started, when it is below that."""
        here = self._build.cwd.absolute()
        absolute = path.absolute()
        return str(absolute.relative_to(here) if absolute.is_relative_to(here) else absolute)

    def _below_cwd(self, kind: str) -> Path:
        here = Path() if self._build.cwd == Path.cwd() else self._build.cwd
        return Path(here, ".agentv", kind, self._options.provider)
