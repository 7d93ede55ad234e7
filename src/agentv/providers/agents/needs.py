"""What an agent target needs of this machine, found before the first attempt."""

from collections.abc import Mapping
from pathlib import Path

from agentv.errors import SetupError
from agentv.model.base import Record
from agentv.protocols import ProviderBuild
from agentv.providers.agents.agent import Agent
from agentv.providers.agents.executable import find_executable
from agentv.providers.agents.options import AgentOptions
from agentv.providers.agents.template import FolderCopy, Nothing, RepositoryClone, Template
from agentv.providers.folders import find_folder


class Needs(Record, frozen=True, kw_only=True):
    """All of it, found."""

    executable: str
    """Its path on this machine, or its name in a container."""
    template: Template
    cwd: Path | None
    """The author's own folder to work in, if the target names one."""


def find_needs(
    options: AgentOptions,
    agent: Agent,
    build: ProviderBuild,
    env: Mapping[str, str],
    *,
    is_here: bool,
) -> Needs:
    """Look for the program, the template and the folder.

    Args:
        options: The target's settings.
        agent: What kind of agent it is.
        build: The places.
        env: Where `PATH` stands.
        is_here: Whether the program is on this machine, and not in a container.

    Raises:
        SetupError: One of them is missing.
    """
    cwd, program = options.cwd, options.executable or agent.program
    # Ours, so it is run on this machine wherever the agent is.
    if options.workspace_ref is not None or (cwd is None and options.keep_workspace != "never"):
        _find_git(env, build.folder)
    return Needs(
        executable=_find_executable(program, agent, build, env) if is_here else program,
        template=_find_template(options, build, env),
        cwd=None if cwd is None else find_folder(cwd, build.folder),
    )


def _find_executable(name: str, agent: Agent, build: ProviderBuild, env: Mapping[str, str]) -> str:
    try:
        return str(find_executable(name, env=env, folder=build.folder))
    except SetupError as error:
        advice = f"install it with `{agent.install}`, or set `executable`"
        raise SetupError(f"{error}; {advice}") from error


def _find_git(env: Mapping[str, str], folder: Path) -> None:
    try:
        find_executable("git", env=env, folder=folder)
    except SetupError as error:
        raise SetupError(f"{error}; `workspace_ref` and `keep_workspace` need it") from error


def _find_template(options: AgentOptions, build: ProviderBuild, env: Mapping[str, str]) -> Template:
    wanted, ref = options.workspace_template, options.workspace_ref
    if wanted is None:
        return Nothing()
    folder = find_folder(wanted, build.folder)
    if ref is None:
        return FolderCopy(folder=folder)
    return RepositoryClone(folder, ref, build.processes, env)
