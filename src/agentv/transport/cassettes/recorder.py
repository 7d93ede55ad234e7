"""Recording a run."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from agentv import __version__
from agentv.errors import RunAborted
from agentv.model.exchange import CassetteHeader, CassetteReport, Exchange
from agentv.protocols import HttpSender, ProcessRunner, TrafficControl, new_token
from agentv.transport.cassettes.asker import Asker
from agentv.transport.cassettes.disguise import Secrets
from agentv.transport.cassettes.folder import CassetteFolder, free_places, remove_all
from agentv.transport.cassettes.recording import RecordingHttp, RecordingProcesses
from agentv.transport.cassettes.track import Track


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
        before = self._folder.header() if self._folder.is_cassette else None
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        known = before.variables if before else {}
        header = CassetteHeader(
            recorded=now,
            version=__version__,
            variables=dict(sorted({**known, **variables}.items())),
            tokens=before.tokens if before else {},
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

    def token(self, what: str) -> str:
        """A new one, kept for replays."""
        header, token = self._folder.header(), new_token(what)
        tokens = dict(sorted({**header.tokens, what: token}.items()))
        self._folder.write_header(msgspec.structs.replace(header, tokens=tokens))
        return token

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
