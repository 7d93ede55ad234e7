"""What a `vscode` or `vscode-insiders` target may set."""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from agentv.model.options import FileFinder, OptionProblem, Seconds, TargetOptions

INSIDERS = "vscode-insiders"


class VsCodeOptions(TargetOptions, frozen=True, kw_only=True):
    """How VS Code is reached, and how long it may take."""

    executable: Annotated[str, Meta(min_length=1)] | None = None
    """VS Code's command line: a name on `PATH`, or a path; `code` or `code-insiders` when unset."""
    subagent_root: str | None = None
    """Where the workers are; `~/.subagent/vscode-agents` or `…/vscode-insiders-agents`."""
    workspace_template: str | None = None
    """A `.code-workspace` file, or a folder, that the workers' windows open besides their own."""
    mode: Annotated[str, Meta(min_length=1)] = "agent"
    """The chat's mode: `agent`, or the name of a custom agent."""
    timeout_seconds: Seconds | None = 600.0
    """Limit of one answer, from the moment the agent has the request."""
    wakeup_timeout_seconds: Seconds = 60.0
    """Limit for a window to open and its agent to answer for the first time."""
    wait: bool = True
    """Known from other versions; only `true` makes sense here."""
    dry_run: bool = False
    """Say what would be used, and ask nobody; such a trial is skipped."""

    @property
    def insiders(self) -> bool:
        """Whether this is VS Code Insiders."""
        return self.provider == INSIDERS

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """A template that is not there; an answer that nobody waits for."""
        yield from super().problems(files)
        if not self.wait:
            yield OptionProblem(
                path=("wait",),
                message="an answer that nobody waits for cannot be scored",
                hint="leave `wait` out; `dry_run: true` asks nobody",
            )
        if self.mode.startswith("-"):
            yield OptionProblem(
                path=("mode",),
                message=f"'{self.mode}' is an option of VS Code, not a chat's mode",
                hint="write `agent`, or the name of a custom agent",
            )
        template = self.workspace_template
        if template is not None and files.find(template) is None:
            tried = ", ".join(map(str, files.tried(template)))
            yield OptionProblem(
                path=("workspace_template",),
                message=f"the workspace template '{template}' was not found",
                hint=f"looked at {tried}" if tried else None,
                code="missing-file",
            )
