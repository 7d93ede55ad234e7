"""What is known on disk of batches under way."""

import os
import subprocess
import sys
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentv.providers.apis.batch_claims import (
    Claims,
    Planned,
    claims,
    forget_answers,
    settle_all,
)
from agentv.providers.apis.batch_entry import BatchPart, LedgerEntry
from agentv.providers.apis.batch_ledger import KEPT, Claim, Ledger

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
REQUESTS = {"r1": "case-000000", "r2": "case-000001"}
PART = BatchPart(key="k1", requests=REQUESTS, asked=NOON, batch_id="b1")
ENTRY = LedgerEntry(endpoint="https://api.test", made=NOON, parts=(PART,), runs=("first",))
KEEP_AND_DIE = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from agentv.providers.apis.batch_entry import BatchPart, LedgerEntry
from agentv.providers.apis.batch_ledger import Ledger

noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
requests = {"r1": "case-000000", "r2": "case-000001"}
place = Ledger(Path(sys.argv[1]), noon, print).empty("k")
part = BatchPart(key="k1", requests=requests, asked=noon)
place.keep(LedgerEntry(endpoint="https://api.test", made=noon, parts=(part,), runs=("first",)))
place.keep_part(BatchPart(key="k1", requests=requests, asked=noon, batch_id="b1"))
os.kill(os.getpid(), 9)
"""


class Folder:
    """A ledger as runs find it, one after another."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.warnings: list[str] = []

    def ledger(self, now: datetime = NOON) -> Ledger:
        return Ledger(self.path, now, self.warnings.append)

    def leave(self, entry: LedgerEntry = ENTRY) -> None:
        """As a run does that is killed."""
        place = self.ledger().empty("k")
        place.keep(entry)
        place.release()

    def take(
        self,
        wanted: Collection[str],
        run: str = "first",
        *,
        alone: bool = False,
        now: datetime = NOON,
    ) -> list[tuple[str | None, list[str]]]:
        """Which batch would give which answers; `None` is a new one."""
        found = claims(self.ledger(now), "k", wanted, run, alone=alone)
        release(found)
        return [(batch_of(each.place), sorted(each.requests)) for each in found.taken]

    def settle(self, run: str, planned: Collection[str]) -> None:
        settle_all(self.ledger(), run, (), lambda: Planned(target="k", requests=planned))

    @property
    def files(self) -> list[str]:
        return sorted(path.name for path in self.path.iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "new" / "batches")


def release(found: Claims) -> None:
    for each in found.taken:
        each.place.release()


def batch_of(place: Claim) -> str | None:
    return place.entry.parts[0].batch_id if place.entry else None


def test_what_is_kept_is_found_by_the_next_claim(folder: Folder) -> None:
    folder.leave()
    assert folder.take(REQUESTS) == [("b1", ["r1", "r2"])]


def test_what_a_killed_process_kept_is_found(folder: Folder) -> None:
    folder.path.mkdir(parents=True)
    subprocess.run([sys.executable, "-c", KEEP_AND_DIE, folder.path], check=False)
    [place] = folder.ledger().left_behind()
    assert place.entry == ENTRY
    place.release()


def test_a_place_that_is_held_is_not_given_out(folder: Folder) -> None:
    folder.leave()
    first = claims(folder.ledger(), "k", REQUESTS, "first")
    second = claims(folder.ledger(), "k", REQUESTS, "second")
    assert [batch_of(each.place) for each in second.taken] == [None]
    assert second.has_rival
    release(second)
    release(first)
    assert folder.take(REQUESTS, "second") == [("b1", ["r1", "r2"])]


def test_what_is_forgotten_leaves_no_file(folder: Folder) -> None:
    place = folder.ledger().empty("k")
    place.keep(ENTRY)
    place.forget()
    place.release()
    place.release()
    assert folder.files == []


def test_an_old_file_is_worth_as_much_as_none(folder: Folder) -> None:
    folder.leave()
    assert folder.take(REQUESTS, now=NOON + KEPT - timedelta(seconds=1))[0][0] == "b1"
    assert folder.take(REQUESTS, now=NOON + KEPT) == [(None, ["r1", "r2"])]
    assert folder.files == []


def test_a_batch_that_nobody_asked_for_is_no_batch(folder: Folder) -> None:
    """Its run was killed before; the next one may want other requests in it."""
    part = BatchPart(key="k1", requests=REQUESTS)
    folder.leave(LedgerEntry(endpoint="https://api.test", made=NOON, parts=(part,)))
    assert folder.take(["r1"]) == [(None, ["r1"])]
    assert folder.files == []


@pytest.mark.parametrize(
    "content",
    [b'{"endpoint": "h', b"", b"\xff\xfe", b'{"endpoint":"h","batches":[{"id":"b1"}]}'],
    ids=["cut", "empty", "noise", "another version"],
)
def test_a_file_that_cannot_be_read_is_said_and_left(folder: Folder, content: bytes) -> None:
    """It may stand for a batch that is paid for: who deletes it must be a person."""
    folder.path.mkdir(parents=True)
    damaged = folder.path / "k-1.json"
    damaged.write_bytes(content)
    assert folder.take(REQUESTS, now=datetime.now(UTC)) == [(None, ["r1", "r2"])]
    assert damaged.read_bytes() == content
    [warning] = folder.warnings
    assert warning.startswith(f"{damaged} cannot be read (")
    assert warning.endswith("it is not found again, and is paid for in vain")
    folder.take(REQUESTS, now=datetime.now(UTC) + KEPT)
    assert folder.files == []


def test_keys_of_a_later_version_do_no_harm(folder: Folder) -> None:
    folder.leave()
    [path] = folder.path.glob("*.json")
    path.write_bytes(path.read_bytes().replace(b"{", b'{"more":{"than":1},', 1))
    assert folder.take(REQUESTS) == [("b1", ["r1", "r2"])]
    assert folder.warnings == []


def test_a_lock_on_a_file_that_was_removed_meanwhile_is_no_lock(folder: Folder) -> None:
    place = folder.ledger().empty("k")
    os.unlink(folder.path / "k-1.lock")
    other = folder.ledger().empty("k")
    again = folder.ledger().empty("k")
    again.keep(ENTRY)
    assert (folder.path / "k-2.json").exists()
    for each in (place, other, again):
        each.release()


def test_a_batch_answers_those_of_its_requests_that_are_wanted(folder: Folder) -> None:
    """A case was edited since, or a cache knows some answers: the rest is a batch of its own."""
    folder.leave()
    assert folder.take(["r2"]) == [("b1", ["r2"])]
    assert folder.take(["r2", "r3"]) == [("b1", ["r2"]), (None, ["r3"])]
    assert folder.take(["r3"]) == [(None, ["r3"])]


def test_the_batches_of_a_plan_are_found_together(folder: Folder) -> None:
    other = BatchPart(key="k2", requests={"r3": "k2-000002"})
    folder.leave(LedgerEntry(endpoint="https://api.test", made=NOON, parts=(PART, other)))
    assert folder.take(["r2", "r3"]) == [("b1", ["r2", "r3"])]
    assert folder.ledger().known_batches() == {"b1"}


def test_a_run_takes_its_own_batch_first(folder: Folder) -> None:
    """Two runs of the same cases were killed: each goes on with what it has paid for."""
    folder.leave()
    part = BatchPart(key="k2", requests=REQUESTS, asked=NOON, batch_id="b2")
    place = folder.ledger().empty("k")
    place.keep(LedgerEntry(endpoint="https://api.test", made=NOON, parts=(part,), runs=("2nd",)))
    place.release()
    assert folder.take(REQUESTS, "2nd") == [("b2", ["r1", "r2"])]
    assert folder.take(REQUESTS, "first") == [("b1", ["r1", "r2"])]
    folder.settle("2nd", REQUESTS)
    assert folder.take(REQUESTS, "first") == [("b1", ["r1", "r2"])]


def test_a_run_that_asks_anew_leaves_the_batches_of_others_alone(folder: Folder) -> None:
    folder.leave()
    assert folder.take(REQUESTS, "second", alone=True) == [(None, ["r1", "r2"])]
    assert folder.take(REQUESTS, "first", alone=True) == [("b1", ["r1", "r2"])]


def test_an_answer_that_is_asked_for_again_is_not_used_again(folder: Folder) -> None:
    folder.leave()
    forget_answers(folder.ledger(), "second", Planned(target="k", requests={"r1"}))
    forget_answers(folder.ledger(), "first", Planned(target="another", requests={"r1"}))
    assert folder.take(REQUESTS) == [("b1", ["r1", "r2"])]
    forget_answers(folder.ledger(), "first", Planned(target="k", requests={"r1"}))
    assert folder.take(REQUESTS) == [("b1", ["r2"]), (None, ["r1"])]
    forget_answers(folder.ledger(), "first", Planned(target="k", requests=REQUESTS))
    assert folder.files == []


def test_a_run_that_ended_well_leaves_nothing_even_if_it_asked_nothing(folder: Folder) -> None:
    """It was killed while judges were at work, and went on with all answers on disk."""
    folder.leave()
    folder.settle("first", ())
    assert folder.files == []


def test_what_a_run_of_a_few_cases_did_not_want_is_left_to_the_one_that_was_killed(
    folder: Folder,
) -> None:
    folder.leave()
    folder.take(["r1"], "a few")
    folder.settle("a few", ["r1"])
    assert folder.take(REQUESTS) == [("b1", ["r2"]), (None, ["r1"])]
    folder.settle("first", REQUESTS)
    assert folder.files == []


def test_a_run_started_anew_leaves_nothing_of_the_one_that_was_killed(folder: Folder) -> None:
    folder.leave()
    folder.take(["r2"], "anew")  # a cache has the other
    folder.settle("anew", REQUESTS)
    assert folder.files == []


def test_a_lock_without_batches_is_swept_away(folder: Folder) -> None:
    """Its run was killed after it had forgotten its batches."""
    folder.path.mkdir(parents=True)
    (folder.path / "k-1.lock").touch()
    held = folder.ledger().empty("k-2")
    assert list(folder.ledger().left_behind()) == []
    assert folder.files == ["k-2-1.lock"]
    held.release()
    assert folder.files == []
