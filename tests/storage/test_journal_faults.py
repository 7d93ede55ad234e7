"""Whatever a disk does: what was acknowledged is there, and after a failure nothing is taken."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from faulty_disk import Fault, FaultyDisk
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import row

from agentv.core.redaction import Redactor
from agentv.errors import RunAborted
from agentv.model.request import ProviderResponse
from agentv.model.result import TrialResult
from agentv.model.step import Answered, Asked, Step
from agentv.storage.journal import Journal
from agentv.storage.prior_run import PriorRun
from agentv.storage.run_folder import RunFolder

ROWS, STEPS = Path("results.jsonl"), Path("steps.jsonl")

FAULTS: st.SearchStrategy[Fault] = st.sampled_from(["short", "nothing", "full", "torn"])
WRITES = st.dictionaries(st.integers(0, 25), FAULTS, max_size=3)
SYNCS = st.frozensets(st.integers(0, 6), max_size=2)
LINES = st.lists(st.sampled_from(["row", "asked", "answered"]), min_size=1, max_size=12)


def step(kind: str, id_: str) -> Step:
    known = {"suite": "evals/triage.yaml", "eval_id": id_, "target": "default", "trial": 1}
    if kind == "asked":
        return Asked(**known)  # type: ignore[arg-type]
    response = ProviderResponse(text=f"The answer to {id_}")
    return Answered(
        **known,  # type: ignore[arg-type]
        digest="d",
        attempts=1,
        duration_ms=1.0,
        response=response,
    )


@settings(max_examples=100)
@given(lines=LINES, writes=WRITES, syncs=SYNCS, closes_badly=st.booleans())
def test_what_was_acknowledged_is_there_and_after_a_failure_nothing_is_taken(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[str],
    writes: dict[int, Fault],
    syncs: frozenset[int],
    closes_badly: bool,
) -> None:
    """Short writes, a full disk, a flush that fails, at any moment."""
    folder = tmp_path_factory.mktemp("run", numbered=True)
    disk = FaultyDisk(writes, syncs, closes_badly=closes_badly)
    taken: list[tuple[str, str]] = []
    durable: list[str] = []
    refusals: list[str] = []

    def report(rows: Sequence[TrialResult]) -> None:
        durable.extend(each.eval_id for each in rows)

    async def story() -> None:
        journal = Journal(folder / ROWS, Redactor({}), report, steps=folder / STEPS, disk=disk)
        async with journal:
            for number, kind in enumerate(lines):
                try:
                    if kind == "row":
                        journal.append(row(str(number)))
                    else:
                        journal.note(step(kind, str(number)))
                except RunAborted as error:
                    refusals.append(str(error))
                else:
                    assert not refusals, "something was taken after a failure"
                    taken.append((kind, str(number)))
                await asyncio.sleep(0)

    aborted = False
    try:
        asyncio.run(story())
    except RunAborted:
        aborted = True
    assert aborted or not refusals, "a run whose journal is broken ends well"
    for path, content in disk.content.items():
        path.write_bytes(content)

    with PriorRun(RunFolder(folder)) as prior:
        for kind, id_ in taken:
            known = prior.known(("evals/triage.yaml", id_, "default", 1))
            assert known.row == (row(id_) if kind == "row" else None)
            assert (known.answered is not None) == (kind == "answered")
            assert known.asked == (kind == "asked")
    in_order = [id_ for kind, id_ in taken if kind == "row"]
    assert durable == in_order[: len(durable)]
    assert aborted or durable == in_order
    synced = bytes(disk.content[folder / ROWS][: disk.synced.get(folder / ROWS, 0)])
    on_disk = [json.loads(line)["eval_id"] for line in synced.splitlines()]
    assert durable == on_disk[: len(durable)], "a row counts as done before the disk has it"


def test_a_flush_that_fails_is_told_and_the_next_question_is_not_asked(tmp_path: Path) -> None:
    """After it the next flush may succeed although the data is lost."""

    async def story() -> None:
        disk = FaultyDisk(syncs=frozenset([0]))
        async with Journal(
            tmp_path / ROWS, Redactor({}), lambda _: None, steps=tmp_path / STEPS, disk=disk
        ) as journal:
            journal.note(step("answered", "one"))
            while True:
                await asyncio.sleep(0.001)
                journal.note(step("asked", "two"))

    with pytest.raises(RunAborted, match=r"steps.jsonl cannot be written: Input/output error"):
        asyncio.run(story())


def test_a_question_is_written_but_owed_no_flush(tmp_path: Path) -> None:
    """Should the machine die, it is asked again whether or not that is known."""
    disk = FaultyDisk()

    async def story() -> None:
        async with Journal(
            tmp_path / ROWS, Redactor({}), lambda _: None, steps=tmp_path / STEPS, disk=disk
        ) as journal:
            journal.note(step("asked", "one"))
            journal.append(row("two"))

    asyncio.run(story())
    assert disk.content[tmp_path / STEPS]
    assert set(disk.synced) == {tmp_path / ROWS}


def test_a_disk_that_takes_nothing_is_no_endless_loop(tmp_path: Path) -> None:
    async def story() -> None:
        disk = FaultyDisk({0: "nothing"})
        async with Journal(tmp_path / ROWS, Redactor({}), lambda _: None, disk=disk) as journal:
            journal.append(row("one"))

    with pytest.raises(RunAborted, match="nothing is taken any more"):
        asyncio.run(story())


def test_a_journal_cut_at_any_byte_is_read_up_to_there(tmp_path: Path) -> None:
    """Every whole line before the cut counts; the torn one is set aside."""

    async def story() -> None:
        async with Journal(
            tmp_path / ROWS, Redactor({}), lambda _: None, steps=tmp_path / STEPS
        ) as journal:
            for id_ in ("one", "two"):
                journal.append(row(id_))
            for kind, id_ in (("asked", "three"), ("answered", "three"), ("asked", "four")):
                journal.note(step(kind, id_))

    asyncio.run(story())
    folder = RunFolder(tmp_path)
    for path in (folder.journal_path, folder.steps_path):
        whole = path.read_bytes()
        for end in range(len(whole) + 1):
            path.write_bytes(whole[:end])
            lines = whole[:end].count(b"\n")
            with PriorRun(folder) as prior:
                assert bool(prior.torn) == (end > 0 and whole[end - 1 : end] != b"\n")
                keys = [("evals/triage.yaml", id_, "default", 1) for id_ in ("one", "two")]
                rows = sum(prior.known(key).row is not None for key in keys)
                three = prior.known(("evals/triage.yaml", "three", "default", 1))
            if path == folder.journal_path:
                assert rows == lines
            else:
                assert (three.asked, three.answered is not None) == (lines > 0, lines > 1)
        path.write_bytes(whole)


@pytest.mark.parametrize("tail", [b"\0" * 40, b"\0\0\n", b'{"eval_id": "th\n', b"{}"])
def test_rubble_at_the_end_is_set_aside(tmp_path: Path, tail: bytes) -> None:
    """A power cut may leave zeros where a line should be."""
    folder = RunFolder(tmp_path)
    folder.journal_path.write_bytes(tail)
    with PriorRun(folder) as prior:
        assert prior.torn
        assert list(prior.row_places()) == []
