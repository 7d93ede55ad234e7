"""Real programs under real bubblewrap: what they can do, and above all what they cannot."""

import asyncio
import shutil
import signal
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_story import Story, needs_bubblewrap, sandbox_setting

from agentv.errors import SetupError
from agentv.model.process import Command
from agentv.providers.sandboxes.choice import sandbox_for
from agentv.transport.process import Processes
from agentv.transport.strays import COOKIE
from processes import LIMIT_SECONDS, alive

pytestmark = needs_bubblewrap


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path)


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A folder of this machine that no rule of ours hides."""
    folder = Path("/var/lib/agentv-test-of-sandboxes")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("needs a folder that an ordinary user may not make: run as root")
    yield folder
    shutil.rmtree(folder)


class Listener:
    """A server that counts who comes, and answers `hello`."""

    def __init__(self, server: socket.socket) -> None:
        self.server = server
        self.visits = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            self.visits += 1
            with client:
                client.sendall(b"hello")


@pytest.fixture
def server() -> Iterator[Listener]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield Listener(listening)
        listening.shutdown(socket.SHUT_RDWR)


CALL = """
import socket, sys
kind, address = (socket.AF_INET, ("127.0.0.1", int(sys.argv[1]))) if sys.argv[1].isdigit() \\
    else (socket.AF_UNIX, sys.argv[1])
with socket.socket(kind) as out:
    out.settimeout(10)
    out.connect(address)
    print(out.recv(100).decode())
"""


def call(story: Story, where: object) -> tuple[str | Path, ...]:
    return (sys.executable, "-I", "-S", "-c", CALL, str(where))


def test_the_workspace_is_the_working_folder_and_may_be_changed(story: Story) -> None:
    room = story.room()
    assert story.sh("pwd -P; echo done > made", room=room) == str(room.workspace)
    assert (room.workspace / "made").read_text() == "done\n"


def test_home_and_temporary_folder_are_the_attempts_own(story: Story) -> None:
    room = story.room()
    (story.home / "notes").write_text("private")
    said = story.sh('echo "$HOME"; ls -A ~; touch ~/a "$TMPDIR/b" /tmp/c; ls /tmp', room=room)
    assert said.splitlines()[0] == str(room.home)
    assert "notes" not in said
    assert sorted(path.name for path in room.home.iterdir()) == ["a"]
    assert {"b", "c"} <= {path.name for path in room.tmp.iterdir()}
    assert not Path("/tmp/c").exists()


def test_nothing_outside_the_workspace_can_be_written(story: Story) -> None:
    """An agent that writes outside its workspace is stopped."""
    other = story.room()
    places = [
        *(Path("/etc"), Path("/usr/local"), Path("/var/lib"), Path("/opt")),
        *(story.home, story.project, other.workspace, Path(__file__).parent),
    ]
    for place in places:
        file = place / "agentv-was-here"
        assert story.refusal(f"echo x > '{file}'"), place
        assert not file.exists()


def test_its_temporary_folder_is_not_this_machines(story: Story) -> None:
    file = story.folder / "agentv-was-here"
    story.sh(f"mkdir -p {file.parent}; echo x > {file}; echo x > /var/tmp/agentv-was-here")
    assert not file.exists()
    assert not Path("/var/tmp/agentv-was-here").exists()


def test_the_rest_of_its_room_can_only_be_read(story: Story) -> None:
    """What this side uses afterwards lies there: a planted link would lead it elsewhere."""
    room = story.room()
    (room.folder / "prompt.md").write_text("Hello")
    assert story.sh(f"cat {room.folder}/prompt.md", room=room) == "Hello"
    assert "Read-only" in story.refusal(f"ln -s /etc {room.folder}/diff", room=room)


def test_secrets_in_the_home_folder_cannot_be_read(story: Story) -> None:
    key = story.home / ".ssh" / "id_rsa"
    key.parent.mkdir()
    key.write_text("a made-up key")
    assert "No such file" in story.refusal(f"cat {key}")
    assert "No such file" in story.refusal(f"ls {Path.home()}/.bashrc {Path.home()}/.profile")


def test_the_project_with_its_expected_answers_cannot_be_read(story: Story) -> None:
    (story.project / "shop.eval.yaml").write_text("expected_messages: [42]")
    assert "No such file" in story.refusal(f"cat {story.project}/shop.eval.yaml")


def test_other_rooms_cannot_be_seen(story: Story) -> None:
    other = story.room()
    (other.workspace / "answer").write_text("42")
    assert "No such file" in story.refusal(f"cat {other.workspace}/answer")


def test_a_server_of_this_machine_is_not_reached(story: Story, server: Listener) -> None:
    """An agent that calls home is stopped."""
    result = story.run(*call(story, server.server.getsockname()[1]))
    assert b"Connection refused" in result.stderr
    assert server.visits == 0


def test_the_outside_is_not_reached(story: Story) -> None:
    text = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=10)"
    result = story.run(sys.executable, "-I", "-S", "-c", text)
    assert b"Network is unreachable" in result.stderr


def test_with_the_network_allowed_it_is_reached(story: Story, server: Listener) -> None:
    port = server.server.getsockname()[1]
    assert story.says(*call(story, port), network=True) == "hello"
    assert server.visits == 1


def test_a_socket_in_a_hidden_folder_is_not_reached(story: Story) -> None:
    """Such as those of container daemons and key agents."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(story.folder / "agent.sock"))
        listening.listen()
        server = Listener(listening)
        result = story.run(*call(story, story.folder / "agent.sock"), network=True)
        assert b"No such file" in result.stderr
        assert server.visits == 0
        listening.shutdown(socket.SHUT_RDWR)


def test_a_socket_in_any_other_folder_is_not_reached(story: Story, elsewhere: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(elsewhere / "daemon.sock"))
        listening.listen()
        server = Listener(listening)
        result = story.run(*call(story, elsewhere / "daemon.sock"), network=True)
        assert b"Connection refused" in result.stderr
        assert server.visits == 0
        listening.shutdown(socket.SHUT_RDWR)


def test_what_this_session_is_found_by_is_not_handed_on(story: Story) -> None:
    async def tell() -> str:
        async with Processes() as processes:
            own = {"SSH_AUTH_SOCK": "/somewhere", "XDG_RUNTIME_DIR": "/run/user/1"}
            build = story.build(processes, own)
            sandbox = sandbox_for("bubblewrap", build)
            await sandbox.prepare()
            env = {**build.env, "XDG_RUNTIME_DIR": "/tmp/chosen", "TOKEN": "made-up"}
            ran = await story.run_in(sandbox, processes, ("/usr/bin/env",), env)
            return ran.stdout.decode()

    lines = asyncio.run(tell()).splitlines()
    assert not any(line.startswith("SSH_AUTH_SOCK") for line in lines)
    assert {"XDG_RUNTIME_DIR=/tmp/chosen", "TOKEN=made-up", "TMPDIR=/tmp"} <= set(lines)


def test_values_of_variables_are_not_in_the_command_line(story: Story) -> None:
    async def look() -> tuple[str, ...]:
        async with Processes() as processes:
            sandbox = sandbox_for("bubblewrap", story.build(processes))
            await sandbox.prepare()
            return sandbox.confine(("/bin/true",), {"TOKEN": "made-up-value"}, story.room()).argv

    assert "made-up-value" not in " ".join(asyncio.run(look()))


def test_other_processes_are_not_seen_and_get_no_signals(story: Story) -> None:
    bystander = subprocess.Popen(["/bin/sleep", "60"], env={"TOKEN": "made-up"})
    try:
        count = story.sh("ls -d /proc/[0-9]* | wc -l")
        assert int(count) < 8
        found = story.sh("cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep TOKEN; true")
        assert found == ""
        assert "No such process" in story.refusal(
            f"/bin/kill -9 {bystander.pid} || kill -9 {bystander.pid}"
        )
        assert bystander.poll() is None
    finally:
        bystander.send_signal(signal.SIGKILL)
        bystander.wait(LIMIT_SECONDS)


def test_a_signal_to_its_own_group_stays_inside(story: Story) -> None:
    """`kill 0` would otherwise end `bwrap` itself, which looks like somebody else's doing."""
    result = story.run("/bin/sh", "-c", "trap 'echo got; exit 7' TERM; kill 0; sleep 5")
    assert (result.exit_code, result.stdout) == (7, b"got\n")


def test_there_is_no_privilege_inside(story: Story) -> None:
    status = dict(
        line.split(":\t") for line in story.sh("grep ^Cap /proc/self/status").splitlines()
    )
    assert {int(value, 16) for value in status.values()} == {0}
    assert story.refusal("umount /etc || umount -l /tmp || mount -o remount,rw /")


def test_settings_of_the_kernel_cannot_be_written(story: Story) -> None:
    """One of them names a program that the machine runs when another one crashes."""
    assert story.refusal("echo '|/tmp/x' > /proc/sys/kernel/core_pattern")
    assert story.refusal("test -w /proc/sys/kernel/core_pattern") == ""


def test_output_and_exit_code_pass_through(story: Story) -> None:
    result = story.run("/bin/sh", "-c", "echo out; echo err >&2; exit 3")
    assert (result.stdout, result.stderr, result.exit_code) == (b"out\n", b"err\n", 3)


def test_a_large_answer_passes(story: Story) -> None:
    result = story.run("/usr/bin/head", "-c", "20000000", "/dev/zero")
    assert len(result.stdout) == 20_000_000
    assert not result.truncated


STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve("/bin/sleep", [sys.argv[1], "61.5"], {})
    os._exit(0)
print("ready", flush=True)
time.sleep(60)
"""
"""Ignores SIGTERM and leaves a process in a session of its own, its environment cleared."""


@pytest.mark.parametrize("limit", [1.5, None], ids=["its time is up", "it ends by itself"])
def test_nothing_is_left_of_a_tree(story: Story, limit: float | None) -> None:
    """Not even a process that has neither the group nor the environment by which we find strays."""
    text = STUBBORN if limit else STUBBORN.replace("time.sleep(60)", "time.sleep(0.1)")
    mark = f"agentv-test-{uuid.uuid4().hex}"
    result = story.run(sys.executable, "-I", "-S", "-c", text, mark, timeout_seconds=limit)
    assert result.stdout == b"ready\n"
    assert result.timed_out is (limit is not None)
    assert alive(mark) == []


def test_processes_inside_carry_the_cookie(story: Story) -> None:
    assert story.sh(f"printenv {COOKIE}")


def test_readable_and_writable_places_are_added(story: Story) -> None:
    (story.project / "data").mkdir()
    (story.project / "data" / "a.txt").write_text("data")
    (story.home / "cache").mkdir()
    shown = story.sh(
        f"cat {story.project}/data/a.txt; echo x > {story.home}/cache/made; "
        f"echo y > {story.project}/data/b.txt || echo refused",
        readable=["data"],
        writable=[str(story.home / "cache")],
    )
    assert shown == "datarefused"
    assert (story.home / "cache" / "made").read_text() == "x\n"
    assert not (story.project / "data" / "b.txt").exists()


def test_a_place_within_another_has_its_own_rule(story: Story) -> None:
    for name in ("evals", "evals/public", "out"):
        (story.project / name).mkdir()
    (story.project / "evals" / "key").write_text("42")
    said = story.sh(
        f"cd {story.project}; ls; ls evals; touch out/made evals/public/x",
        readable=["."],
        hidden=["evals"],
        writable=["out", "evals/public"],
    )
    assert said.split() == ["evals", "out", "public"]
    assert (story.project / "out" / "made").exists()


def test_a_named_place_that_is_not_there_is_said(story: Story) -> None:
    with pytest.raises(SetupError) as caught:
        story.sh("true", readable=["gone"])
    assert str(caught.value) == (
        f"The sandbox has 'gone' under `readable`, but '{story.project}/gone' does not exist; "
        "make it, or take it out."
    )


def test_a_program_in_the_home_folder_is_found_with_all_it_needs(story: Story) -> None:
    """As npm and version managers install it: links, a script, an interpreter, its modules."""
    prefix = story.home / ".tools" / "v1"
    story.program('exec /bin/sh "$@"', "home/.tools/v1/bin/interp")
    package = prefix / "lib" / "node_modules" / "pack"
    story.program(
        '. "$(dirname "$(readlink -f "$0")")/../lib.sh"; helped',
        str((package / "bin" / "cli").relative_to(story.folder)),
        "/usr/bin/env -S interp",
    )
    (package / "lib.sh").write_text("helped() { echo helped; }\n")
    (prefix / "bin" / "tool").symlink_to("../lib/node_modules/pack/bin/cli")
    local = story.home / ".local" / "bin"
    local.mkdir(parents=True)
    (local / "tool").symlink_to(prefix / "bin" / "tool")
    (story.home / ".local" / "share").mkdir()
    (story.home / ".local" / "share" / "keyring").write_text("private")
    path = f"{prefix}/bin:/usr/bin:/bin"
    assert story.says(local / "tool", env={"PATH": path}) == "helped"
    hidden = story.program("ls -A ~/.. ; ls -A " + str(story.home), "home/.local/bin/look")
    assert ".tools" not in story.says(hidden)
    spy = story.program(f"cat {story.home}/.local/share/keyring", "home/.local/bin/spy")
    assert b"No such file" in story.run(spy).stderr


def test_a_program_of_a_virtual_environment_runs(story: Story) -> None:
    program = story.program("import sys; print(sys.prefix)", language=sys.executable)
    assert story.says(program) == sys.prefix


def test_a_missing_bubblewrap_is_said_with_how_to_get_it(story: Story) -> None:
    async def prepare() -> None:
        async with Processes() as processes:
            build = story.build(processes, {"PATH": "/nowhere"})
            await sandbox_for("bubblewrap", build).prepare()

    with pytest.raises(SetupError, match="apt install bubblewrap") as caught:
        asyncio.run(prepare())
    assert "is not on PATH" in str(caught.value)


def test_forbidden_namespaces_are_said_with_the_reason(story: Story) -> None:
    story.program("echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1", "tools/bwrap")

    async def prepare() -> None:
        async with Processes() as processes:
            build = story.build(processes, {"PATH": f"{story.folder}/tools:/usr/bin:/bin"})
            await sandbox_for(sandbox_setting(), build).prepare()

    with pytest.raises(SetupError) as caught:
        asyncio.run(prepare())
    assert "cannot make a sandbox here: bwrap: setting up uid map: Permission den" in str(
        caught.value
    )
    assert "docs/sandboxes.md" in str(caught.value)


def test_many_sandboxes_at_once_do_not_meet(story: Story) -> None:
    async def all_of_them() -> list[bytes]:
        async with Processes() as processes:
            build = story.build(processes)
            sandbox = sandbox_for("bubblewrap", build)
            await sandbox.prepare()
            argv = ("/bin/sh", "-c", "touch ~/x /tmp/y z; ls ~ /tmp . | wc -l")
            ran = await asyncio.gather(
                *(story.run_in(sandbox, processes, argv, build.env) for _ in range(8))
            )
            return [one.stdout for one in ran]

    assert len(set(asyncio.run(all_of_them()))) == 1


def test_without_a_sandbox_a_command_stays_as_it_is(story: Story) -> None:
    async def plain() -> bytes:
        async with Processes() as processes:
            build = story.build(processes)
            sandbox = sandbox_for(None, build)
            await sandbox.prepare()
            confined = sandbox.confine(("/bin/echo", "a"), {"A": "b"}, story.room())
            assert confined.cleanup is None
            return (await processes.run(Command(run=confined.argv, env=confined.env))).stdout

    assert asyncio.run(plain()) == b"a\n"
