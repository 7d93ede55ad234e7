"""Which batches a run takes up, and what becomes of them when its rows are there."""

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress

from agentv.model.base import Record
from agentv.providers.apis.batch_ledger import Claim, Ledger


class Taken(Record, frozen=True, kw_only=True):
    """A place, and the requests that a run asks there."""

    place: Claim
    requests: Collection[str]
    """Digests, in no order."""


class Claims(Record, frozen=True, kw_only=True):
    """All places of a plan."""

    taken: list[Taken]
    has_rival: bool
    """Whether a run that goes on has batches with requests for which new ones are to be made."""


def claims(
    ledger: Ledger, target: str, wanted: Collection[str], run: str, *, alone: bool = False
) -> Claims:
    """Take up the batches that have the requests; what none has gets an empty place.

    Args:
        ledger: Where they are noted.
        target: To whom the requests go.
        wanted: Digests of the requests.
        run: Who asks. Its own batches come first, then those with the most of the requests.
        alone: Whether batches of other runs are left alone.

    Raises:
        OSError: The ledger cannot be written.
    """
    found: list[Claim] = []
    taken: list[Taken] = []
    left = set(wanted)
    try:
        for place in ledger.left_behind():
            found.append(place)
        for place in sorted(found, key=lambda each: _worth(each, left, run), reverse=True):
            entry = place.entry
            if entry is None or not place.belongs_to(target) or (alone and run not in entry.runs):
                continue
            if own := entry.has_of(left):
                with suppress(OSError):  # what is noted leads to the batch all the same
                    place.keep(entry.taken_up_by(run))
                taken.append(Taken(place=place, requests=own))
                left -= own
        has_rival = not alone and any(entry.has_of(left) for entry in ledger.entries(target))
        if left:
            taken.append(Taken(place=ledger.empty(target), requests=left))
    except BaseException:
        for each in taken:
            each.place.release()
        raise
    finally:
        for place in found:
            if all(place is not each.place for each in taken):
                place.release()
    return Claims(taken=taken, has_rival=has_rival)


class Planned(Record, frozen=True, kw_only=True):
    """What a run asks of a target."""

    target: str
    requests: Collection[str]
    """Digests."""


def forget_answers(ledger: Ledger, run: str, again: Planned) -> None:
    """A run asks these again: the answers that its batches had are not to be used once more.

    Raises:
        OSError: The ledger cannot be written.
    """
    for place in ledger.left_behind():
        try:
            if place.entry is not None and _is_of(place, run) and place.belongs_to(again.target):
                place.leave(place.entry.without(again.requests))
        finally:
            place.release()


def settle_all(
    ledger: Ledger, run: str, held: Iterable[Claim], planned: Callable[[], Planned]
) -> None:
    """Every row of a run is written: nobody is to have the answers that it had.

    What another run was cut short over and this one did not want is left to that run.

    Args:
        ledger: Where the batches are noted.
        run: The one that came to its end.
        held: Places that it holds.
        planned: All that it was to ask. Finding that out may take a while; it is not always needed.

    Raises:
        OSError: The ledger cannot be written.
    """
    for place in held:  # they are locked, so they do not come a second time
        _settle(place, run, planned)
    for place in ledger.left_behind():
        try:
            if _is_of(place, run):
                _settle(place, run, planned)
        finally:
            place.release()


def _settle(place: Claim, run: str, planned: Callable[[], Planned]) -> None:
    entry = place.entry
    if entry is None:
        return
    if not set(entry.runs) - {run}:
        place.forget()
        return
    plan = planned()
    if place.belongs_to(plan.target):
        place.leave(entry.without(plan.requests, run))


def _is_of(place: Claim, run: str) -> bool:
    return place.entry is not None and run in place.entry.runs


def _worth(place: Claim, wanted: set[str], run: str) -> tuple[bool, int]:
    entry = place.entry
    return (run in entry.runs, len(entry.has_of(wanted))) if entry else (False, 0)
