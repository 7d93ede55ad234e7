"""An agent as a provider: a room, its inputs, the program, and what came of it."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from agentv.errors import ProviderError, SetupError
from agentv.model.process import Command, CommandResult
from agentv.model.request import Leavings, ProviderRequest, ProviderResponse, WorkspaceLeft
from agentv.protocols import ProviderBuild
from agentv.providers.agents.agent import Account, Agent, Assignment, Invocation
from agentv.providers.agents.ending import Ending
from agentv.providers.agents.event_stream import EventStream
from agentv.providers.agents.executable import find_executable
from agentv.providers.agents.inputs import lay_out_inputs
from agentv.providers.agents.log import AttemptLog, attempt_name
from agentv.providers.agents.options import AgentOptions
from agentv.providers.agents.rooms import Room, Rooms
from agentv.providers.agents.template import FolderCopy, Nothing, RepositoryClone, Template
from agentv.providers.agents.trace_builder import TraceBuilder
from agentv.providers.agents.workspace_diff import WorkspaceDiff
from agentv.providers.folders import find_folder


@dataclass(frozen=True, kw_only=True)
class _Found:
    """What the target needs of this machine."""

    executable: Path
    template: Template
    cwd: Path | None


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

    def check(self) -> None:
        """Find the program, the template and the folder; raises `SetupError` if one is missing."""
        _ = self._found

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
        await self._rooms.aclose()

    async def _attempt(self, request: ProviderRequest, room: Room) -> ProviderResponse:
        name = attempt_name(request.eval_id, request.attempt)
        began = time.perf_counter()
        diff = await self._fill(room)
        folder = self._found.cwd or room.workspace
        # A folder that the target chose is the author's own: nothing of ours is put there.
        place = room.workspace if self._found.cwd is None else room.private
        inputs = await asyncio.to_thread(lay_out_inputs, request, place)
        if diff is not None:
            await diff.remember()
        assignment = Assignment(
            document=inputs.document,
            prompt_file=inputs.prompt_file,
            folder=folder,
            inputs=inputs.folder,
            private=room.private,
        )
        log = self._open_log(name)
        trace = TraceBuilder(_milliseconds_since(began), log.step if log else _ignore)
        reader = self._agent.reader(trace)
        stream = EventStream(reader, log)
        try:
            invocation = self._agent.invocation(assignment)
            result = await self._run(invocation, folder, room, stream, log)
        finally:
            if log is not None:
                log.close()
        account = reader.account()
        leavings = await self._leavings(room, diff, name, log)
        return self._conclude(result, stream, account, trace, leavings)

    async def _run(
        self,
        invocation: Invocation,
        folder: Path,
        room: Room,
        stream: EventStream,
        log: AttemptLog | None,
    ) -> CommandResult:
        run = (str(self._found.executable), *invocation.arguments)
        if log is not None:
            log.note(f"$ {' '.join(run)}")
        command = Command(
            run=run,
            cwd=folder,
            env={**invocation.env, **self._env, "TMPDIR": str(room.tmp), "PWD": str(folder)},
            stdin=invocation.stdin,
            timeout_seconds=self._options.timeout_seconds,
        )
        try:
            result = await self._build.processes.run(command, stream.feed)
        except SetupError as error:
            raise ProviderError(str(error), kind="spawn") from error
        stream.close()
        if log is not None and result.stderr.strip():
            log.note(f"standard error:\n{result.stderr.decode('utf-8', 'replace').rstrip()}")
        return result

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

    async def _fill(self, room: Room) -> WorkspaceDiff | None:
        if self._found.cwd is not None:
            return None
        await self._found.template.fill(room.workspace)
        if self._options.keep_workspace == "never":
            return None
        return WorkspaceDiff(room.workspace, room.private, self._build.processes, self._env)

    async def _leavings(
        self, room: Room, diff: WorkspaceDiff | None, name: str, log: AttemptLog | None
    ) -> Leavings:
        artifacts = {} if log is None else {"log": self._shown(log.path)}
        kept_at = diff_file = None
        if diff is not None:
            kept_at = str(self._below_cwd("workspaces", name))
            file = room.folder / "workspace.diff"
            file.write_text(self._build.redact(await diff.since()), encoding="utf-8")
            diff_file = str(file)
        workspace = None
        if self._found.cwd is None:
            workspace = WorkspaceLeft(
                path=str(room.workspace),
                keep=self._options.keep_workspace,
                kept_at=kept_at,
                diff=diff_file,
            )
        return Leavings(artifacts=artifacts, workspace=workspace)

    def _open_log(self, name: str) -> AttemptLog | None:
        options = self._options
        if not options.stream_logs:
            return None
        if options.log_dir is None:
            folder = self._below_cwd("logs")
        else:
            folder = self._build.folder / Path(options.log_dir).expanduser()
        suffix = ".jsonl" if options.log_format == "json" else ".log"
        log = AttemptLog(
            folder / f"{name}{suffix}", options.log_format, self._build.redact, self._build.notify
        )
        log.open()
        return log

    def _below_cwd(self, kind: str, *names: str) -> Path:
        here = Path() if self._build.cwd == Path.cwd() else self._build.cwd
        return Path(here, ".agentv", kind, self._options.provider, *names)

    def _shown(self, path: Path) -> str:
        """From where the run was started, when it is below that."""
        here = self._build.cwd.absolute()
        absolute = path.absolute()
        return str(absolute.relative_to(here) if absolute.is_relative_to(here) else absolute)

    def _find_executable(self) -> Path:
        name = self._options.executable or self._agent.program
        try:
            return find_executable(name, env=self._env, folder=self._build.folder)
        except SetupError as error:
            advice = f"install it with `{self._agent.install}`, or set `executable`"
            raise SetupError(f"{error}; {advice}") from error

    @cached_property
    def _found(self) -> _Found:
        return _Found(
            executable=self._find_executable(),
            template=self._find_template(),
            cwd=self._find_cwd(),
        )

    def _find_template(self) -> Template:
        wanted, ref = self._options.workspace_template, self._options.workspace_ref
        if wanted is None:
            return Nothing()
        folder = find_folder(wanted, self._build.folder)
        if ref is None:
            return FolderCopy(folder=folder)
        return RepositoryClone(folder, ref, self._build.processes, self._env)

    def _find_cwd(self) -> Path | None:
        cwd = self._options.cwd
        return None if cwd is None else find_folder(cwd, self._build.folder)


def _milliseconds_since(began: float) -> Callable[[], float]:
    return lambda: round((time.perf_counter() - began) * 1000, 3)


def _ignore(entry: object) -> None:
    del entry
