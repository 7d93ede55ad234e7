"""Ctrl-C, twice; SIGTERM: the prompt is back at once, finished rows are kept, nothing lives on."""

import json
import os
import signal
import time
import uuid
from pathlib import Path

import psutil
import pytest

from agentv.errors import ExitCode
from agentv.testing import Project
from processes import LIMIT_SECONDS, alive
from story import PYTHON, case, command, contains, suite, targets
from terminal import Terminal, in_pipes, on_terminal, started

AGENT = """\
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
id, folder = sys.argv[1], sys.argv[2]
if id.startswith("quick"):
    print("done")
    sys.exit()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open(os.path.join(folder, id), "w").close()
        time.sleep(120)
    os._exit(0)
time.sleep(120)
"""
"""Answers at once, or ignores every polite signal and leaves a grandchild in its own session."""

PROMPT_SECONDS = 5
"""Generous; a person waits half a second or so."""


def stuck(project: Project) -> tuple[Project, str]:
    """A suite that does two cases and hangs in three, and the mark of its processes."""
    mark = f"agentv-test-{uuid.uuid4().hex}"
    project.write(
        {
            "a.eval.yaml": suite(
                *(case(id_, contains("done")) for id_ in ("quick1", "quick2", "h1", "h2", "h3"))
            ),
            "targets.yaml": targets(command(f"{PYTHON} agent.py {{EVAL_ID}} hung {mark}")),
            "agent.py": AGENT,
            "hung/.keep": "",
        }
    )
    return project, mark


def wait_until_stuck(terminal: Terminal, folder: Path) -> None:
    """All three grandchildren are there, and both finished rows have been told."""
    for id_ in ("quick1", "quick2"):
        terminal.wait_for(f"✓ {id_} (default)")
    deadline = time.monotonic() + LIMIT_SECONDS
    while len(list((folder / "hung").glob("h*"))) < 3:
        assert time.monotonic() < deadline, terminal.seen
        time.sleep(0.005)


def ids(folder: Path) -> set[str]:
    """The cases that have a row; every line of the journal is whole."""
    [journal] = folder.glob(".agentv/results/*/results.jsonl")
    text = journal.read_text()
    assert text == "" or text.endswith("\n")
    return {json.loads(line)["eval_id"] for line in text.splitlines()}


@pytest.mark.parametrize("how", ["Ctrl-C", "SIGTERM"])
def test_the_first_ends_the_run_cleanly(project: Project, how: str) -> None:
    project, mark = stuck(project)
    with on_terminal(project.folder, "eval", "a.eval.yaml", "--workers", "3") as terminal:
        wait_until_stuck(terminal, project.folder)
        began = time.monotonic()
        if how == "Ctrl-C":
            terminal.type("\x03")
        else:
            terminal.signal(signal.SIGTERM)
        code = terminal.end()
        took = time.monotonic() - began

    assert code == ExitCode.INTERRUPTED
    assert took < PROMPT_SECONDS
    assert alive(mark) == []
    assert ids(project.folder) == {"quick1", "quick2"}
    assert "Stopping; finished rows are kept." in terminal.seen
    assert "Interrupted with rows for 2 of 5 trials (exit 130)" in terminal.text
    assert "3 missing" in terminal.text
    assert terminal.seen.rindex("\x1b[?25h") > terminal.seen.rindex("\x1b[?25l")
    assert "Traceback" not in terminal.seen


def test_the_second_ends_it_at_once(project: Project) -> None:
    """The cursor is given back, and there is no time for a summary."""
    project, mark = stuck(project)
    with on_terminal(project.folder, "eval", "a.eval.yaml", "--workers", "3") as terminal:
        wait_until_stuck(terminal, project.folder)
        began = time.monotonic()
        terminal.type("\x03")
        terminal.wait_for("Once more to stop at once.")
        terminal.type("\x03")
        code = terminal.end()
        took = time.monotonic() - began

    assert code == ExitCode.INTERRUPTED
    assert took < PROMPT_SECONDS
    assert alive(mark) == []
    assert ids(project.folder) == {"quick1", "quick2"}
    assert terminal.seen.rindex("\x1b[?25h") > terminal.seen.rindex("\x1b[?25l")
    assert "Traceback" not in terminal.seen


def test_json_of_an_interrupted_run_is_still_one_document(project: Project) -> None:
    project, mark = stuck(project)
    with started(project.folder, "eval", "a.eval.yaml", "--json") as process:
        assert process.stderr is not None
        while "[2/5]" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=LIMIT_SECONDS)

    found = json.loads(out)
    assert process.returncode == found["exit_code"] == ExitCode.INTERRUPTED
    assert (found["counts"]["recorded"], found["counts"]["missing"]) == (2, 3)
    assert alive(mark) == []


def test_a_run_that_was_killed_shows_what_it_has(project: Project) -> None:
    """`kill -9` takes no finished row; what is missing is said, and is not green."""
    project, mark = stuck(project)
    with started(project.folder, "eval", "a.eval.yaml") as process:
        assert process.stderr is not None
        while "[2/5]" not in process.stderr.readline():
            assert process.poll() is None
        try:
            process.kill()
            process.wait(LIMIT_SECONDS)
            outcome = project.run("show")
        finally:
            for pid in alive(mark):
                psutil.Process(pid).kill()

    assert ids(project.folder) == {"quick1", "quick2"}
    assert outcome.code == ExitCode.ERRORS
    assert "The run is incomplete: rows for 3 of 5 trials are missing" in outcome.out


def test_a_terminal_that_is_closed_ends_the_run_cleanly(project: Project) -> None:
    """Agents lead sessions of their own: they would go on, and cost, with nobody to listen."""
    project, mark = stuck(project)
    with on_terminal(project.folder, "eval", "a.eval.yaml", "--workers", "3") as terminal:
        wait_until_stuck(terminal, project.folder)
        terminal.hang_up()
        code = terminal.process.wait(LIMIT_SECONDS)

    assert code == ExitCode.INTERRUPTED
    assert alive(mark) == []
    assert ids(project.folder) == {"quick1", "quick2"}
    [run] = project.folder.glob(".agentv/results/*")
    assert sorted(path.name for path in run.iterdir()) == [
        "results.jsonl",
        "run.json",
        "steps.jsonl",
    ]


def test_hanging_up_is_nothing_to_a_run_that_was_started_with_nohup(project: Project) -> None:
    project.write(
        {
            "a.eval.yaml": suite(case("one", contains("done"))),
            "targets.yaml": targets(command("kill -HUP $PPID; echo done")),
        }
    )
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        outcome = in_pipes(project.folder, "eval", "a.eval.yaml")
    finally:
        signal.signal(signal.SIGHUP, before)
    assert outcome.code == ExitCode.OK
    assert in_pipes(project.folder, "eval", "a.eval.yaml").code == ExitCode.INTERRUPTED


def test_interrupted_before_there_is_a_run(project: Project) -> None:
    """While files are still being read."""
    pipe = project.folder / "a.eval.yaml"
    os.mkfifo(pipe)
    command_line = ("eval", "a.eval.yaml", "--json")
    with started(project.folder, *command_line) as process:
        with pipe.open("w"):  # once the other side reads
            process.send_signal(signal.SIGINT)
        # It is closed by now: a read that begins just after the signal would not be disturbed.
        out, said = process.communicate(timeout=LIMIT_SECONDS)

    assert process.returncode == ExitCode.INTERRUPTED
    assert json.loads(out)["exit_code"] == ExitCode.INTERRUPTED
    assert "Traceback" not in said
