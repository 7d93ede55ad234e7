"""Recording: every exchange goes on as ever, and is written down once it is over."""

import asyncio
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from agentv import __version__
from agentv.errors import ProviderError, ProviderTimeout, RunAborted, SetupError
from agentv.model.exchange import (
    Asked,
    CassetteHeader,
    CassetteReport,
    CommandEnded,
    Exchange,
    HttpReplied,
    NoReply,
    Reply,
)
from agentv.model.http import HttpReply, HttpRequest
from agentv.model.process import Command, CommandResult
from agentv.protocols import HttpSender, ProcessRunner, TrafficControl
from agentv.transport.cassettes.asker import Asker, current_asker
from agentv.transport.cassettes.content import content_of
from agentv.transport.cassettes.disguise import Disguise, Secrets
from agentv.transport.cassettes.file_changes import (
    TooMuchWrittenError,
    changes_since,
    state_of,
)
from agentv.transport.cassettes.folder import CassetteFolder, free_places, remove_all
from agentv.transport.cassettes.requests import command_asked, fit_headers, http_asked
from agentv.transport.output import Output

LONGEST_OUTPUT = 32 * 1024 * 1024


class Recorder:
    """Records a run (see `agentv.protocols.Cassette`).

    What a trial asks a target takes the place of what it asked it in earlier runs.

    Args:
        folder: The cassette; a new folder, an empty one, or a cassette that is brought up to date.
        adds: Whether the run goes on where it was cut short: nothing is replaced then.
        warn: Takes a line that everybody should read.

    Raises:
        SetupError: The folder holds other things.
    """

    replays = False

    def __init__(self, folder: CassetteFolder, *, adds: bool, warn: Callable[[str], None]) -> None:
        folder.refuse_other_things()
        self._folder = folder
        self._adds = adds
        self._warn = warn
        self._secrets = Secrets()
        self._places: dict[Path, Iterator[Path]] = {}
        self._renewed: set[Path] = set()
        """Folders of which earlier runs' recordings are gone."""
        self._recorded = 0

    def begin(
        self,
        out_of: Callable[[str], str],
        steady: Callable[[str], str],
        variables: dict[str, str],
    ) -> None:
        """Called before the first exchange; see `agentv.protocols.Cassette`."""
        self._secrets.out_of, self._secrets.steady = out_of, steady
        before = self._folder.header().variables if self._folder.is_cassette else {}
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        header = CassetteHeader(
            recorded=now,
            version=__version__,
            variables=dict(sorted({**before, **variables}.items())),
        )
        self._folder.write_header(header)

    def http(self, border: HttpSender, target: str, project: Path) -> HttpSender:
        """The border as a target sees it."""
        return RecordingHttp(border, Track(self, self._secrets, target, project))

    def processes(self, border: ProcessRunner, target: str, project: Path) -> ProcessRunner:
        """The border as a target sees it."""
        return RecordingProcesses(border, Track(self, self._secrets, target, project))

    def traffic(self, border: TrafficControl) -> TrafficControl:
        """Services are treated as politely as ever."""
        return border

    def report(self) -> CassetteReport:
        """What came of it."""
        return CassetteReport(
            folder=str(self._folder.path), replays=False, exchanges=self._recorded
        )

    def place(self, target: str, asker: Asker) -> Path:
        """The file for the next exchange of a trial with a target."""
        folder = self._folder.case_folder(target, asker.eval_id, asker.trial)
        if folder not in self._places:
            self._places[folder] = free_places(folder, after_those_there=self._adds)
        return next(self._places[folder])

    def write(self, place: Path, exchange: Exchange) -> None:
        """Raises `RunAborted` when it cannot be written: what follows would be paid for twice."""
        try:
            if not self._adds and place.parent not in self._renewed:
                self._renewed.add(place.parent)
                remove_all(place.parent)
            self._folder.add(place, exchange)
        except OSError as error:
            raise RunAborted(
                f"The cassette {self._folder.path} cannot be written: {error.strerror}. "
                "What is recorded is kept."
            ) from error
        self._recorded += 1

    def leave_out(self, target: str, asker: Asker, why: str) -> None:
        """An exchange is too large to be kept."""
        case = f" about '{asker.eval_id}'" if asker.eval_id else ""
        self._warn(f"what '{target}' was asked{case} is not recorded: {why}")


class Track:
    """The exchanges with one target, on their way to the recorder."""

    def __init__(self, recorder: Recorder, secrets: Secrets, target: str, project: Path) -> None:
        self._recorder = recorder
        self._secrets = secrets
        self._target = target
        self._project = project

    def disguise(self, asker: Asker) -> Disguise:
        """For an exchange on a trial's behalf."""
        return disguise_for(asker, self._secrets, self._project)

    def begin(self, asker: Asker, request: Asked) -> Callable[[Reply], None]:
        """What to call with the reply, once there is one."""
        place = self._recorder.place(self._target, asker)
        began = time.perf_counter()

        def over(reply: Reply) -> None:
            exchange = Exchange(
                target=self._target,
                eval_id=asker.eval_id,
                trial=asker.trial,
                request=request,
                reply=reply,
                duration_ms=round((time.perf_counter() - began) * 1000, 1),
            )
            self._recorder.write(place, exchange)

        return over

    def leave_out(self, asker: Asker, why: str) -> None:
        """An exchange is too large to be kept."""
        self._recorder.leave_out(self._target, asker, why)


def disguise_for(asker: Asker, secrets: Secrets, project: Path) -> Disguise:
    """Hides the project's folder, and those that were made for a trial."""
    return Disguise(secrets=secrets, places={**asker.places, "project": project.absolute()})


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
        asker = current_asker(command.places)
        disguise = self._track.disguise(asker)
        asked = await asyncio.to_thread(command_asked, command, disguise)
        before = await asyncio.to_thread(state_of, command.writes)
        over = self._track.begin(asker, asked)
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
