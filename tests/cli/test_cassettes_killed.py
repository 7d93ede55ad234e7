"""A recording that is killed leaves whole exchanges, and can be gone on with."""

import json
import os
import signal
import subprocess
import sys
from typing import Any

from agentv.errors import ExitCode
from agentv.testing import Project
from processes import ending
from story import case, command, contains, suite, targets

NUMBER = "od -An -N1 -tu1 /dev/urandom | tr -d ' '"
VERDICT = '{"score": 0.%s, "hits": ["%s"]}'


def kill(project: Project, *arguments: str, after: str) -> None:
    """Run it until it says something, then kill it."""
    recording = subprocess.Popen(
        [sys.executable, "-m", "agentv", *arguments],
        cwd=project.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    assert recording.stderr is not None
    with ending(recording):
        assert next(line for line in recording.stderr if after in line)
        os.killpg(recording.pid, signal.SIGKILL)


def results(project: Project, run: str) -> dict[tuple[str, str], Any]:
    keys = ("verdict", "score", "candidate_answer", "hits", "attempts")
    rows = project.rows(run)
    found = {(row["eval_id"], row["target"]): [row[key] for key in keys] for row in rows}
    assert len(found) == len(rows)
    return found


def test_killed_while_it_records(project: Project) -> None:
    cases = [
        case(f"c-{n}", contains("said"), question=f"said {n} {'x' * 20_000}") for n in range(60)
    ]
    project.write({"a.eval.yaml": suite(*cases), "targets.yaml": targets(command("echo {PROMPT}"))})
    arguments = ["eval", "a.eval.yaml", "--record", "tape", "--out", "run", "--workers", "8"]
    kill(project, *arguments, after="[5/60]")
    files = [*(project.folder / "tape").glob("*/*/*.json")]
    assert 5 <= len(files) < 60
    for path in files:
        assert json.loads(path.read_bytes())["reply"]["came"] == "result"

    assert project.run(*arguments, "--resume").code == ExitCode.OK
    replayed = project.run("eval", "a.eval.yaml", "--replay", "tape")
    assert replayed.code == ExitCode.OK, replayed.out
    assert len(project.rows()) == 60


def test_what_is_asked_again_takes_the_place_of_what_was_lost(project: Project) -> None:
    """Nobody ever says the same twice, so the replay tells whose answers it has: those of the rows,
    and none that a kill took away. Judges answer for two targets, twice each.
    """

    def judged_by(name: str) -> dict[str, Any]:
        prompt = f"{name}: {{{{candidate_answer}}}}"
        return {"type": "llm_judge", "name": name, "prompt": prompt, "target": "judge"}

    candidate = f"sleep 0.0$({NUMBER}); {NUMBER}; {NUMBER}; : {{PROMPT}}"
    judge = f"sleep 0.0$({NUMBER}); printf '{VERDICT}' $({NUMBER}) $({NUMBER}); : {{PROMPT}}"
    project.write(
        {
            "a.eval.yaml": suite(*(case(f"c-{n}", *map(judged_by, ("a", "b"))) for n in range(8))),
            "targets.yaml": targets(
                command(candidate), command(candidate, name="other"), command(judge, name="judge")
            ),
        }
    )
    both = ("eval", "a.eval.yaml", "--target", "default", "--target", "other", "--out")
    arguments = (*both, "run", "--record", "tape", "--workers", "4")
    kill(project, *arguments, after="[2/16]")
    kill(project, *arguments, "--resume", after="/16]")
    resumed = project.run(*arguments, "--resume")
    recorded = results(project, "run")
    replayed = project.run(*both, "again", "--replay", "tape", "--workers", "3")

    assert "REPLAYED from tape (48 exchanges)" in replayed.out
    assert "not asked for" not in replayed.out
    assert results(project, "again") == recorded
    assert replayed.code == resumed.code


def test_an_error_that_was_tried_again_is_not_replayed(project: Project) -> None:
    project.write({"a.eval.yaml": suite(case("c", contains("Fine")))})
    project.write({"targets.yaml": targets(command("cat says.txt; : {PROMPT}", cwd="."))})
    arguments = ("eval", "a.eval.yaml", "--record", "tape", "--out", "run")
    assert project.run(*arguments).code == ExitCode.ERRORS
    project.write({"says.txt": "Fine."})
    assert project.run(*arguments, "--resume", "--retry-errors").code == ExitCode.OK
    (project.folder / "says.txt").unlink()
    replayed = project.run("eval", "a.eval.yaml", "--replay", "tape")
    assert replayed.code == ExitCode.OK, replayed.out
    assert "(1 exchange)" in replayed.out
