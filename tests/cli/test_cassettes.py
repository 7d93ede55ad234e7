"""`--record` and `--replay`: a suite is run with keys once, and from then on without anything."""

import json
import shutil
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from agents.stand_in import stand_in
from agentv import evaluate
from agentv.errors import ExitCode
from agentv.testing import Project
from story import PYTHON, by_id, case, command, contains, suite, targets
from vendor import Vendor, failure, refused
from vendor.faults import BROKEN_JSON, CUT_OFF, HANG, RESET, SLOW_BODY, TRUNCATED, raw

KEY = "vendor-key-5f0c91d2+/e8=d7"
FORMS = (
    KEY,
    quote(KEY, safe=""),
    quote(KEY),
    b64encode(KEY.encode()).decode(),
    KEY[:12],
    KEY[-12:],
)
JUDGED = {"type": "llm_judge", "target": "judge"}
APIS: dict[str, dict[str, Any]] = {
    "openai": {"provider": "openai", "base_url": "${{ VENDOR_URL }}/v1"},
    "responses": {"provider": "openai", "api": "responses", "base_url": "${{ VENDOR_URL }}/v1"},
    "azure": {"provider": "azure", "endpoint": "${{ VENDOR_URL }}"},
    "anthropic": {"provider": "anthropic", "base_url": "${{ VENDOR_URL }}"},
    "gemini": {"provider": "gemini", "base_url": "${{ VENDOR_URL }}"},
}
QUICK = {"initial_delay_ms": 5, "max_delay_ms": 20}
"""Delays between tries where a service does not say how long to wait."""
JUDGE = {
    "name": "judge",
    "model": "m-2",
    "api_key": "${{ VENDOR_KEY }}",
    "retry": QUICK,
    **APIS["anthropic"],
}


def llm(api: str = "openai", **more: Any) -> dict[str, Any]:
    model = {"deployment_name": "m-1"} if api == "azure" else {"model": "m-1"}
    known = {"name": "default", "api_key": "${{ VENDOR_KEY }}", "retry": QUICK}
    return {**known, **model, **APIS[api], **more}


def asks(number: int, *evaluators: Any, words: str = "Say hello to") -> Any:
    return case(f"c-{number}", *evaluators, question=f"{words} case-{number}.")


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Vendor]:
    """A vendor whose address and key are in the environment."""
    with Vendor(key=KEY, script={"case-1": [refused("1"), RESET]}) as vendor:
        monkeypatch.setenv("VENDOR_URL", vendor.url)
        monkeypatch.setenv("VENDOR_KEY", KEY)
        yield vendor


def take_away(monkeypatch: pytest.MonkeyPatch, vendor: Vendor) -> None:
    """From here on there is neither a key nor anybody who would take it."""
    monkeypatch.delenv("VENDOR_URL")
    monkeypatch.delenv("VENDOR_KEY")
    vendor.asked.clear()


def result(row: dict[str, Any]) -> dict[str, Any]:
    """A row without what no two runs have in common."""
    kept = {key: row[key] for key in row if key not in ("timestamp", "duration_ms")}
    scores = [
        {key: score[key] for key in score if key != "duration_ms"}
        for score in row["evaluator_results"]
    ]
    return {**kept, "evaluator_results": scores}


def results(project: Project) -> dict[str, Any]:
    return {id_: result(row) for id_, row in by_id(project.rows()).items()}


def recordings(project: Project, pattern: str = "*/*/*.json") -> list[str]:
    folder = project.folder / "tape"
    return sorted(str(path.relative_to(folder)) for path in folder.glob(pattern))


@pytest.mark.parametrize("api", APIS)
def test_a_recorded_run_replays_without_network_and_keys(
    project: Project, vendor: Vendor, monkeypatch: pytest.MonkeyPatch, api: str
) -> None:
    """Retries, waits and judges included; a wait that was asked for is not waited again."""
    files = {"a.eval.yaml": suite(*(asks(n, JUDGED) for n in range(1, 4)))}
    project.write({**files, "targets.yaml": targets(llm(api), JUDGE)})
    first = project.run("eval", "a.eval.yaml", "--record", "tape", "--workers", "3")
    expected = results(project)
    tries = vendor.tries("case-1")
    take_away(monkeypatch, vendor)
    second = project.run("eval", "a.eval.yaml", "--replay", "tape", "--workers", "2")

    assert (first.code, second.code) == (ExitCode.OK, ExitCode.OK), second.err
    assert tries == 4  # refused, reset, answered, and judged
    assert "  recorded    tape (8 exchanges)\n" in first.out
    assert "  REPLAYED from tape (8 exchanges): nobody was asked.\n" in second.out
    assert results(project) == expected
    assert vendor.asked == []
    assert sum(row["duration_ms"] for row in project.rows()) < 1000


def test_nothing_secret_is_recorded(project: Project, vendor: Vendor) -> None:
    """Not in headers, bodies, commands, files or what a service repeats."""
    echo = command(
        'echo "key: $API_KEY" > {OUTPUT_FILE}; echo {PROMPT} "$API_KEY" | base64 -w0',
        name="echo",
        env={"API_KEY": "${{ VENDOR_KEY }}"},
    )
    cases = [asks(1), asks(2, words=f"What is {KEY} or {quote(KEY, safe='')}? It is")]
    project.write({"a.eval.yaml": suite(*cases, execution={"evaluators": [contains("e")]})})
    project.write({"targets.yaml": targets(llm(headers={"x-secret": "${{ VENDOR_KEY }}"}), echo)})
    project.run(
        "eval", "a.eval.yaml", "--record", "tape", "--target", "echo", "--target", "default"
    )

    files = [path for path in (project.folder / "tape").rglob("*") if path.is_file()]
    assert len(files) > 5
    for path in files:
        data = path.read_text()
        assert not [form for form in FORMS if form in data], path
        assert "authorization" not in data.lower()
    header = json.loads((project.folder / "tape" / "cassette.json").read_text())
    assert header["variables"] == {
        "VENDOR_KEY": "[redacted VENDOR_KEY]",
        "VENDOR_URL": vendor.url,
    }


def test_a_changed_prompt_is_named_as_the_miss(
    project: Project, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A miss is an error of its own kind, exit code 3 whatever the gate says, and a diff."""
    targets_file = targets(llm())
    project.write({"a.eval.yaml": suite(asks(2, contains("case")), asks(3, contains("case")))})
    project.write({"targets.yaml": targets_file})
    project.run("eval", "a.eval.yaml", "--record", "tape")
    take_away(monkeypatch, vendor)
    changed = asks(3, contains("case"), words="Say a long goodbye to")
    project.write({"a.eval.yaml": suite(asks(2, contains("case")), changed)})
    outcome = project.run("eval", "a.eval.yaml", "--replay", "tape", "--min-pass-rate", "0.1")
    rows = by_id(project.rows())
    shown = project.run("show", "latest")
    machine = project.run("eval", "a.eval.yaml", "--replay", "tape", "--json")

    url = f"{vendor.url}/v1/chat/completions"
    said = f"there is no recording of POST {url}; the nearest is default/c-3/1.json"
    assert outcome.code == ExitCode.ERRORS
    assert (
        "Not in the cassette tape (1)\n"
        f"  ! c-3 on default  {said}\n"
        f"        POST {url}\n"
        "      - messages[0].content: Say hello to case-3.\n"
        "      + messages[0].content: Say a long goodbye to case-3.\n"
    ) in outcome.out
    assert "1 request was not recorded in tape: this is no verdict (exit 3)" in outcome.out
    assert rows["c-2"]["verdict"] == "pass"
    assert rows["c-3"]["error"]["kind"] == "replay_miss"
    assert rows["c-3"]["error"]["message"] == f"tape: {said}"
    assert "+messages[0].content: Say a long goodbye" in rows["c-3"]["error"]["detail"]
    assert shown.code == ExitCode.ERRORS
    assert "REPLAYED from tape: nobody was asked." in shown.out
    assert machine.json["exit_code"] == 3
    assert machine.json["replayed"] == "tape"
    assert machine.json["cassette"]["misses"][0]["nearest"] == "default/c-3/1.json"


def test_a_judge_that_was_never_asked_this(
    project: Project, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write({"a.eval.yaml": suite(asks(2, contains("case")), asks(3, JUDGED))})
    project.write({"targets.yaml": targets(llm(), JUDGE)})
    project.run("eval", "a.eval.yaml", "--record", "tape")
    take_away(monkeypatch, vendor)
    project.write(
        {
            "a.eval.yaml": suite(
                asks(2, contains("case")), {**asks(3, JUDGED), "outcome": "Is kind."}
            )
        }
    )
    outcome = project.run("eval", "a.eval.yaml", "--replay", "tape", "--min-pass-rate", "0.5")

    assert outcome.code == ExitCode.ERRORS
    assert "! c-3 on judge  there is no recording of POST" in outcome.out
    assert "      - Is right.\n      + Is kind.\n" in outcome.out


def test_all_commands_agree_on_a_judges_miss(
    project: Project, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gate would hold, and yet the run is no verdict, whoever tells of it and however often."""
    case_ = asks(2, contains("case"), JUDGED)
    top = {"execution": {"min_pass_rate": 0.0}}
    project.write({"a.eval.yaml": suite(case_, **top), "targets.yaml": targets(llm(), JUDGE)})
    project.run("eval", "a.eval.yaml", "--record", "tape")
    take_away(monkeypatch, vendor)
    project.write({"a.eval.yaml": suite({**case_, "outcome": "Is kind."}, **top)})
    missed = project.run("eval", "a.eval.yaml", "--replay", "tape", "--out", "run")
    others = [
        project.run("show", "run"),
        project.run("resume", "run"),
        project.run("eval", "a.eval.yaml", "--replay", "tape", "--out", "run", "--resume"),
    ]
    [row] = project.rows("run")

    assert row["verdict"] == "fail"
    assert row["evaluator_results"][1]["error_kind"] == "replay_miss"
    assert "error_kind" not in row["evaluator_results"][0]
    for outcome in (missed, *others):
        assert outcome.code == ExitCode.ERRORS, outcome.out
        assert "1 request was not recorded in tape: this is no verdict (exit 3)" in outcome.out
    machine = project.run("show", "run", "--json").json
    assert (machine["exit_code"], machine["replay_misses"]) == (3, 1)
    assert machine["gate"]["reason"] == "1 request was not recorded in tape: this is no verdict"
    project.run("eval", "a.eval.yaml", "--replay", "tape")
    listed, *_ = project.run("runs", "--json").json["runs"]
    assert listed["exit_code"] == 3


def test_equal_requests_are_answered_in_their_order_each_once(project: Project) -> None:
    """Every trial gets its own answer again, whichever worker is first."""
    counter = command("echo $(wc -l < n); echo x >> n; : {PROMPT}", cwd=".")
    cases = [case(f"c-{n}", {"type": "regex", "pattern": "."}) for n in range(6)]
    project.write({"a.eval.yaml": suite(*cases), "targets.yaml": targets(counter), "n": ""})
    project.run("eval", "a.eval.yaml", "--record", "tape")
    expected = results(project)
    assert len({row["candidate_answer"] for row in expected.values()}) == 6
    project.run("eval", "a.eval.yaml", "--replay", "tape", "--workers", "6")
    assert results(project) == expected

    project.write(
        {"a.eval.yaml": suite(*cases, case("one-more", {"type": "regex", "pattern": "."}))}
    )
    outcome = project.run("eval", "a.eval.yaml", "--replay", "tape")
    assert outcome.code == ExitCode.ERRORS
    assert ": '?'` was recorded 6 times, and is asked once more\n" in outcome.out
    assert (project.folder / "n").read_text() == "x\n" * 6


def test_a_command_with_an_answer_file_and_attachments(project: Project, tmp_path: Path) -> None:
    """It replays where the project was moved to and the program is gone; a changed attachment is
    a miss.
    """
    program = command("./agent {FILES} > {OUTPUT_FILE}; echo $PWD >> {OUTPUT_FILE}; : {PROMPT}")
    content = [{"type": "text", "value": "Sum up."}, {"type": "file", "value": "notes.md"}]
    asked = case("c", contains("the notes"))
    asked["input_messages"] = [{"role": "user", "content": content}]
    project.write({"a.eval.yaml": suite(asked), "targets.yaml": targets({**program, "cwd": "."})})
    project.write({"notes.md": "the notes", "agent": "#!/bin/sh\ncat $1; echo\n"})
    (project.folder / "agent").chmod(0o755)
    assert project.run("eval", "a.eval.yaml", "--record", "tape").code == ExitCode.OK
    [before] = project.rows()
    moved = Project(tmp_path / "moved")
    shutil.copytree(project.folder, moved.folder, ignore=shutil.ignore_patterns("agent", "moved"))

    assert moved.run("eval", "a.eval.yaml", "--replay", "tape").code == ExitCode.OK
    [after] = moved.rows()
    assert before["candidate_answer"] == f"the notes\n{project.folder}"
    assert after["candidate_answer"] == f"the notes\n{moved.folder}"

    moved.write({"notes.md": "the other notes"})
    outcome = moved.run("eval", "a.eval.yaml", "--replay", "tape")
    assert outcome.code == ExitCode.ERRORS
    assert "- the notes\n" in outcome.out
    assert "+ the other notes\n" in outcome.out


@pytest.mark.parametrize("provider", ["codex", "claude"])
def test_an_agent_and_its_workspace(
    project: Project, vendor: Vendor, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    """What it changed in its workspace is there for evaluators, though the agent is gone; they are
    run themselves.
    """
    work = """
sys.stdin.read()
Path("made.txt").write_text("made in " + os.getcwd())
Path("old.txt").unlink()
answer("It is in " + os.getcwd() + "/made.txt.")
"""
    check = """
import json, os, sys
place = json.load(sys.stdin)["workspace"]
made = open(place + "/made.txt").read() == "made in " + place
print(json.dumps({"score": int(made and not os.path.exists(place + "/old.txt"))}))
"""
    agent = stand_in(provider, project.folder, work, workspace_template="template")
    script = {"type": "code", "script": f"{PYTHON} check.py"}
    project.write({"template/old.txt": "old", "check.py": check})
    project.write({"a.eval.yaml": suite(asks(1, script, JUDGED), asks(2, script, JUDGED))})
    project.write({"targets.yaml": targets(agent, JUDGE)})
    first = project.run("eval", "a.eval.yaml", "--record", "tape", "--workers", "2")
    assert first.code == ExitCode.OK, first.out
    take_away(monkeypatch, vendor)
    (project.folder / "agent").unlink()
    second = project.run("eval", "a.eval.yaml", "--replay", "tape")
    assert second.code == ExitCode.OK, second.out
    assert [row["score"] for row in project.rows()] == [1.0, 1.0]

    project.write({"check.py": "print('{\"score\": 0}')"})
    assert project.run("eval", "a.eval.yaml", "--replay", "tape").code == ExitCode.GATE_FAILED


def test_failures_are_replayed_as_they_were(project: Project) -> None:
    """Exit codes, time-outs and answers that are none."""
    cases = [
        case("exit", contains("x"), question="7"),
        case("late", contains("x"), question="late"),
    ]
    slow = command(
        "test {PROMPT} = late && sleep 60; echo no luck >&2; exit {PROMPT}", timeout_seconds=0.5
    )
    project.write({"a.eval.yaml": suite(*cases), "targets.yaml": targets(slow)})
    arguments = ("eval", "a.eval.yaml", "--max-retries", "1")
    assert project.run(*arguments, "--record", "tape").code == ExitCode.ERRORS
    expected = results(project)
    assert {id_: row["error"]["kind"] for id_, row in expected.items()} == {
        "exit": "exit",
        "late": "timeout",
    }
    replayed = project.run(*arguments, "--replay", "tape")
    assert replayed.code == ExitCode.ERRORS
    assert "Not in the cassette" not in replayed.out
    assert results(project) == expected
    assert sum(row["duration_ms"] for row in project.rows()) < 500


def test_all_trouble_with_a_service_is_replayed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refusals, broken and half replies, silence: each as it was, with as many attempts."""
    troubles: dict[str, Any] = {
        "case-1": [refused("1"), RESET],
        "case-2": [TRUNCATED, BROKEN_JSON],
        "case-3": [HANG] * 9,
        "case-4": [SLOW_BODY],
        "case-5": [CUT_OFF],
        "case-6": [failure(500)] * 9,
        "case-7": [failure(503), failure(529), failure(400)],
        "case-8": [failure(401, f"a bad key: {KEY}")],
        "case-9": [raw("HTTP/1.1 200 OK\ncontent-type: text/plain", b"\xff\xfe")],
    }
    project.write({"a.eval.yaml": suite(*(asks(n, contains("case")) for n in range(1, 11)))})
    project.write({"targets.yaml": targets(llm())})
    arguments = ("eval", "a.eval.yaml", "--agent-timeout", "0.5", "--max-retries", "1")
    with Vendor(key=KEY, script=troubles) as vendor:
        monkeypatch.setenv("VENDOR_URL", vendor.url)
        monkeypatch.setenv("VENDOR_KEY", KEY)
        recorded = project.run(*arguments, "--record", "tape", "--workers", "4")
        expected = results(project)
    take_away(monkeypatch, vendor)
    replayed = project.run(*arguments, "--replay", "tape", "--workers", "2")

    assert (recorded.code, replayed.code) == (ExitCode.ERRORS, ExitCode.ERRORS)
    assert len({row["error"]["kind"] for row in expected.values() if row["error"]}) > 4
    assert results(project) == expected
    assert "Not in the cassette" not in replayed.out
    assert "not asked for" not in replayed.out
    for path in (project.folder / "tape").rglob("*.json"):
        assert KEY not in path.read_text()


def test_a_case_that_is_recorded_again_takes_its_own_place(
    project: Project, vendor: Vendor
) -> None:
    """Recording some cases leaves the others' recordings alone, and none stale behind."""
    project.write(
        {"a.eval.yaml": suite(asks(1), asks(2), execution={"evaluators": [contains("case")]})}
    )
    project.write({"targets.yaml": targets(llm())})
    project.run("eval", "a.eval.yaml", "--record", "tape")
    assert recordings(project) == [
        *("default/c-1/1.json", "default/c-1/2.json", "default/c-1/3.json", "default/c-2/1.json")
    ]
    project.run("eval", "a.eval.yaml", "--record", "tape", "--eval-id", "c-1")
    assert recordings(project) == ["default/c-1/1.json", "default/c-2/1.json"]
    assert project.run("eval", "a.eval.yaml", "--replay", "tape").code == ExitCode.OK


def test_what_is_too_large_is_left_out(project: Project) -> None:
    """With a warning; what was recorded before it does not pass for its answer."""
    size = "head -c $(cat size) /dev/zero > {OUTPUT_FILE}; echo said >> {OUTPUT_FILE}; : {PROMPT}"
    project.write({"a.eval.yaml": suite(asks(1, contains("said"))), "size": "1"})
    project.write({"targets.yaml": targets(command(size, cwd="."))})
    assert project.run("eval", "a.eval.yaml", "--record", "tape").code == ExitCode.OK
    project.write({"size": "34000000"})
    large = project.run("eval", "a.eval.yaml", "--record", "tape")
    assert "what 'default' was asked about 'c-1' is not recorded: it wrote a file lar" in large.err
    assert recordings(project) == []
    assert project.run("eval", "a.eval.yaml", "--replay", "tape").code == ExitCode.ERRORS


def test_only_what_is_recorded_again_is_replaced(project: Project) -> None:
    """Verdicts on another target's answers stay, and so does what another suite asked for a case
    of the same id.
    """
    judge = command(f"echo '{json.dumps({'score': 1})}'; : {{PROMPT}}", name="judge")
    judged = {"type": "llm_judge", "target": "judge"}
    project.write({"a.eval.yaml": suite(case("c", judged, question="One"))})
    project.write({"b.eval.yaml": suite(case("c", judged, question="Two"))})
    echoes = [command("echo {PROMPT}", name=name) for name in ("default", "other")]
    project.write({"targets.yaml": targets(*echoes, judge)})
    both = ("--target", "default", "--target", "other")
    suites = ("a.eval.yaml", "b.eval.yaml")
    project.run("eval", *suites, *both, "--record", "tape")
    project.run("eval", "a.eval.yaml", "--target", "default", "--record", "tape")
    replayed = project.run("eval", *suites, *both, "--replay", "tape")

    assert replayed.code == ExitCode.OK, replayed.out
    assert "REPLAYED from tape (8 exchanges)" in replayed.out
    assert "not asked for" not in replayed.out


def test_recordings_that_nobody_asks_for_are_counted(project: Project) -> None:
    project.write({"targets.yaml": targets(command("echo {PROMPT}"))})
    project.write(
        {"a.eval.yaml": suite(asks(1), asks(2), execution={"evaluators": [contains("case")]})}
    )
    project.run("eval", "a.eval.yaml", "--record", "tape")
    one = project.run("eval", "a.eval.yaml", "--replay", "tape", "--eval-id", "c-1")
    project.write({"a.eval.yaml": suite(asks(1), execution={"evaluators": [contains("case")]})})
    other = project.run("eval", "a.eval.yaml", "--replay", "tape")
    assert "not asked for" not in one.out
    assert "not asked for: 1 recording\n" in other.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--record", "a", "--replay", "b"), "--record and --replay exclude each other."),
        (("--record", "a", "--cache"), "--record and --cache exclude each other: an answer out"),
        (("--replay", "a", "--dry-run"), "--replay and --dry-run exclude each other: a rehearsal"),
        (("--replay", "no"), "no holds no cassette (there is no cassette.json in it); record one"),
        (("--record", "full"), "full holds other things than a cassette: name a new or an empty"),
        (("--record", "a.eval.yaml"), "a.eval.yaml is a file, so no cassette can be recorded"),
        (("--replay", "newer"), "has format 2; this version of AgentV reads 1."),
        (("--replay", "broken"), "1.json is no recording that can be understood: "),
        (("--replay", "misspelt"), "unknown field `eval-id`. Mend it, or record anew."),
        (("--replay", "torn"), "torn/cassette.json is no recording that can be understood: Inp"),
    ],
)
def test_what_cannot_be_done(project: Project, arguments: tuple[str, ...], message: str) -> None:
    header = '{"format": %d, "recorded": "", "version": "1"}'
    project.write({"misspelt/cassette.json": header % 1, "torn/cassette.json": '{"format":'})
    project.write({"misspelt/a/b/1.json": '{"target": "a", "eval-id": "b"}'})
    newer = {"newer/cassette.json": header.replace("}", ', "newer": 1}') % 2}
    project.write({**newer, "broken/cassette.json": header % 1})
    project.write({"broken/a/b/1.json": '{"target": 1}', "full/notes.md": "Mine."})
    project.write({"a.eval.yaml": suite(asks(1, contains("case")))})
    project.write({"targets.yaml": targets(command("echo {PROMPT}"))})
    outcome = project.run("eval", "a.eval.yaml", *arguments)
    assert outcome.code == ExitCode.USAGE
    assert message in outcome.err
    assert not (project.folder / ".agentv").exists()


def test_what_goes_around_the_borders_is_refused(project: Project) -> None:
    target = {"name": "default", "provider": "pydantic-ai", "model": "test"}
    project.write({"a.eval.yaml": suite(asks(1, contains("case")))})
    project.write({"targets.yaml": targets(target)})
    outcome = project.run("eval", "a.eval.yaml", "--record", "tape")
    assert outcome.code == ExitCode.USAGE
    assert (
        "Target 'default': what is asked by 'pydantic-ai' can be neither recorded nor"
        in outcome.err
    )


def test_a_replay_and_a_real_run_are_not_one_run(project: Project) -> None:
    project.write({"targets.yaml": targets(command("echo {PROMPT}"))})
    project.write({"a.eval.yaml": suite(asks(1, contains("case")))})
    project.run("eval", "a.eval.yaml", "--record", "tape", "--out", "run")
    outcome = project.run("eval", "a.eval.yaml", "--replay", "tape", "--out", "run", "--resume")
    assert outcome.code == ExitCode.USAGE
    assert "was no replay, and this is replayed from tape: start a new one." in outcome.err
    manifest = json.loads((project.folder / "run" / "run.json").read_text())
    assert (manifest["recorded"], manifest["replayed"]) == ("tape", None)


def test_from_a_program(project: Project) -> None:
    """`evaluate(..., record=…)` and `evaluate(..., replay=…)` do the same."""
    project.write({"a.eval.yaml": suite(asks(1, contains("case")))})
    project.write({"targets.yaml": targets(command("cat said.txt; : {PROMPT}", cwd="."))})
    project.write({"said.txt": "The case is closed."})
    run = evaluate("a.eval.yaml", cwd=project.folder, record="tape")
    assert run.passed
    (project.folder / "said.txt").unlink()
    again = evaluate("a.eval.yaml", cwd=project.folder, replay="tape")
    assert again.passed
    assert [row.candidate_answer for row in again.rows()] == ["The case is closed."]


def test_what_comes_of_a_replay_is_a_replay(
    project: Project, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes of a recorded run leaves its cassette as it is."""
    project.write(
        {"a.eval.yaml": suite(asks(2, contains("case-2"))), "targets.yaml": targets(llm())}
    )
    project.run("eval", "a.eval.yaml", "--record", "tape", "--out", "real")
    kept = recordings(project)
    assert project.run("rerun", "real", "--out", "again").code == ExitCode.OK
    assert recordings(project) == kept
    project.run("eval", "a.eval.yaml", "--replay", "tape", "--out", "replay")
    take_away(monkeypatch, vendor)
    for command_ in ("rerun", "rescore"):
        outcome = project.run(command_, "replay", "--out", f"{command_}-replay", "--json")
        assert outcome.code == ExitCode.OK, outcome.err
        assert outcome.json["replayed"] == "tape"
    assert vendor.asked == []
    merged = project.run("merge", "replay", "real", "--out", "both")
    assert "replay is a replay, and real is none." in merged.err
