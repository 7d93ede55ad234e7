"""Recording a run."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from agentv import __version__
from agentv.errors import RunAborted, SetupError
from agentv.model.exchange import CassetteHeader, CassetteReport, Exchange
from agentv.protocols import HttpSender, ProcessRunner, TrafficControl, new_token, now
from agentv.transport.cassettes.asker import NO_TRIAL, Asker, TrialName
from agentv.transport.cassettes.disguise import Secrets
from agentv.transport.cassettes.folder import CassetteFolder
from agentv.transport.cassettes.recording import RecordingHttp, RecordingProcesses
from agentv.transport.cassettes.requests import key_of
from agentv.transport.cassettes.shelf import Shelf, trial_of
from agentv.transport.cassettes.track import Track


class Recorder:
    """Records a run (see `agentv.protocols.Cassette`).

    What a trial asks takes the place of all that it asked in earlier runs.

    Args:
        folder: The cassette; a new folder, an empty one, or a cassette that is brought up to date.
        adds: Whether the run goes on where it was cut short: of a trial whose answer was there
            before, only what is asked again is replaced.
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
        self._shelves: dict[Path, Shelf] = {}
        self._renewed: set[TrialName] = set()
        """Trials of which earlier runs' recordings are gone."""
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
            moments=before.moments if before else {},
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
        self._write_header(msgspec.structs.replace(header, tokens=tokens))
        return token

    def moment(self, what: str) -> datetime:
        """Now, kept for replays."""
        header, moment = self._folder.header(), now(what)
        moments = dict(sorted({**header.moments, what: moment.isoformat()}.items()))
        self._write_header(msgspec.structs.replace(header, moments=moments))
        return moment

    def _write_header(self, header: CassetteHeader) -> None:
        try:
            self._folder.write_header(header)
        except SetupError as error:
            raise RunAborted(str(error)) from error

    def report(self) -> CassetteReport:
        """What came of it."""
        return CassetteReport(
            folder=str(self._folder.path), replays=False, exchanges=self._recorded
        )

    def reserve(self, asker: Asker, lost: Exchange) -> Path | None:
        """See `Track`.

        A trial is asked anew by whoever goes on with the run. A batch is not: it was paid for even
        if the reply was lost, and is looked for. So a replay has to lose that reply as well.
        """
        if asker.of != NO_TRIAL:
            return None
        with self._aborting():
            shelf = self._shelf(self._folder_of(lost.target, asker))
            place = shelf.place(asker.of, stays=self._adds)
            self._folder.mark_lost(place, lost)
        return place

    def write(self, asker: Asker, exchange: Exchange, place: Path | None) -> None:
        """See `Track`; what follows would be paid for twice if it were not written."""
        with self._aborting():
            shelf = self._shelf(self._folder_of(exchange.target, asker))
            gone = tuple(self._replaced(shelf, asker, exchange))
            self._folder.add(place or shelf.place(asker.of), exchange, instead_of=gone)
        self._recorded += 1

    def places(self, trial: TrialName) -> Mapping[str, Path]:
        """As its last exchange with the target under test had them."""
        shelf = self._folder.case_folder(trial.target, trial.eval_id, trial.number)
        for path in reversed(self._folder.files_of(shelf)):
            try:
                exchange = self._folder.read(path)
            except SetupError:
                continue
            if trial_of(exchange) == trial and not exchange.about:
                return {word: Path(place) for word, place in exchange.places.items()}
        return {}

    def _replaced(self, shelf: Shelf, asker: Asker, exchange: Exchange) -> Iterator[Path]:
        """The earlier recordings that this one takes the place of."""
        if self._adds and (asker.of == NO_TRIAL or not asker.is_anew):
            # It is asked again because what came of it got lost when the run was cut short.
            again = asker.of, key_of(exchange.target, exchange.request)
            if not asker.repeats_known:
                yield from shelf.take_down(lambda each: (each.of, each.key) == again)
        elif asker.of == NO_TRIAL:
            yield from shelf.take_down(lambda each: each.of == NO_TRIAL)
        else:
            yield from self._outdated(asker.of)

    def _outdated(self, trial: TrialName) -> Iterator[Path]:
        """All earlier recordings of a trial that is asked anew, once."""
        if trial not in self._renewed:
            self._renewed.add(trial)
            for folder in self._folder.case_folders(trial.eval_id, trial.number):
                yield from self._shelf(folder).take_down(lambda each: each.of == trial)

    @contextmanager
    def _aborting(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RunAborted(
                f"The cassette {self._folder.path} cannot be written: {error.strerror}. "
                "What is recorded is kept."
            ) from error

    def _folder_of(self, target: str, asker: Asker) -> Path:
        return self._folder.case_folder(target, asker.of.eval_id, asker.of.number)

    def _shelf(self, folder: Path) -> Shelf:
        if folder not in self._shelves:
            self._folder.tidy(folder, keep_lost=self._adds)
            self._shelves[folder] = Shelf(self._folder, folder)
        return self._shelves[folder]

    def leave_out(self, target: str, asker: Asker, why: str) -> None:
        """An exchange is too large to be kept; what was recorded before is no reply to it."""
        if asker.is_anew or not self._adds:
            with self._aborting():
                for path in self._outdated(asker.of):
                    path.unlink(missing_ok=True)
        case = f" about '{asker.of.eval_id}'" if asker.of.eval_id else ""
        self._warn(f"what '{target}' was asked{case} is not recorded: {why}")
