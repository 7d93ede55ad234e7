"""What one target was asked about one case: which recordings are there, and what takes their place.

A target's folder of a case may hold recordings of several trials: a judge is asked about the
answers of every target.
"""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from agentv.errors import SetupError
from agentv.model.base import Record
from agentv.model.exchange import Exchange
from agentv.transport.cassettes.asker import TrialName
from agentv.transport.cassettes.folder import CassetteFolder
from agentv.transport.cassettes.requests import key_of


class Earlier(Record, frozen=True, kw_only=True):
    """A recording that was there before this run."""

    path: Path
    of: TrialName | None
    """`None` for a file that cannot be read: no replay could do with it."""
    key: str = ""


class Shelf:
    """One folder of a cassette while it is recorded in.

    Args:
        folder: The cassette.
        path: The folder in it.
    """

    def __init__(self, folder: CassetteFolder, path: Path) -> None:
        self._path = path
        self._earlier = [_known(folder, file) for file in folder.files_of(path)]
        self._given: set[Path] = set()

    def take_down(self, is_meant: Callable[[Earlier], bool]) -> Iterator[Path]:
        """Earlier recordings that something takes the place of, with those of no use to anybody."""
        down = [each for each in self._earlier if each.of is None or is_meant(each)]
        self._earlier = [each for each in self._earlier if each not in down]
        return (each.path for each in down)

    def place(self, trial: TrialName, *, stays: bool = True) -> Path:
        """The file for the next exchange of a trial.

        Args:
            trial: Whose.
            stays: Whether its earlier ones stay, so that it comes behind them.
        """
        earlier = [each for each in self._earlier if stays or each.of != trial]
        taken = self._given | {each.path for each in earlier}
        last = max((_number(each.path) for each in earlier if each.of == trial), default=0)
        files = (self._path / f"{number}.json" for number in count(last + 1))
        place = next(file for file in files if file not in taken)
        self._given.add(place)
        return place


def trial_of(exchange: Exchange) -> TrialName:
    """On whose behalf it was."""
    return TrialName(
        dataset=exchange.dataset,
        eval_id=exchange.eval_id,
        target=exchange.about or exchange.target if exchange.eval_id else "",
        number=exchange.trial,
    )


def _known(folder: CassetteFolder, file: Path) -> Earlier:
    try:
        exchange = folder.read(file)
    except SetupError:
        return Earlier(path=file, of=None)
    return Earlier(path=file, of=trial_of(exchange), key=key_of(exchange.target, exchange.request))


def _number(path: Path) -> int:
    return int(path.stem) if path.stem.isdigit() else 0
