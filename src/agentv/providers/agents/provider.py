"""An agent as a provider: a room, its inputs, the program, and what came of it."""

import asyncio
import time
from collections.abc import Callable
from functools import cached_property

from agentv.errors import ProviderError, SetupError
from agentv.model.process import Command, CommandResult
from agentv.model.request import Leavings, ProviderRequest, ProviderResponse, WorkspaceLeft
from agentv.protocols import ProviderBuild
from agentv.providers.agents.agent import Account, Agent, Assignment, Invocation
from agentv.providers.agents.confinement import Confinement
from agentv.providers.agents.ending import Ending
from agentv.providers.agents.event_stream import EventStream
from agentv.providers.agents.inputs import lay_out_inputs
from agentv.providers.agents.keeping import Keeping
from agentv.providers.agents.log import AttemptLog, attempt_name
from agentv.providers.agents.needs import Needs, find_needs
from agentv.providers.agents.options import AgentOptions
from agentv.providers.agents.rooms import Room, Rooms
from agentv.providers.agents.trace_builder import TraceBuilder
from agentv.providers.agents.workspace_diff import WorkspaceDiff
from agentv.providers.sandboxes.choice import sandbox_for


class AgentProvider:
    """Runs an agent's program once for each attempt, each in a room of its own.

    Args:
        options: The target's settings.
        build: The borders, the environment and the places.
        agent: What kind of agent it is.
    """

    def __init__(self, options: AgentOptions, build: ProviderBuild, agent: Agent) -> None:
        self._options = options
        self._build = build
        self._agent = agent
        self._env = {**build.env, **options.env}
        self._rooms = Rooms()
        self._keeping = Keeping(options, build)
        # A recording was made in a sandbox or not: replaying it does nothing that needs one.
        self._sandbox = sandbox_for(None if build.replays else options.sandbox, build)
        self._confinement = Confinement(self._sandbox, build.processes)

    @cached_property
    def _needs(self) -> Needs:
        is_here = self._sandbox.runs_programs_of_this_machine and not self._build.replays
        return find_needs(self._options, self._agent, self._build, self._env, is_here=is_here)

    async def check(self) -> None:
        """See that all is there that an attempt needs; raises `SetupError` if it is not."""
        _ = self._needs
        await self._sandbox.prepare()

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        """Let the agent work; its last message is the answer."""
        room = await self._rooms.open()
        left = False
        try:
            response = await self._attempt(request, room)
            left = True
            return response
        except ProviderError as error:
            left = error.leavings is not None and error.leavings.workspace is not None
            raise
        finally:
            # The workspace is still looked at: by evaluators, and by whoever decides to keep it.
            await asyncio.to_thread(room.clear if left else room.remove)

    async def aclose(self) -> None:
        """Remove what is left of the rooms."""
        await self._sandbox.aclose()
        await self._rooms.aclose()

    async def _attempt(self, request: ProviderRequest, room: Room) -> ProviderResponse:
        name = attempt_name(request.eval_id, request.attempt)
        clock = _milliseconds_since(time.perf_counter())
        diff = await self._fill(room)
        assignment = await asyncio.to_thread(self._assign, request, room)
        if diff is not None:
            await diff.remember()
        log = self._keeping.open_log(name)
        trace = TraceBuilder(clock, log.step if log else _ignore)
        reader = self._agent.reader(trace, assignment)
        stream = EventStream(reader, log)
        try:
            invocation = self._agent.invocation(assignment)
            result = await self._run(invocation, assignment, room, stream, log)
            account = reader.account()
        finally:
            if log is not None:
                log.close()
        leavings = await self._leavings(room, diff, name, log, trace)
        return self._conclude(result, stream, account, trace, leavings)

    async def _fill(self, room: Room) -> WorkspaceDiff | None:
        """Put the template into the workspace; what is to be compared with it afterwards."""
        if self._needs.cwd is not None:
            return None
        await self._needs.template.fill(room.workspace)
        if self._options.keep_workspace == "never":
            return None
        return WorkspaceDiff(room.workspace, room.folder, self._build.processes, self._env)

    def _assign(self, request: ProviderRequest, room: Room) -> Assignment:
        # A folder that the target chose is the author's own: nothing of ours is put there.
        own = self._needs.cwd
        inputs = lay_out_inputs(request, room.workspace if own is None else room.private)
        return Assignment(
            document=inputs.document,
            prompt_file=inputs.prompt_file,
            folder=own or room.workspace,
            inputs=inputs.folder,
            private=room.private,
        )

    async def _run(
        self,
        invocation: Invocation,
        assignment: Assignment,
        room: Room,
        stream: EventStream,
        log: AttemptLog | None,
    ) -> CommandResult:
        run, folder = (self._needs.executable, *invocation.arguments), assignment.folder
        own = self._needs.cwd is not None
        if log is not None:
            log.note(f"$ {' '.join(run)}")
        command = Command(
            run=run,
            cwd=folder,
            env={**invocation.env, **self._env, "TMPDIR": str(room.tmp), "PWD": str(folder)},
            stdin=invocation.stdin,
            timeout_seconds=self._options.timeout_seconds,
            places={"room": room.folder},
            reads=(assignment.inputs if own else room.workspace,),
            writes=(*(() if own else (room.workspace,)), *invocation.writes),
        )
        try:
            result = await self._confinement.run(command, room, stream.feed)
        except SetupError as error:
            raise ProviderError(str(error), kind="spawn") from error
        stream.close()
        if log is not None and result.stderr.strip():
            log.note(f"standard error:\n{result.stderr.decode('utf-8', 'replace').rstrip()}")
        return result

    async def _leavings(
        self,
        room: Room,
        diff: WorkspaceDiff | None,
        name: str,
        log: AttemptLog | None,
        trace: TraceBuilder,
    ) -> Leavings:
        artifacts = {} if log is None else {"log": self._keeping.shown(log.path)}
        if self._needs.cwd is not None:
            return Leavings(artifacts=artifacts)
        left = WorkspaceLeft(path=str(room.workspace), keep=self._options.keep_workspace)
        if diff is not None:
            left = WorkspaceLeft(
                path=left.path,
                keep=left.keep,
                kept_at=str(self._keeping.workspace(name)),
                diff=await self._write_diff(diff, room, trace),
            )
        return Leavings(artifacts=artifacts, workspace=left)

    async def _write_diff(self, diff: WorkspaceDiff, room: Room, trace: TraceBuilder) -> str | None:
        """A diff that cannot be had is no reason to lose an answer."""
        file = room.folder / "workspace.diff"
        try:
            file.write_text(self._build.redact(await diff.since()), encoding="utf-8")
        except (ProviderError, OSError) as error:
            trace.warning(f"there is no diff of what was changed: {error}")
            return None
        return str(file)

    def _conclude(
        self,
        result: CommandResult,
        stream: EventStream,
        account: Account,
        trace: TraceBuilder,
        leavings: Leavings,
    ) -> ProviderResponse:
        if stream.strays and stream.events:
            sample = stream.first_stray or "one that is too long"
            trace.warning(f"{stream.strays} lines of output were no JSON: {sample}")
        ending = Ending(
            program=self._agent.program,
            result=result,
            stream=stream,
            account=account,
            limit=self._options.timeout_seconds,
            log=leavings.artifacts.get("log"),
        )
        try:
            answer = ending.answer()
        except ProviderError as error:
            error.usage, error.trace, error.leavings = account.usage, trace.entries(), leavings
            raise
        return ProviderResponse(
            text=answer, usage=account.usage, trace=trace.entries(), leavings=leavings
        )


def _milliseconds_since(began: float) -> Callable[[], float]:
    return lambda: round((time.perf_counter() - began) * 1000, 3)


def _ignore(entry: object) -> None:
    del entry
