"""What every agent target may set."""

from collections.abc import Iterator
from typing import Literal

from agentv.model.options import FileFinder, Name, OptionProblem, TargetOptions
from agentv.model.request import KeepWorkspace
from agentv.providers.sandboxes.options import SandboxKind, SandboxOptions, sandbox_problems


class AgentOptions(TargetOptions, frozen=True, kw_only=True):
    """Keys of every agent target."""

    executable: Name | None = None
    """The agent's program: a name to look for on `PATH`, or a path; its usual name when unset."""
    args: list[str] = []
    """Given to the program besides what AgentV gives it."""
    env: dict[str, str] = {}
    """Set on top of the few variables that an agent inherits."""
    model: Name | None = None
    """The model to ask for; the agent's own choice when unset."""
    cwd: str | None = None
    """An existing folder to run in, from the folder of the targets file or the working directory;
    a temporary workspace when unset."""
    workspace_template: str | None = None
    """A folder, copied into each attempt's workspace."""
    workspace_ref: Name | None = None
    """A commit, branch or tag: the template is then a git repository, cloned at that point."""
    keep_workspace: KeepWorkspace = "never"
    """When the workspace, and a diff of what was changed in it, outlive their trial."""
    sandbox: SandboxKind | SandboxOptions | None = None
    """What the agent is confined to; it may do whatever you may when unset."""
    stream_logs: bool = True
    """Write what the agent reports into a log file while it works."""
    log_dir: str | None = None
    """The folder of the log files; `.agentv/logs/<provider>` when unset."""
    log_format: Literal["summary", "json"] = "summary"
    """`summary` has a line for each step, `json` every event as it came."""

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """Settings that do not go together."""
        yield from super().problems(files)
        if self.cwd is not None and self.workspace_template is not None:
            yield OptionProblem(
                path=("cwd",),
                message="'cwd' and 'workspace_template' exclude each other",
                hint="`cwd` works in that folder itself, `workspace_template` in a copy",
            )
        yield from sandbox_problems(self.sandbox)
        if self.workspace_ref is not None and self.workspace_template is None:
            yield OptionProblem(
                path=("workspace_ref",),
                message="'workspace_ref' needs a 'workspace_template'",
                hint="name the git repository that is to be cloned",
            )
