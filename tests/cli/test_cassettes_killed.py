"""A recording that is killed leaves whole exchanges, and can be gone on with."""

import json
import os
import signal
import subprocess
import sys

from agentv.errors import ExitCode
from agentv.testing import Project
from story import case, command, contains, suite, targets


def test_killed_while_it_records(project: Project) -> None:
    cases = [
        case(f"c-{n}", contains("said"), question=f"said {n} {'x' * 20_000}") for n in range(60)
    ]
    project.write({"a.eval.yaml": suite(*cases), "targets.yaml": targets(command("echo {PROMPT}"))})
    arguments = ["eval", "a.eval.yaml", "--record", "tape", "--out", "run", "--workers", "8"]
    recording = subprocess.Popen(
        [sys.executable, "-m", "agentv", *arguments],
        cwd=project.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    assert recording.stderr is not None
    assert next(line for line in recording.stderr if "[5/60]" in line)
    os.killpg(recording.pid, signal.SIGKILL)
    recording.communicate()
    files = [*(project.folder / "tape").glob("*/*/*.json")]
    assert 5 <= len(files) < 60
    for path in files:
        assert json.loads(path.read_bytes())["reply"]["came"] == "result"

    assert project.run(*arguments, "--resume").code == ExitCode.OK
    replayed = project.run("eval", "a.eval.yaml", "--replay", "tape")
    assert replayed.code == ExitCode.OK, replayed.out
    assert len(project.rows()) == 60
