"""Replaying: every exchange is answered from its recording, and nobody is asked."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agentv.errors import ProviderError, ProviderTimeout, ReplayMiss, SetupError
from agentv.model.exchange import (
    Asked,
    CassetteReport,
    CommandEnded,
    Exchange,
    HttpReplied,
    Miss,
    NoReply,
    Reply,
)
from agentv.model.http import HttpReply, HttpRequest
from agentv.model.process import Command, CommandResult
from agentv.protocols import HttpSender, ProcessRunner, TrafficControl
from agentv.transport.cassettes.asker import Asker, current_asker
from agentv.transport.cassettes.content import bytes_of
from agentv.transport.cassettes.difference import difference, likeness, title_of
from agentv.transport.cassettes.disguise import Disguise, Secrets
from agentv.transport.cassettes.file_changes import put_back
from agentv.transport.cassettes.folder import CassetteFolder
from agentv.transport.cassettes.open_road import OpenRoad
from agentv.transport.cassettes.recorder import disguise_for
from agentv.transport.cassettes.requests import command_asked, http_asked, key_of
from agentv.transport.child import both_ends

_NAMED_MISSES = 10
_MOST_COMPARED = 100


@dataclass(eq=False, kw_only=True)
class _Recording:
    """One exchange, to be read again when it is asked for."""

    path: Path
    target: str
    eval_id: str
    trial: int
    is_used: bool = False


class Player:
    """Replays a run (see `agentv.protocols.Cassette`).

    Recordings of one and the same request are handed out in the order in which they were made,
    each once: first those of the trial that asks, then what is left of others.

    Raises:
        SetupError: There is no cassette in the folder, or it cannot be read.
    """

    replays = True

    def __init__(self, folder: CassetteFolder) -> None:
        self._folder = folder
        self._secrets = Secrets()
        self._by_key: dict[str, list[_Recording]] = defaultdict(list)
        self._replayed = 0
        self._missed = 0
        self._misses: list[Miss] = []
        folder.header()
        for path, exchange in folder.exchanges():
            self._by_key[key_of(exchange.target, exchange.request)].append(
                _Recording(
                    path=path,
                    target=exchange.target,
                    eval_id=exchange.eval_id,
                    trial=exchange.trial,
                )
            )

    def begin(
        self,
        out_of: Callable[[str], str],
        steady: Callable[[str], str],
        variables: dict[str, str],
    ) -> None:
        """Called before the first exchange; see `agentv.protocols.Cassette`."""
        del variables
        self._secrets.out_of, self._secrets.steady = out_of, steady

    def http(self, border: HttpSender, target: str, project: Path) -> HttpSender:
        """In place of the border."""
        del border
        return ReplayingHttp(self, self._secrets, target, project)

    def processes(self, border: ProcessRunner, target: str, project: Path) -> ProcessRunner:
        """In place of the border; helpers of ours do run."""
        return ReplayingProcesses(border, self, self._secrets, target, project)

    def traffic(self, border: TrafficControl) -> TrafficControl:
        """There is no service to be polite to."""
        del border
        return OpenRoad()

    def report(self) -> CassetteReport:
        """What came of it."""
        unused = sum(not r.is_used for recordings in self._by_key.values() for r in recordings)
        return CassetteReport(
            folder=str(self._folder.path),
            replays=True,
            exchanges=self._replayed,
            unused=unused,
            missed=self._missed,
            misses=tuple(self._misses),
        )

    def answer(self, target: str, asker: Asker, asked: Asked) -> Exchange:
        """The recording of a request; raises `ReplayMiss` when there is none (left)."""
        recordings = self._by_key.get(key_of(target, asked), [])
        unused = [recording for recording in recordings if not recording.is_used]
        if not unused:
            raise self._miss(target, asker, asked, len(recordings))
        own = (r for r in unused if (r.eval_id, r.trial) == (asker.eval_id, asker.trial))
        found = next(own, unused[0])
        found.is_used = True
        self._replayed += 1
        return self._folder.read(found.path)

    def _miss(self, target: str, asker: Asker, asked: Asked, times: int) -> ReplayMiss:
        title, nearest = title_of(asked), None
        lines: tuple[str, ...] = ()
        if times:
            often = "once" if times == 1 else f"{times} times"
            message = f"{title} was recorded {often}, and is asked once more"
        else:
            found = self._nearest(target, asker, asked)
            message = f"there is no recording of {title}"
            if found is not None:
                path, recorded = found
                nearest, lines = self._folder.shown(path), difference(recorded, asked)
                message += f"; the nearest is {nearest}"
        miss = Miss(
            target=target,
            eval_id=asker.eval_id,
            message=message,
            nearest=nearest,
            difference=lines,
        )
        self._missed += 1
        if len(self._misses) < _NAMED_MISSES:
            self._misses.append(miss)
        return ReplayMiss(f"{self._folder.path}: {message}", detail="\n".join(lines) or None)

    def _nearest(self, target: str, asker: Asker, asked: Asked) -> tuple[Path, Asked] | None:
        """The recording most like a request: of the same case if there is one."""
        every = [recording for recordings in self._by_key.values() for recording in recordings]
        groups = (
            [r for r in every if r.target == target and r.eval_id == asker.eval_id],
            [r for r in every if r.target == target],
            [r for r in every if r.eval_id == asker.eval_id],
            every,
        )
        for group in groups:
            read = ((r.path, self._folder.read(r.path).request) for r in group[:_MOST_COMPARED])
            alike = [(path, recorded) for path, recorded in read if type(recorded) is type(asked)]
            if alike:
                return max(alike, key=lambda each: likeness(each[1], asked))
        return None


class ReplayingHttp:
    """Sends nothing."""

    def __init__(self, player: Player, secrets: Secrets, target: str, project: Path) -> None:
        self._player = player
        self._secrets = secrets
        self._target = target
        self._project = project

    async def send(self, request: HttpRequest) -> HttpReply:
        """See `agentv.protocols.HttpSender`; raises `ReplayMiss`, too."""
        asker = current_asker()
        disguise = disguise_for(asker, self._secrets, self._project)
        asked = http_asked(request, disguise)
        await asyncio.sleep(0)  # others get their turn, as they would while a reply is waited for
        reply = self._player.answer(self._target, asker, asked).reply
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
        player: Player,
        secrets: Secrets,
        target: str,
        project: Path,
    ) -> None:
        self._border = border
        self._player = player
        self._secrets = secrets
        self._target = target
        self._project = project

    async def run(
        self, command: Command, listen: Callable[[bytes], None] | None = None
    ) -> CommandResult:
        """See `agentv.protocols.ProcessRunner`; raises `ReplayMiss`, too."""
        if command.is_helper:
            return await self._border.run(command, listen)
        asker = current_asker(command.places)
        disguise = disguise_for(asker, self._secrets, self._project)
        asked = await asyncio.to_thread(command_asked, command, disguise)
        exchange = self._player.answer(self._target, asker, asked)
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
