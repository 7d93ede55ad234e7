import asyncio
import math
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from rows import row

from agentv.core.redaction import Redactor
from agentv.errors import RunAborted, SetupError
from agentv.model.result import TrialResult
from agentv.storage.journal import Journal
from agentv.storage.rows import open_rows

NO_SECRETS = Redactor({})


def ignore(_rows: Sequence[TrialResult]) -> None:
    """Nobody waits for these rows."""


def write(path: Path, rows: Sequence[TrialResult], redactor: Redactor = NO_SECRETS) -> None:
    async def story() -> None:
        async with Journal(path, redactor, ignore) as journal:
            for each in rows:
                journal.append(each)

    asyncio.run(story())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.jsonl"


def test_rows_come_back_as_they_were(path: Path) -> None:
    rows = [row("one"), row("two", score=None), row("drei", answer="a\nb\u2028c 🎈")]
    write(path, rows)
    assert list(open_rows(path, TrialResult)) == rows
    assert path.read_bytes().count(b"\n") == 3


def test_the_slim_view_holds_what_totals_need(path: Path) -> None:
    write(path, [row("one", score=0.5), row("two", score=None)])
    one, two = open_rows(path)
    assert (one.eval_id, one.verdict, one.score) == ("one", "pass", 0.5)
    assert [result.name for result in one.evaluator_results] == ["judge"]
    assert two.error is not None
    assert (two.error.kind, two.error.message) == ("timeout", "no answer")


def test_a_row_is_in_the_file_when_append_returns(path: Path) -> None:
    async def story() -> None:
        async with Journal(path, NO_SECRETS, ignore) as journal:
            journal.append(row("one"))
            assert [each.eval_id for each in open_rows(path)] == ["one"]

    asyncio.run(story())


def test_every_row_is_reported_durable_once_in_order_and_in_groups(path: Path) -> None:
    """`done` is counted after the flush, and a flush covers many rows."""
    groups: list[list[str]] = []

    async def story() -> None:
        report = lambda rows: groups.append([each.eval_id for each in rows])  # noqa: E731
        async with Journal(path, NO_SECRETS, report) as journal:
            for number in range(500):
                journal.append(row(str(number)))
                await asyncio.sleep(0)

    asyncio.run(story())
    assert [name for group in groups for name in group] == [str(n) for n in range(500)]
    assert len(groups) < 100


def test_rows_are_reported_as_they_stand_in_the_file(path: Path) -> None:
    """Whoever shows them need not take the secrets out once more."""
    reported: list[TrialResult] = []

    async def story() -> None:
        async with Journal(path, Redactor({"KEY": "s3cret-word"}), reported.extend) as journal:
            journal.append(row("one", answer="It is s3cret-word."))
            journal.append(row("two"))

    asyncio.run(story())
    assert reported == list(open_rows(path, TrialResult))
    assert reported[0].candidate_answer == "It is [redacted KEY]."


def test_a_row_becomes_durable_while_the_run_goes_on(path: Path) -> None:
    async def story() -> None:
        durable = asyncio.Event()
        async with Journal(path, NO_SECRETS, lambda _: durable.set()) as journal:
            journal.append(row("one"))
            assert not durable.is_set()
            await asyncio.wait_for(durable.wait(), 10)

    asyncio.run(story())


@pytest.mark.parametrize("error", [asyncio.CancelledError, ZeroDivisionError])
def test_whatever_ends_the_run_its_rows_are_flushed_first(
    path: Path, error: type[BaseException]
) -> None:
    done: list[TrialResult] = []

    async def story() -> None:
        async with Journal(path, NO_SECRETS, done.extend) as journal:
            journal.append(row("one"))
            raise error

    with pytest.raises(error):
        asyncio.run(story())
    assert [each.eval_id for each in done] == ["one"]


def test_a_sink_that_fails_ends_the_run(path: Path) -> None:
    def fail(_rows: Sequence[TrialResult]) -> None:
        raise ZeroDivisionError

    async def story() -> None:
        async with Journal(path, NO_SECRETS, fail) as journal:
            while True:
                journal.append(row("one"))
                await asyncio.sleep(0)

    with pytest.raises(ZeroDivisionError):
        asyncio.run(story())


def test_killing_the_process_loses_no_row(path: Path) -> None:
    """The line is with the operating system before `append` returns."""
    script = f"""
import asyncio, os, signal
from pathlib import Path
from rows import row
from agentv.core.redaction import Redactor
from agentv.storage.journal import Journal

async def story():
    async with Journal(Path({str(path)!r}), Redactor({{}}), lambda rows: None) as journal:
        for number in range(50):
            journal.append(row(str(number)))
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(story())
"""
    assert _python(script).returncode == -signal.SIGKILL
    assert [each.eval_id for each in open_rows(path)] == [str(number) for number in range(50)]


def test_a_full_disk_aborts_the_run_and_keeps_its_rows(path: Path) -> None:
    """A write that is cut short leaves a torn line, which readers set aside."""
    script = f"""
import asyncio, resource
from pathlib import Path
from rows import row
from agentv.core.json_text import to_json
from agentv.core.redaction import Redactor
from agentv.errors import RunAborted
from agentv.storage.journal import Journal

room = len(to_json(row("0"))) * 7 // 2
resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

def refused(journal):
    try:
        journal.append(row("late"))
    except RunAborted as error:
        print(error)
    else:
        print("taken")

async def story():
    done = []
    async with Journal(Path({str(path)!r}), Redactor({{}}), done.extend) as journal:
        for number in range(3):
            journal.append(row(str(number)))
        refused(journal)
        refused(journal)

try:
    asyncio.run(story())
except RunAborted as error:
    print(error)
"""
    done = _python(script)
    says = f"{path} cannot be written: File too large. Rows that are already in it are kept."
    assert (done.stdout.splitlines(), done.stderr) == ([says] * 3, "")
    rows = open_rows(path)
    assert [each.eval_id for each in rows] == ["0", "1", "2"]
    assert rows.torn


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_no_row_is_reported_durable_that_was_not_written() -> None:
    done: list[TrialResult] = []

    async def story() -> None:
        async with Journal(Path("/dev/full"), NO_SECRETS, done.extend) as journal:
            journal.append(row("one"))

    with pytest.raises(RunAborted, match="/dev/full cannot be written: No space left on device"):
        asyncio.run(story())
    assert done == []


def test_a_closed_journal_takes_nothing(path: Path) -> None:
    async def story() -> None:
        async with Journal(path, NO_SECRETS, ignore) as journal:
            pass
        journal.append(row("late"))

    with pytest.raises(RunAborted, match="is closed"):
        asyncio.run(story())


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"gone/results.jsonl cannot be written: No such file"):
        write(tmp_path / "gone" / "results.jsonl", [])


def test_secrets_are_not_written(path: Path) -> None:
    write(path, [row("one", answer='key is "hunter2"')], Redactor({"KEY": '"hunter2"'}))
    [back] = open_rows(path, TrialResult)
    assert back.candidate_answer == "key is [redacted KEY]"


def test_half_a_character_does_not_stop_a_run(path: Path) -> None:
    """Programs cut their output anywhere, and file names need not be UTF-8."""
    cut = msgspec.structs.replace(row("one", answer="cut \ud83d"), trace=[{"k\udcff": "\udcff"}])
    write(path, [cut])
    [back] = open_rows(path, TrialResult)
    assert (back.candidate_answer, back.trace) == ("cut ?", [{"k?": "?"}])


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_a_score_that_is_no_number_is_never_written(path: Path, score: float) -> None:
    with pytest.raises(ValueError, match="a score of 'one' is not a finite number"):
        write(path, [row("one", score=score)])
    assert path.read_bytes() == b""


def test_an_interrupted_last_line_is_set_aside(path: Path) -> None:
    write(path, [row("one"), row("two")])
    whole = path.read_bytes()
    second = whole.index(b"\n") + 1
    for end in range(second + 1, len(whole)):
        path.write_bytes(whole[:end])
        rows = open_rows(path)
        assert [each.eval_id for each in rows] == ["one"]
        assert rows.torn
    path.write_bytes(whole)
    rows = open_rows(path)
    assert len(list(rows)) == 2
    assert not rows.torn


@pytest.mark.parametrize("tail", [b"\0\0\0\0", b"\0\0\n", b'{"eval_id": "th\n'])
def test_a_last_line_of_rubble_is_set_aside(path: Path, tail: bytes) -> None:
    """A power cut may leave zeros where a line should be."""
    write(path, [row("one")])
    with path.open("ab") as file:
        file.write(tail)
    rows = open_rows(path)
    assert [each.eval_id for each in rows] == ["one"]
    assert rows.torn


@pytest.mark.parametrize("line", [b'{"eval_id": "th\n', b'{"eval_id": 3}\n', b'"\xff"\n'])
def test_a_broken_line_in_the_middle_is_pointed_at(path: Path, line: bytes) -> None:
    write(path, [row("one")])
    good = path.read_bytes()
    path.write_bytes(good + line + good)
    with pytest.raises(SetupError, match=r"results.jsonl:2: this line is not a result row \("):
        list(open_rows(path))


def test_blank_lines_hold_nothing(path: Path) -> None:
    """An editor may leave some; nothing is lost by them."""
    write(path, [row("one")])
    good = path.read_bytes()
    path.write_bytes(b"\n" + good + b" \r\n\n" + good + b"\n")
    rows = open_rows(path)
    assert [each.eval_id for each in rows] == ["one", "one"]
    assert not rows.torn


def test_a_whole_line_that_is_no_row_is_no_torn_line(path: Path) -> None:
    path.write_bytes(b'{"eval_id": 3}\n')
    with pytest.raises(SetupError, match=r"results.jsonl:1: .*`\$\.eval_id`"):
        list(open_rows(path))


def test_a_journal_that_is_not_there_is_named(path: Path) -> None:
    with pytest.raises(SetupError, match=r"results.jsonl does not exist"):
        list(open_rows(path))


def _python(script: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=env, timeout=60
    )
