"""What is known on disk of batches under way."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agentv.providers.apis.batch_ledger import (
    KEPT,
    BatchPart,
    LedgerEntry,
    claim,
    known_batches,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
REQUESTS = {"r1": "case-000000", "r2": "case-000001"}
PART = BatchPart(key="k1", requests=REQUESTS, asked=NOON, batch_id="b1")
ENTRY = LedgerEntry(endpoint="https://api.test", made=NOON, parts=(PART,))
KEEP_AND_DIE = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from agentv.providers.apis.batch_ledger import BatchPart, LedgerEntry, claim

noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
requests = {"r1": "case-000000", "r2": "case-000001"}
place = claim(Path(sys.argv[1]), "k", requests, noon)
part = BatchPart(key="k1", requests=requests, asked=noon)
place.keep(LedgerEntry(endpoint="https://api.test", made=noon, parts=(part,)))
place.keep_part(BatchPart(key="k1", requests=requests, asked=noon, batch_id="b1"))
os.kill(os.getpid(), 9)
"""


def test_what_is_kept_is_found_by_the_next_claim(tmp_path: Path) -> None:
    first = claim(tmp_path / "new" / "folder", "k", REQUESTS, NOON)
    assert first.entry is None
    first.keep(ENTRY)
    first.release()
    second = claim(tmp_path / "new" / "folder", "k", REQUESTS, NOON)
    assert second.entry == ENTRY
    second.release()


def test_what_a_killed_process_kept_is_found(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KEEP_AND_DIE, tmp_path], check=False)
    place = claim(tmp_path, "k", REQUESTS, NOON)
    assert place.entry == ENTRY
    place.release()


def test_a_place_that_is_held_is_not_given_out(tmp_path: Path) -> None:
    first = claim(tmp_path, "k", REQUESTS, NOON)
    first.keep(ENTRY)
    second = claim(tmp_path, "k", REQUESTS, NOON)
    assert second.entry is None
    second.release()
    first.release()
    third = claim(tmp_path, "k", REQUESTS, NOON)
    assert third.entry == ENTRY
    third.release()


def test_what_is_forgotten_leaves_no_file(tmp_path: Path) -> None:
    place = claim(tmp_path, "k", REQUESTS, NOON)
    place.keep(ENTRY)
    place.forget()
    place.release()
    place.release()
    assert list(tmp_path.iterdir()) == []


def test_an_old_or_a_broken_file_is_worth_as_much_as_none(tmp_path: Path) -> None:
    place = claim(tmp_path, "k", REQUESTS, NOON)
    place.keep(ENTRY)
    place.release()
    for now, is_found in (
        (NOON + KEPT - timedelta(seconds=1), True),
        (NOON + KEPT, False),
    ):
        place = claim(tmp_path, "k", REQUESTS, now)
        assert (place.entry is not None) is is_found
        place.release()
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "k-1.json").write_text('{"endpoint": "h')
    place = claim(tmp_path, "k", REQUESTS, NOON)
    assert place.entry is None
    place.release()


def test_a_lock_on_a_file_that_was_removed_meanwhile_is_no_lock(tmp_path: Path) -> None:
    place = claim(tmp_path, "k", REQUESTS, NOON)
    os.unlink(tmp_path / "k-1.lock")
    other = claim(tmp_path, "k", REQUESTS, NOON)
    again = claim(tmp_path, "k", REQUESTS, NOON)
    again.keep(ENTRY)
    assert (tmp_path / "k-2.json").exists()
    for each in (place, other, again):
        each.release()


def test_what_a_cache_leaves_of_a_run_finds_the_whole_batch(tmp_path: Path) -> None:
    place = claim(tmp_path, "k", REQUESTS, NOON)
    place.keep(ENTRY)
    place.release()
    for requests, is_found in ((["r2"], True), (["r2", "r3"], False)):
        place = claim(tmp_path, "k", requests, NOON)
        assert (place.entry is not None) is is_found
        place.release()


def test_the_batches_of_a_plan_are_found_together(tmp_path: Path) -> None:
    place = claim(tmp_path, "k", ["r1", "r2", "r3"], NOON)
    other = BatchPart(key="k2", requests={"r3": "k2-000002"})
    place.keep(LedgerEntry(endpoint="https://api.test", made=NOON, parts=(PART, other)))
    place.release()
    place = claim(tmp_path, "k", ["r2", "r3"], NOON)
    assert place.entry is not None
    assert place.entry.parts == (PART, other)
    assert known_batches(tmp_path) == {"b1"}
    place.release()
