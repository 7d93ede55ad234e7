"""A program that stands in for VS Code's `code`: windows, a chat, an agent that keeps the protocol.

Run as a program it takes its state from the folder that it is given; everything it knows how to do
wrong is a knob in `knobs.json` there. Nothing of ours is imported, so it starts quickly.
"""

import itertools
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple


class Write(NamedTuple):
    """What an agent does to a file, some time later."""

    after: float
    path: Path
    text: str
    appends: bool = False

    def do(self) -> None:
        with self.path.open("a" if self.appends else "w") as file:
            file.write(self.text)


class Reply(NamedTuple):
    """What a call says at once, and what comes of it."""

    exit_code: int = 0
    stdout: str = ""
    stderr: str = ""
    writes: tuple[Write, ...] = ()


class StandIn:
    """One VS Code with its windows; its state is in a folder, since each call is a new process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._windows = folder / "windows"
        self._active = folder / "active"
        self._calls = folder / "calls.jsonl"

    def knobs(self) -> dict[str, Any]:
        path = self.folder / "knobs.json"
        found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        return found

    def calls(self) -> list[list[str]]:
        """Every call so far, without `--status`."""
        lines = self._calls.read_text().splitlines() if self._calls.exists() else []
        calls = [json.loads(line) for line in lines]
        return [call for call in calls if call != ["--status"]]

    def call(self, arguments: list[str]) -> Reply:
        with self._calls.open("a") as file:
            file.write(json.dumps(arguments) + "\n")
        knobs = self.knobs()
        if arguments == ["--status"]:
            if knobs.get("no_status"):
                return Reply(exit_code=1, stderr="not running\n")
            return Reply(stdout="Version: Code 1.0\n" + self._status())
        if knobs.get("crash"):
            return Reply(exit_code=9, stderr="the window could not be opened\n")
        if len(arguments) == 1 and arguments[0].endswith(".code-workspace"):
            json.loads(Path(arguments[0]).read_text())  # a real one would complain
            with self._windows.open("a") as file:
                file.write(f"{arguments[0]}\n")
            self._active.write_text(arguments[0])
            return Reply()
        if arguments[:3] == ["-r", "chat", "-m"]:
            files = [b for a, b in itertools.pairwise(arguments) if a == "-a"]
            return Reply(writes=tuple(self._chat(arguments[3], files, knobs)))
        return Reply(exit_code=2, stderr=f"not understood: {arguments}\n")

    def _status(self) -> str:
        opened = self._windows.read_text().split() if self._windows.exists() else []
        names = dict.fromkeys(Path(path).stem for path in opened)
        return "".join(f"|  Window (Welcome - {name} (Workspace))\n" for name in names)

    def _chat(self, mode: str, files: list[str], knobs: dict[str, Any]) -> Iterator[Write]:
        window = Path(self._active.read_text()).parent
        if mode == "wakeup":
            if not knobs.get("never_wakes"):
                yield Write(knobs.get("wakes_after", 0), window / ".alive", "")
            return
        message = Path(files[0])
        # A chat lands in the active window, and its agent answers only for that one.
        if message.parent.parent != window:
            (self.folder / "crossed").write_text(f"{message} in {window}")
            return
        text = message.read_text()
        if message.name.endswith("_orchestrator.md"):
            listed = re.findall(r"^\d+\. (\S+_req\.md)", text, re.MULTILINE)
            for number, request in enumerate(listed):
                if number not in knobs.get("missing", ()):
                    yield from self._answer(Path(request).read_text(), knobs, number + 1)
        elif not knobs.get("never_answers"):
            yield from self._answer(text, knobs, 1)

    def _answer(self, text: str, knobs: dict[str, Any], place: int) -> Iterator[Write]:
        found = re.search(r"^   (\S+_res\.md)$", text, re.MULTILINE)
        assert found is not None, text
        query = text.partition("[[ ## user_query ## ]]")[2].partition("[[ ## system_ins")[0]
        answer = knobs.get("answer", f"You asked: {query.strip()}")
        after, half = knobs.get("delay", 0) * place, knobs.get("half")
        if half is None:
            yield Write(after, Path(found[1]), answer)
        else:
            middle = len(answer) // 2
            yield Write(after, Path(found[1]), answer[:middle])
            yield Write(after + half, Path(found[1]), answer[middle:], appends=True)


def main() -> int:
    editor = StandIn(Path(sys.argv[1]))
    knobs = editor.knobs()
    if knobs.get("hangs"):
        time.sleep(60)
    if knobs.get("opens_a_process") and sys.argv[2].endswith(".code-workspace"):
        _open_process(editor.folder)
    reply = editor.call(sys.argv[2:])
    sys.stdout.write(reply.stdout)
    sys.stderr.write(reply.stderr)
    sys.stdout.flush()
    if reply.writes and os.fork() == 0:
        _become_agent(reply.writes)
    return reply.exit_code


def _open_process(folder: Path) -> None:
    """The editor itself, which lives on: in its own session and deaf, as VS Code's is."""
    import subprocess

    process = subprocess.Popen(
        ["/bin/sleep", "60"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    (folder / "editor.pid").write_text(str(process.pid))


def _become_agent(writes: tuple[Write, ...]) -> None:
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(nowhere, fd)
    began = time.monotonic()
    for write in sorted(writes, key=lambda one: one.after):
        time.sleep(max(0.0, began + write.after - time.monotonic()))
        write.do()
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
