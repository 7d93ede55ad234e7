"""Which run goes on, who may write it, and what is left of one that was cut short."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from changing import IDS, Changing, asking

from agentv import evaluate
from agentv.errors import ExitCode, SetupError
from agentv.model.request import ProviderResponse
from agentv.model.score import Usage
from agentv.storage.run_lock import RunLock
from agentv.testing import Project, ScriptedProvider
from processes import LIMIT_SECONDS
from story import case, command, contains, mock, suite, targets

HOLD = """\
import os, signal, sys
from pathlib import Path
from agentv.model.request import ProviderResponse
from agentv.model.score import Usage
from agentv.storage.run_lock import RunLock
with RunLock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


CASES = [
    {
        "id": id_,
        "input_messages": [{"role": "user", "content": id_}],
        "evaluators": [{"type": "contains", "value": "ok"}],
    }
    for id_ in IDS
]


@pytest.fixture
def changing(project: Project) -> Changing:
    made = Changing(project)
    made.begin()
    return made


def test_two_processes_cannot_write_one_run(changing: Changing) -> None:
    """The message names the one that does."""
    lock = changing.run / "lock"
    with _held(lock) as holder:
        resumed = changing.resume()
        assert resumed.outcome.code == ExitCode.USAGE
        assert f"run is being written by process {holder.pid} on " in resumed.outcome.err
        assert "wait for it, or end it." in resumed.outcome.err
        holder.send_signal(signal.SIGKILL)
        holder.wait(LIMIT_SECONDS)
        assert lock.exists()
        assert changing.resume().plan == (3, 0, 0), "a lock that nobody holds is no lock"
    assert not lock.exists()


def test_a_lock_that_its_holder_removed_meanwhile_is_not_taken_for_one(tmp_path: Path) -> None:
    """Else two processes would hold two files of one name."""
    path = tmp_path / "lock"
    with RunLock(path):
        late = os.open(path, os.O_RDWR)
    with RunLock(path), pytest.raises(SetupError, match="is being written by process"):
        RunLock(path).__enter__()
    os.close(late)


def test_without_a_name_the_last_run_of_these_suites_goes_on(project: Project) -> None:
    changing = Changing(project)
    changing.files(judge_md="{{candidate_answer}}", score_sh="echo code >> ../asked", asked="")
    changing.write()
    new = project.run("eval", "evals", "--resume")
    assert "There is no run to resume yet: a new one begins." in new.err
    assert changing.work()["target"] == 3
    again = project.run("eval", "evals", "--resume", "--json")
    assert again.json["resumed"]["kept"] == 3
    (project.folder / "evals").rename(project.folder / "specs")
    moved = project.run("eval", "specs", "--resume", "--json")
    assert (moved.json["run_id"], moved.json["resumed"]["kept"]) == (again.json["run_id"], 3)
    assert changing.work()["target"] == 3


def test_resume_takes_the_arguments_of_the_run(changing: Changing) -> None:
    """`agentv resume` needs to be told nothing but the run, and says what `eval` would."""
    project = changing.project
    changing.write(*map(asking, (*IDS, "four")))
    changing.files(asked="")
    resumed = project.run("resume", "run", "--json", "--export", "out.jsonl")
    [reason] = resumed.json["resumed"]["reasons"]
    assert reason == {"why": "new", "trials": 1, "examples": ["four"], "names": []}
    assert changing.work() == Counter(target=1, judge=1, code=1)
    assert (project.folder / "out.jsonl").read_bytes().count(b"\n") == 4


def test_the_plan_is_printed_with_its_reasons(changing: Changing) -> None:
    edited = asking("two")
    edited["input_messages"][0]["content"] = "What now?"
    changing.write(asking("one"), edited, asking("three"), asking("four"))
    said = changing.project.run("eval", "evals", "--resume", "run").err
    assert "  2 kept, 0 only to be judged, 2 to be asked\n" in said
    assert "    1 changed (messages, files or guidelines): two\n" in said
    assert "    1 never begun: four\n" in said
    assert "  1 row set aside in superseded.jsonl\n" in said
    assert "  [4/4] " in said


def test_an_answer_that_was_not_judged_is_only_judged(changing: Changing) -> None:
    """Its steps say what was had: the answer, and the first of two verdicts."""
    rows = changing.rows()
    [first, *_] = rows
    key = {name: first[name] for name in ("suite", "eval_id", "target", "trial")}
    response = {"text": "An answer from before.", "reasoning": None, "usage": None}
    steps: list[dict[str, Any]] = [
        {"step": "asked", **key},
        {
            "step": "answered",
            **key,
            "digest": first["digest"],
            "attempts": 2,
            "duration_ms": 5.0,
            "response": response,
        },
        {"step": "judged", **key, "result": first["evaluator_results"][0]},
    ]
    (changing.run / "steps.jsonl").write_text("".join(json.dumps(s) + "\n" for s in steps))
    rest = "".join(json.dumps(row) + "\n" for row in rows[1:])
    (changing.run / "results.jsonl").write_text(rest + '{"eval_id": "torn')
    resumed = changing.resume()
    assert (resumed.plan, resumed.why) == ((2, 1, 0), {"unfinished": ["one"]})
    assert resumed.work == Counter(code=1)
    row = next(row for row in changing.rows() if row["eval_id"] == "one")
    assert (row["candidate_answer"], row["attempts"]) == ("An answer from before.", 2)
    assert not (changing.run / "steps.jsonl").exists()


def test_a_run_that_was_killed_before_its_first_row_begins_anew(changing: Changing) -> None:
    (changing.run / "results.jsonl").unlink()
    resumed = changing.resume()
    assert (resumed.plan, list(resumed.why)) == ((0, 0, 3), ["new"])
    assert resumed.outcome.code == ExitCode.OK


def test_a_folder_in_which_a_run_had_not_begun_takes_a_new_one(project: Project) -> None:
    """The process was killed between making the folder and writing `run.json`."""
    project.write({"a.eval.yaml": suite(case("one", contains("four"))), "run/.run.json.1.tmp": "{"})
    project.write({"targets.yaml": targets(mock("four")), "run/lock": ""})
    outcome = project.run("eval", "a.eval.yaml", "--out", "run", "--resume")
    assert outcome.code == ExitCode.OK
    assert sorted(path.name for path in (project.folder / "run").iterdir()) == [
        "results.jsonl",
        "run.json",
    ]


def test_a_dry_run_and_a_run_are_not_one(project: Project) -> None:
    project.write({"a.eval.yaml": suite(case("one", contains("four")))})
    project.write({"targets.yaml": targets(mock("four"))})
    project.run("eval", "a.eval.yaml", "--out", "dry", "--dry-run")
    outcome = project.run("eval", "a.eval.yaml", "--resume", "dry")
    assert outcome.code == ExitCode.USAGE
    assert "was a dry run, and this is none: start a new one." in outcome.err
    rehearsed = project.run("resume", "dry", "--json")
    assert (rehearsed.code, rehearsed.json["resumed"]["kept"]) == (ExitCode.OK, 1)


def test_what_was_spent_before_counts_against_the_budget(tmp_path: Path) -> None:
    """A run that its budget ended goes on with a larger one, and no further."""

    def spent(limit: float, **more: Any) -> tuple[ExitCode, int, int]:
        provider = ScriptedProvider(lambda _: ProviderResponse(text="ok", usage=Usage(cost_usd=1)))
        run = evaluate(CASES, target=provider, cwd=tmp_path, budget_usd=limit, **more)
        return run.exit_code, run.summary.counts.recorded, len(provider.requests)

    assert spent(1.0, out="run") == (ExitCode.ERRORS, 1, 1)
    assert (tmp_path / "run" / "steps.jsonl").exists()
    assert spent(1.0, resume="run") == (ExitCode.ERRORS, 1, 0)
    assert spent(2.0, resume="run") == (ExitCode.ERRORS, 2, 1)
    assert spent(9.0, resume="run") == (ExitCode.OK, 3, 1)
    assert not (tmp_path / "run" / "steps.jsonl").exists()


def test_retry_errors_without_a_run_is_refused(changing: Changing) -> None:
    outcome = changing.project.run("eval", "evals", "--retry-errors")
    assert outcome.code == ExitCode.USAGE
    assert "--retry-errors goes with --resume" in outcome.err


def test_nobody_is_probed_when_nothing_is_left(project: Project) -> None:
    """A service that is gone by now does not spoil a run that is whole."""
    check = {"type": "command", "command_template": "test -e up"}
    project.write({"a.eval.yaml": suite(case("one", contains("four"))), "up": ""})
    project.write({"targets.yaml": targets(command("echo four", healthcheck=check))})
    assert project.run("eval", "a.eval.yaml", "--out", "run").code == ExitCode.OK
    (project.folder / "up").unlink()
    assert project.run("resume", "run").code == ExitCode.OK


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        ("judge", "judge"),
        ("script", None),
        ("question", "default"),
        ("added judge", "judge"),
    ],
)
@pytest.mark.parametrize("goes_on", ["resume", "rescore"])
def test_only_who_is_called_is_probed(
    project: Project, change: str, fails: str | None, goes_on: str
) -> None:
    """What is left may be judged while the service that answered is gone, or its judge."""

    def write(question: str = "What?", prompt: str = "", score: str = "1", added: str = "") -> None:
        judges = [{"type": "llm_judge", "prompt": f"{{{{ candidate_answer }}}} {prompt}"}]
        if added:
            judges.append({**judges[0], "name": added})
        checks = [*judges, {"type": "code", "script": "sh score.sh"}]
        project.write(
            {
                "a.eval.yaml": suite(
                    case("one", question=question), execution={"evaluators": checks}
                ),
                "score.sh": f"echo '{{\"score\": {score}}}'\n",
                "targets.yaml": targets(
                    command("echo four", judge_target="judge", healthcheck=up("default")),
                    command("echo '{\"score\": 1}'", name="judge", healthcheck=up("judge")),
                ),
            }
        )

    def up(name: str) -> dict[str, str]:
        return {"type": "command", "command_template": f"test -e up.{name}"}

    write()
    project.write({"up.default": "", "up.judge": ""})
    assert project.run("eval", "a.eval.yaml", "--out", "run").code == ExitCode.OK
    for name in ("default", "judge"):
        (project.folder / f"up.{name}").unlink()
    write(
        **{
            "judge": {"prompt": "Be strict."},
            "script": {"score": "0.9"},
            "question": {"question": "What else?"},
            "added judge": {"added": "second"},
        }[change]
    )
    outcome = project.run(goes_on, "run")
    if fails is None:
        assert outcome.code == ExitCode.OK
    elif (change, goes_on) == ("question", "rescore"):
        assert (outcome.code, "aborted" in outcome.err) == (ExitCode.ERRORS, False)
    else:
        if fails == "default":
            (project.folder / "up.judge").touch()
            outcome = project.run(goes_on, "run")
        assert outcome.code == ExitCode.ERRORS
        assert f"Run aborted: The health check of target '{fails}' failed" in outcome.err


def test_a_program_goes_on_with_a_run(tmp_path: Path) -> None:
    first = ScriptedProvider(lambda _request: "ok")
    evaluate(CASES[:2], target=first, out="run", cwd=tmp_path)
    second = ScriptedProvider(lambda _request: "ok")
    run = evaluate(CASES, target=second, resume="run", cwd=tmp_path)
    assert [request.eval_id for request in second.requests] == ["three"]
    assert (run.passed, run.summary.counts.recorded) == (True, 3)
    with pytest.raises(SetupError, match=r"none holds no run: there is no run.json in it"):
        evaluate(CASES, target=second, resume="none", cwd=tmp_path)


class _held:  # noqa: N801 - reads like a function
    """Another process that holds a lock."""

    def __init__(self, lock: Path) -> None:
        self._argv = [sys.executable, "-c", HOLD, str(lock)]

    def __enter__(self) -> "subprocess.Popen[str]":
        self._process = subprocess.Popen(
            self._argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "held\n"
        return self._process

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate(timeout=LIMIT_SECONDS)
