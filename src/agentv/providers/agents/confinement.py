"""Running an agent's program in the target's sandbox."""

from collections.abc import Callable

import msgspec

from agentv.errors import SetupError
from agentv.model.process import Command, CommandResult
from agentv.protocols import ProcessRunner
from agentv.providers.agents.rooms import Room
from agentv.providers.sandboxes.sandbox import Confined, Sandbox
from agentv.providers.sandboxes.sandbox import Room as Reach
from agentv.transport.process import uninterrupted


class Confinement:
    """Starts programs in a sandbox, and leaves none of them behind."""

    def __init__(self, sandbox: Sandbox, processes: ProcessRunner) -> None:
        self._sandbox = sandbox
        self._processes = processes

    async def run(
        self, command: Command, room: Room, listen: Callable[[bytes], None]
    ) -> CommandResult:
        """Run a command to its end.

        Args:
            command: Its `run` a tuple, its `cwd` and its `env` set.
            room: What it may change, besides its `cwd`.
            listen: Takes its standard output.

        Raises:
            SetupError: It cannot be started.
        """
        inside, confined = self._confine(command, room)
        outside = msgspec.structs.replace(
            command, run=confined.argv, env=dict(confined.env), unconfined=inside
        )
        ended = False
        try:
            result = await self._processes.run(outside, listen)
            ended = not result.timed_out
            return result
        finally:
            if not ended and confined.cleanup is not None:
                await uninterrupted(self._clean_up(confined.cleanup))

    def _confine(self, command: Command, room: Room) -> tuple[tuple[str, ...], Confined]:
        """What is run, and how it is run in the sandbox."""
        if isinstance(command.run, str) or command.cwd is None:
            raise SetupError("An agent is started without a shell, in a folder.")
        reach = Reach(folder=room.folder, workspace=command.cwd, home=room.private, tmp=room.tmp)
        return command.run, self._sandbox.confine(command.run, command.env or {}, reach)

    async def _clean_up(self, cleanup: Command) -> None:
        try:
            await self._processes.run(cleanup)
        except SetupError:
            return  # The run is ending, or the tool has gone: nothing is left to be done here.
