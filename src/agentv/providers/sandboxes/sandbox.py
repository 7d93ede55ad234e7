"""The seam between agents and what confines them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from agentv.model.base import Record
from agentv.model.process import Command


class Room(Record, frozen=True, kw_only=True):
    """The folders made for one attempt; absolute, without symbolic links on the way.

    An agent may change the last three and only see the first. So what this side reads, writes or
    runs afterwards belongs into `folder` itself: in the others a file may by then be a link that
    leads elsewhere, and a git folder may hold settings that run programs.
    """

    folder: Path
    """The others lie in it, but for a workspace that the author chose."""
    workspace: Path
    """Where the agent works."""
    home: Path
    """Its home folder."""
    tmp: Path
    """Its folder for temporary files."""

    @property
    def writable(self) -> tuple[Path, ...]:
        """What the agent may change."""
        return tuple(dict.fromkeys((self.workspace, self.home, self.tmp)))


class Confined(Record, frozen=True, kw_only=True):
    """A command in its sandbox."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    """The whole environment to start `argv` with. Values are never put into `argv`, where every
    user of the machine could read them."""
    cleanup: Command | None = None
    """To be run whenever `argv` did not end by itself: what it started may still be there."""


class Sandbox(Protocol):
    """Confines the commands of one target."""

    runs_programs_of_this_machine: bool
    """Whether the agent's program is looked for here; a container has its own."""

    async def prepare(self) -> None:
        """Called once, before the first command.

        Raises:
            SetupError: Something is missing here; the message says how to get it.
        """

    def confine(self, argv: tuple[str, ...], env: Mapping[str, str], room: Room) -> Confined:
        """The command that runs `argv` in the sandbox, in the room's workspace.

        Args:
            argv: Its first part is the program: a path on this machine where
                `runs_programs_of_this_machine`, else whatever the author named.
            env: What the agent shall see; a sandbox sets `HOME` and `TMPDIR` itself.
            room: What the agent may change.
        """

    async def aclose(self) -> None:
        """Called once, when no command runs any more."""


class NoSandbox:
    """For targets that ask for none: the command as it is, in the room's folders."""

    runs_programs_of_this_machine = True

    async def prepare(self) -> None:
        """Nothing is needed."""

    def confine(self, argv: tuple[str, ...], env: Mapping[str, str], room: Room) -> Confined:
        """The command as it is."""
        del room
        return Confined(argv=argv, env=env)

    async def aclose(self) -> None:
        """Nothing is held."""
