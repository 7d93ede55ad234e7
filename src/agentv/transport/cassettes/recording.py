"""The borders while they are recorded: all goes on as ever, and is written down once it is over."""

import asyncio
from collections.abc import Callable

from agentv.errors import ProviderError, ProviderTimeout, SetupError
from agentv.model.exchange import CommandEnded, HttpReplied, NoReply
from agentv.model.http import HttpReply, HttpRequest
from agentv.model.process import Command, CommandResult
from agentv.protocols import HttpSender, ProcessRunner
from agentv.transport.cassettes.asker import current_asker
from agentv.transport.cassettes.content import content_of
from agentv.transport.cassettes.file_changes import TooMuchWrittenError, changes_since, state_of
from agentv.transport.cassettes.requests import command_asked, fit_headers, http_asked
from agentv.transport.cassettes.track import Track
from agentv.transport.output import Output

LONGEST_OUTPUT = 32 * 1024 * 1024


class RecordingHttp:
    """Sends, and writes down."""

    def __init__(self, border: HttpSender, track: Track) -> None:
        self._border = border
        self._track = track

    async def send(self, request: HttpRequest) -> HttpReply:
        """See `agentv.protocols.HttpSender`."""
        asker = current_asker()
        disguise = self._track.disguise(asker)
        over = self._track.begin(asker, http_asked(request, disguise))
        try:
            reply = await self._border.send(request)
        except ProviderError as error:
            kind = "timeout" if isinstance(error, ProviderTimeout) else error.kind
            over(NoReply(kind=kind, message=disguise.hide(str(error))))
            raise
        over(
            HttpReplied(
                status=reply.status,
                headers=fit_headers(reply.headers, disguise),
                body=content_of(disguise.hide_bytes(reply.body)),
            )
        )
        return reply


class RecordingProcesses:
    """Runs, and writes down what is no helper of ours."""

    def __init__(self, border: ProcessRunner, track: Track) -> None:
        self._border = border
        self._track = track

    async def run(
        self, command: Command, listen: Callable[[bytes], None] | None = None
    ) -> CommandResult:
        """See `agentv.protocols.ProcessRunner`."""
        if command.is_helper:
            return await self._border.run(command, listen)
        asker = current_asker()
        disguise = self._track.disguise(asker, command.places)
        asked = await asyncio.to_thread(command_asked, command, disguise)
        before = await asyncio.to_thread(state_of, command.writes)
        over = self._track.begin(asker, asked, command.places)
        heard = Output(head=LONGEST_OUTPUT)
        try:
            result = await self._border.run(command, _both(heard, listen) if listen else None)
        except SetupError as error:
            over(NoReply(kind="setup", message=disguise.hide(str(error))))
            raise
        if heard.truncated:
            self._track.leave_out(asker, "it printed more than 32 MB")
            return result
        try:
            files = await asyncio.to_thread(changes_since, before, command.writes, disguise)
        except (TooMuchWrittenError, OSError) as error:
            self._track.leave_out(asker, str(error))
            return result
        stdout = heard.value() if listen else result.stdout
        over(
            CommandEnded(
                exit_code=result.exit_code,
                stdout=content_of(disguise.hide_bytes(stdout)),
                stderr=content_of(disguise.hide_bytes(result.stderr)),
                timed_out=result.timed_out,
                truncated=result.truncated and not listen,
                files=files,
            )
        )
        return result


def _both(heard: Output, listen: Callable[[bytes], None]) -> Callable[[bytes], None]:
    def hear(data: bytes) -> None:
        heard.add(data)
        listen(data)

    return hear
