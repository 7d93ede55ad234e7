"""Commands run to their end, and nothing that they started outlives them."""

import asyncio
import os
import signal
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agentv.errors import SetupError
from agentv.model.process import Command, CommandResult
from agentv.protocols import ProcessRunner
from agentv.transport.child import watch_exit_by_thread
from agentv.transport.process import Processes
from agentv.transport.spawn import LONGEST_SHELL_TEXT
from agentv.transport.strays import COOKIE
from processes import LIMIT_SECONDS

PROMPT_SECONDS = 5
"""Generous: it takes a few tenths of a second, and whoever is not ended stays a minute."""

STUBBORN = """
import os, signal, sys, time
def tell(pid):
    with open(sys.argv[1], "a") as file:
        file.write(f"{pid}\\n")
signal.signal(signal.SIGTERM, signal.SIG_IGN)
tell(os.getpid())
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        if len(sys.argv) > 2:
            import subprocess
            subprocess.Popen(["/bin/sleep", "60"], env={}, start_new_session=True)
        tell(os.getpid())
        print("ready", flush=True)
        time.sleep(60)
    os._exit(0)
time.sleep(60)
"""
"""Ignores SIGTERM, forks twice and calls `setsid`; writes the process ids to a file."""


def run(command: Command) -> CommandResult:
    async def one() -> CommandResult:
        async with Processes() as processes:
            return await processes.run(command)

    return asyncio.run(one())


def is_alive(pid: int) -> bool:
    """Whether a process still runs; one that only waits to be reaped does not."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in {"Z", "X"}


def pids_in(file: Path) -> list[int]:
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_SECONDS):
        while not condition():  # noqa: ASYNC110 - other processes write, there is no event
            await asyncio.sleep(0.005)


def stubborn(file: Path, *more: str, timeout_seconds: float | None = None) -> Command:
    run = (sys.executable, "-S", "-E", "-c", STUBBORN, str(file), *more)
    return Command(run=run, timeout_seconds=timeout_seconds)


def test_a_result_holds_both_streams_and_the_exit_code() -> None:
    result = run(Command(run="echo out; echo err >&2; exit 3"))
    assert (result.stdout, result.stderr, result.exit_code) == (b"out\n", b"err\n", 3)
    assert not result.timed_out
    assert not result.truncated
    assert result.duration_ms > 0


def test_a_tuple_runs_without_a_shell() -> None:
    assert run(Command(run=("/bin/echo", "$HOME;", "ä"))).stdout == "$HOME; ä\n".encode()


def test_a_signal_is_a_negative_exit_code() -> None:
    assert run(Command(run="kill -KILL $$")).exit_code == -9


def test_input_arrives_whole_and_ends() -> None:
    data = os.urandom(1_000_000)
    assert run(Command(run="cat", stdin=data)).stdout == data


@pytest.mark.parametrize("command", ["true", "exec 0<&-; echo done", "head -c 1 >/dev/null"])
def test_input_that_nobody_reads_is_no_error(command: str) -> None:
    assert run(Command(run=command, stdin=b"x" * 1_000_000)).exit_code == 0


def test_a_command_without_input_reads_an_empty_one() -> None:
    assert run(Command(run="cat; echo end")).stdout == b"end\n"


def test_large_streams_are_read_to_the_end_and_cut() -> None:
    script = "head -c 40000000 /dev/zero; (head -c 3000000 /dev/zero; echo last) >&2"
    result = run(Command(run=script))
    assert result.exit_code == 0
    assert result.truncated
    assert len(result.stdout) == 32 * 1024 * 1024
    assert len(result.stderr) < 1_100_000
    assert result.stderr.endswith(b"last\n")


def test_the_environment_is_the_one_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEEN", "own")
    assert run(Command(run="echo $SEEN")).stdout == b"own\n"
    given = Command(run="echo $SEEN$OTHER", env={"OTHER": "given"})
    assert run(given).stdout == b"given\n"


def test_the_working_folder_is_the_one_given(tmp_path: Path) -> None:
    assert run(Command(run="pwd -P", cwd=tmp_path)).stdout.decode().strip() == str(
        tmp_path.resolve()
    )


@pytest.mark.parametrize("length", [LONGEST_SHELL_TEXT - 5, LONGEST_SHELL_TEXT, 131_072, 400_000])
def test_shell_text_of_any_length_runs(length: int) -> None:
    """Longer ones than Linux takes as one argument go through a script."""
    result = run(Command(run=f"echo {'x' * length}"))
    assert result.stdout == b"x" * length + b"\n"


def test_the_script_of_a_long_command_is_private_and_removed() -> None:
    long = "#" * LONGEST_SHELL_TEXT
    shown = run(Command(run=f'echo "$0"; ls -l "$0"; exit 0; {long}')).stdout.decode().split()
    assert shown[1].startswith("-rw-------")
    assert not Path(shown[0]).exists()


def _not_executable(folder: Path) -> Command:
    file = folder / "tool"
    file.write_text("#!/bin/sh\n")
    return Command(run=(str(file),))


def _without_interpreter(folder: Path) -> Command:
    file = folder / "tool"
    file.write_bytes(b"\x01\x02")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return Command(run=(str(file),))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: Command(run=("no-such-tool", "x")), "The program 'no-such-tool' was not f"),
        (lambda folder: Command(run="true", cwd=folder / "gone"), "gone' cannot be entered: No su"),
        (_not_executable, "tool' cannot be started: it may not be executed (`chmod +x`"),
        (_without_interpreter, "it is neither a program nor a script that begins with `#!`"),
        (
            lambda folder: Command(run=("echo", "x" * 200_000)),
            "Linux takes 128 KB for one argument",
        ),
        (lambda folder: Command(run="echo \0"), "holds a NUL character"),
        (lambda folder: Command(run="echo \0" + "x" * 200_000), "holds a NUL character"),
        (lambda folder: Command(run="echo \ud83d"), "holds half a character ('\\ud83d')"),
        (lambda folder: Command(run="true", env={"A": "\0"}), "its environment is not valid"),
    ],
    ids=[
        *("missing program", "missing folder", "not executable", "no interpreter", "too long"),
        *("nul", "nul in a script", "lone surrogate", "nul in the environment"),
    ],
)
def test_a_command_that_cannot_start_says_why(
    tmp_path: Path, make: Callable[[Path], Command], words: str
) -> None:
    with pytest.raises(SetupError) as caught:
        run(make(tmp_path))
    assert words in str(caught.value)


def test_a_background_child_is_ended_with_its_command() -> None:
    """One that keeps the output open neither delays the result nor survives it."""
    began = time.monotonic()
    result = run(Command(run="sleep 60 & echo $!"))
    assert time.monotonic() - began < PROMPT_SECONDS
    assert result.exit_code == 0
    assert not is_alive(int(result.stdout))


def test_a_background_child_that_closed_its_output_is_ended_too() -> None:
    result = run(Command(run="sleep 60 >/dev/null 2>&1 & echo $!"))
    assert not is_alive(int(result.stdout))


def test_a_command_may_leave_children() -> None:
    """An editor's window outlives its command and the run, and does not carry the run's cookie."""
    script = f'(sleep 60 >/dev/null 2>&1 &\necho $!); echo "cookie ${COOKIE}"'

    async def story() -> CommandResult:
        async with Processes() as processes:
            return await processes.run(Command(run=script, leaves_children=True))

    result = asyncio.run(story())
    pid, said = result.stdout.decode().splitlines()
    try:
        assert is_alive(int(pid))
        assert said == "cookie "
    finally:
        os.kill(int(pid), signal.SIGKILL)


def test_a_command_that_leaves_children_is_itself_ended_by_its_limit() -> None:
    command = Command(run="echo $$; sleep 60", leaves_children=True, timeout_seconds=0.5)
    result = run(command)
    assert result.timed_out
    assert not is_alive(int(result.stdout))


def test_output_that_comes_a_moment_after_the_end_is_kept() -> None:
    assert run(Command(run="(sleep 0.02; echo late) & echo soon")).stdout == b"soon\nlate\n"


def test_a_time_limit_lets_a_command_say_goodbye() -> None:
    """The group is asked to end first; what it then says is kept, and it is still a time-out."""
    result = run(
        Command(run="trap 'echo bye; exit 0' TERM; echo hi; sleep 60", timeout_seconds=0.5)
    )
    assert result.timed_out
    assert result.exit_code is None
    assert result.stdout == b"hi\nbye\n"


def test_a_time_limit_ends_the_whole_tree(tmp_path: Path) -> None:
    """A child that ignores SIGTERM, forks twice and calls `setsid` is gone."""
    file = tmp_path / "pids"

    async def story() -> CommandResult:
        async with Processes() as processes:
            result = await processes.run(stubborn(file, timeout_seconds=0.7))
            assert not any(map(is_alive, pids_in(file)))
            return result

    result = asyncio.run(story())
    assert result.timed_out
    assert result.stdout == b"ready\n"
    assert len(pids_in(file)) == 2
    assert result.duration_ms < 1000 * PROMPT_SECONDS


def test_cancelling_ends_the_whole_tree(tmp_path: Path) -> None:
    file = tmp_path / "pids"

    async def story() -> float:
        async with Processes() as processes:
            task = asyncio.ensure_future(processes.run(stubborn(file)))
            await until(lambda: len(pids_in(file)) == 2)
            began = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not any(map(is_alive, pids_in(file)))
            return time.monotonic() - began

    assert asyncio.run(story()) < PROMPT_SECONDS


def test_cancelling_twice_still_ends_the_tree(tmp_path: Path) -> None:
    file = tmp_path / "pids"

    async def story() -> None:
        async with Processes() as processes:
            task = asyncio.ensure_future(processes.run(stubborn(file)))
            await until(lambda: len(pids_in(file)) == 2)
            task.cancel()
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not any(map(is_alive, pids_in(file)))

    asyncio.run(story())


def test_descendants_without_the_cookie_are_ended_with_their_parent(tmp_path: Path) -> None:
    file = tmp_path / "pids"

    async def story() -> None:
        async with Processes() as processes:
            task = asyncio.ensure_future(processes.run(stubborn(file, "wiped")))
            await until(lambda: len(pids_in(file)) == 2)
            wiped = children_of(pids_in(file)[1])
            assert len(wiped) == 1
            task.cancel()
            await asyncio.wait([task])
            assert not is_alive(wiped[0])

    asyncio.run(story())


def test_leaving_the_context_ends_daemons_of_commands_that_succeeded() -> None:
    daemon = "setsid sh -c 'exec sleep 60' >/dev/null 2>&1 </dev/null & echo $!; sleep 0.05"
    result = run(Command(run=daemon))
    assert result.exit_code == 0
    assert not is_alive(int(result.stdout))


def test_leaving_the_context_ends_commands_that_nobody_awaits(tmp_path: Path) -> None:
    file = tmp_path / "pids"

    async def story() -> CommandResult:
        async with Processes() as processes:
            task = asyncio.ensure_future(processes.run(stubborn(file)))
            await until(lambda: len(pids_in(file)) == 2)
        assert not any(map(is_alive, pids_in(file)))
        return await task

    assert asyncio.run(story()).exit_code == -9


def test_kill_all_ends_everything_at_once_and_for_good(tmp_path: Path) -> None:
    file = tmp_path / "pids"

    async def story() -> None:
        async with Processes() as processes:
            task = asyncio.ensure_future(processes.run(stubborn(file)))
            await until(lambda: len(pids_in(file)) == 2)
            processes.kill_all()
            assert not any(map(is_alive, pids_in(file)))
            assert (await task).exit_code == -9
            with pytest.raises(SetupError, match="the run is ending"):
                await processes.run(Command(run="true"))

    asyncio.run(story())


def test_the_cookie_of_an_outer_run_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the outer run finds what an inner one started."""
    monkeypatch.setenv(COOKIE, "outer.7")
    value = run(Command(run=f"printenv {COOKIE}")).stdout.decode().strip()
    assert value.startswith("outer.7:")
    assert value.endswith(".1")
    assert run(Command(run=f"printenv {COOKIE}", env={COOKIE: "given.1"})).stdout.startswith(
        b"given.1:"
    )


def test_an_outer_run_ends_what_an_inner_one_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pids"

    async def story() -> None:
        async with Processes() as outer, Processes() as inner:
            seen = (await outer.run(Command(run=f"printenv {COOKIE}"))).stdout.decode().strip()
            monkeypatch.setenv(COOKIE, seen)
            task = asyncio.ensure_future(inner.run(stubborn(file)))
            await until(lambda: len(pids_in(file)) == 2)
            outer.kill_all()
            assert not any(map(is_alive, pids_in(file)))
            await task

    asyncio.run(story())


def test_other_commands_are_left_alone(tmp_path: Path) -> None:
    """Ending one command touches no other, neither of the same run nor of another."""

    async def story() -> None:
        async with Processes() as ours, Processes() as theirs:
            gates = [tmp_path / "ours", tmp_path / "theirs"]
            others = []
            for processes, gate in zip((ours, theirs), gates, strict=True):
                os.mkfifo(gate)
                command = Command(run=f"read word <'{gate}'; echo $word")
                others.append(asyncio.ensure_future(processes.run(command)))
            limited = await ours.run(Command(run="sleep 60", timeout_seconds=0.05))
            assert limited.timed_out
            for gate, other in zip(gates, others, strict=True):
                pipe = os.open(gate, os.O_RDWR)  # which does not wait for who reads
                os.write(pipe, b"alive\n")
                assert (await other).stdout == b"alive\n"
                os.close(pipe)

    asyncio.run(story())


def test_many_commands_at_once() -> None:
    async def story() -> list[bytes]:
        processes: ProcessRunner
        async with Processes() as processes:
            results = await asyncio.gather(
                *(processes.run(Command(run=f"echo {number}")) for number in range(60))
            )
            return [result.stdout for result in results]

    assert asyncio.run(story()) == [f"{number}\n".encode() for number in range(60)]


def test_the_end_of_a_process_is_seen_without_a_process_descriptor() -> None:
    """Where the system has none, a thread waits; the process is left to be reaped."""
    pid = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 5"], {})

    async def story() -> None:
        ended = asyncio.Event()
        watch_exit_by_thread(pid, asyncio.get_running_loop(), ended.set)
        await asyncio.wait_for(ended.wait(), LIMIT_SECONDS)

    asyncio.run(story())
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5


def test_no_descriptor_and_no_child_is_left() -> None:
    children = children_of(os.getpid())
    before = set(os.listdir("/proc/self/fd"))
    run(Command(run="echo a; cat", stdin=b"x"))
    run(Command(run="sleep 60", timeout_seconds=0.01))
    assert set(os.listdir("/proc/self/fd")) == before
    assert children_of(os.getpid()) == children
