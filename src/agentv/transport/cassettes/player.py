"""Replaying a run: every request is answered from its recording, and nobody is asked."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from agentv.errors import ReplayMiss
from agentv.model.exchange import Asked, CassetteReport, Exchange, Miss
from agentv.protocols import HttpSender, ProcessRunner, TrafficControl, new_token, now
from agentv.transport.cassettes.asker import Asker, TrialName
from agentv.transport.cassettes.difference import difference, likeness, title_of
from agentv.transport.cassettes.disguise import Secrets
from agentv.transport.cassettes.folder import CassetteFolder
from agentv.transport.cassettes.open_road import OpenRoad
from agentv.transport.cassettes.replaying import ReplayingHttp, ReplayingProcesses
from agentv.transport.cassettes.requests import key_of
from agentv.transport.cassettes.shelf import trial_of

_NAMED_MISSES = 10
_MOST_COMPARED = 100
_FAR_SEARCHES = 20
"""Misses for which other cases' recordings are looked through: there may be thousands of both."""


class _Recording(msgspec.Struct, eq=False, kw_only=True):
    """One exchange, to be read again when it is asked for."""

    path: Path
    target: str
    of: TrialName
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
        self._by_case: dict[tuple[str, str], list[_Recording]] = defaultdict(list)
        self._replayed = 0
        self._missed = 0
        self._misses: list[Miss] = []
        header = folder.header()
        self._tokens, self._moments = header.tokens, header.moments
        for path, exchange in folder.exchanges():
            recording = _Recording(
                path=path,
                target=exchange.target,
                of=trial_of(exchange),
            )
            self._by_key[key_of(exchange.target, exchange.request)].append(recording)
            self._by_case[exchange.target, exchange.eval_id].append(recording)

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

    def token(self, what: str) -> str:
        """As it was recorded; what was not is asked for by another name, and missed."""
        return self._tokens.get(what) or new_token(what)

    def moment(self, what: str) -> datetime:
        """As it was recorded, else now."""
        recorded = self._moments.get(what)
        return now(what) if recorded is None else datetime.fromisoformat(recorded)

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
        found = max(unused, key=lambda recording: _nearness(recording.of, asker.of))
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
            eval_id=asker.of.eval_id,
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
        for group in self._where_to_look(target, asker):
            read = ((r.path, self._folder.read(r.path).request) for r in group[:_MOST_COMPARED])
            alike = [(path, recorded) for path, recorded in read if type(recorded) is type(asked)]
            if alike:
                return max(alike, key=lambda each: likeness(each[1], asked))
        return None

    def _where_to_look(self, target: str, asker: Asker) -> Iterator[list[_Recording]]:
        yield self._by_case.get((target, asker.of.eval_id), [])
        if self._missed < _FAR_SEARCHES:
            every = [recording for group in self._by_case.values() for recording in group]
            yield [recording for recording in every if recording.target == target]
            yield every


def _nearness(recorded: TrialName, asking: TrialName) -> tuple[bool, bool, bool, bool]:
    """How much of a trial is the same; what weighs most comes first."""
    return (
        recorded.eval_id == asking.eval_id,
        recorded.number == asking.number,
        recorded.target == asking.target,
        recorded.dataset == asking.dataset,
    )
