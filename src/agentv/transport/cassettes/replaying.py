"""The borders while they are replayed: nothing crosses them but our own helpers."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from agentv.errors import ProviderError, ProviderTimeout, SetupError
from agentv.model.exchange import Asked, CommandEnded, Exchange, HttpReplied, NoReply, Reply
from agentv.model.http import HttpReply, HttpRequest
from agentv.model.process import Command, CommandResult
from agentv.protocols import ProcessRunner
from agentv.transport.cassettes.asker import Asker, current_asker, disguise_for
from agentv.transport.cassettes.content import bytes_of
from agentv.transport.cassettes.disguise import Disguise, Secrets
from agentv.transport.cassettes.file_changes import put_back
from agentv.transport.cassettes.requests import command_asked, http_asked
from agentv.transport.child import both_ends


class Recordings(Protocol):
    """What there is to be replayed."""

    def answer(self, target: str, asker: Asker, asked: Asked) -> Exchange:
        """The recording of a request; raises `ReplayMiss` when there is none (left)."""


class ReplayingHttp:
    """Sends nothing."""

    def __init__(
        self, recordings: Recordings, secrets: Secrets, target: str, project: Path
    ) -> None:
        self._recordings = recordings
        self._secrets = secrets
        self._target = target
        self._project = project

    async def send(self, request: HttpRequest) -> HttpReply:
        """See `agentv.protocols.HttpSender`; raises `ReplayMiss`, too."""
        asker = current_asker()
        disguise = disguise_for(asker, self._secrets, self._project, {})
        asked = http_asked(request, disguise)
        await asyncio.sleep(0)  # others get their turn, as they would while a reply is waited for
        reply = self._recordings.answer(self._target, asker, asked).reply
        if isinstance(reply, HttpReplied):
            return HttpReply(
                status=reply.status,
                headers={name: disguise.show(value) for name, value in reply.headers.items()},
                body=disguise.show_bytes(bytes_of(reply.body)),
            )
        raise _failure(reply, disguise)


class ReplayingProcesses:
    """Runs nothing but our own helpers."""

    def __init__(
        self,
        border: ProcessRunner,
        recordings: Recordings,
        secrets: Secrets,
        target: str,
        project: Path,
    ) -> None:
        self._border = border
        self._recordings = recordings
        self._secrets = secrets
        self._target = target
        self._project = project

    async def run(
        self, command: Command, listen: Callable[[bytes], None] | None = None
    ) -> CommandResult:
        """See `agentv.protocols.ProcessRunner`; raises `ReplayMiss`, too."""
        if command.is_helper:
            return await self._border.run(command, listen)
        asker = current_asker()
        disguise = disguise_for(asker, self._secrets, self._project, command.places)
        asked = await asyncio.to_thread(command_asked, command, disguise)
        exchange = self._recordings.answer(self._target, asker, asked)
        asker.note_move(exchange.places, disguise)
        reply = exchange.reply
        if not isinstance(reply, CommandEnded):
            raise _failure(reply, disguise)
        try:
            await asyncio.to_thread(put_back, reply.files, command.writes, disguise)
        except (ValueError, OSError) as error:
            raise SetupError(f"The recording cannot be replayed: {error}.") from error
        stdout = disguise.show_bytes(bytes_of(reply.stdout))
        if listen is not None:
            # All at once: what a program said when is in nobody's answer.
            listen(stdout)
            kept = both_ends()
            kept.add(stdout)
            stdout = kept.value()
        return CommandResult(
            exit_code=reply.exit_code,
            stdout=stdout,
            stderr=disguise.show_bytes(bytes_of(reply.stderr)),
            timed_out=reply.timed_out,
            truncated=reply.truncated,
            duration_ms=exchange.duration_ms,
        )


def _failure(reply: Reply, disguise: Disguise) -> Exception:
    """The error that was recorded."""
    if not isinstance(reply, NoReply):
        return SetupError("The recording has a reply of the other border.")
    message = disguise.show(reply.message)
    if reply.kind == "timeout":
        return ProviderTimeout(message)
    return SetupError(message) if reply.kind == "setup" else ProviderError(message, kind=reply.kind)
