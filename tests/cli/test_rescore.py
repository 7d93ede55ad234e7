"""`agentv rescore`: answers are judged anew, nobody is asked for them, and what flipped is told."""

import json
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentv.errors import ExitCode
from agentv.testing import Outcome, Project
from processes import LIMIT_SECONDS
from story import PYTHON, by_id, case, command, contains, mock, suite, targets
from terminal import in_pipes, started
from vendor.dialects import Question
from vendor.server import Vendor

CHECK = """\
import json, sys
case = json.load(sys.stdin)
found = {wanted!r} in case["candidate_answer"]
with open("judged.log", "a") as log:
    print(case["eval_id"], file=log)
miss = [] if found else ["no {wanted}"]
print(json.dumps({{"score": 1.0 if found else 0.2, "misses": miss}}))
"""
CHECKED = {"name": "check", "type": "code", "script": f"{PYTHON} check.py"}
ANSWERS = {"one": "ab", "two": "cb", "three": "ac", "four": {"error": "out of memory"}}


def check(wanted: str) -> str:
    return CHECK.format(wanted=wanted)


def evals(*evaluators: Mapping[str, Any], **top: Any) -> str:
    execution = {"evaluators": [*evaluators], **top}
    return suite(*map(case, ANSWERS), execution=execution)


@pytest.fixture
def judged(project: Project) -> Project:
    """A run of four cases: a passes, b and c fail, one ends in an error."""
    project.write(
        {
            "a.eval.yaml": evals(CHECKED, contains("a", name="has a")),
            "targets.yaml": targets(mock(replies=ANSWERS)),
            "check.py": check("b"),
        }
    )
    assert project.run("eval", "a.eval.yaml", "--out", "old").code == ExitCode.GATE_FAILED
    (project.folder / "judged.log").unlink()
    return project


def judged_by_script(project: Project) -> list[str]:
    log = project.folder / "judged.log"
    return sorted(log.read_text().split()) if log.exists() else []


def content(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_changed_script_judges_the_old_answers(judged: Project) -> None:
    """The earlier run stays as it is; the new one has every row and tells what flipped."""
    judged.write({"check.py": check("c")})
    before = content(judged.folder / "old")

    outcome = judged.run("rescore", "old", "--out", "new")

    assert outcome.code == ExitCode.GATE_FAILED
    assert judged_by_script(judged) == ["one", "three", "two"]
    assert content(judged.folder / "old") == before
    rows = by_id(judged.rows("new"))
    assert {id_: row["score"] for id_, row in rows.items()} == {
        "one": 0.6,
        "two": 0.5,
        "three": 1.0,
        "four": None,
    }
    assert rows["four"]["error"]["message"] == "out of memory"
    assert outcome.out.endswith(
        """\

2 flipped: 1 pass → fail, 1 fail → pass; 2 as before
  pass → fail  1.000 → 0.600  one (default)
      check 1.000 → 0.200  no c
  fail → pass  0.600 → 1.000  three (default)
      check 0.200 → 1.000  no longer: no b
"""
    )
    assert "  rescored    old: its answers, no candidate was asked\n" in outcome.out
    assert "  trials      4 planned, 1 passed, 2 failed, 1 errors\n" in outcome.out


def test_old_verdicts_that_stand_are_marked(judged: Project) -> None:
    judged.write({"check.py": check("c")})

    judged.run("rescore", "old", "--out", "new")

    row = by_id(judged.rows("new"))["one"]
    assert row["cached"] is True
    assert [result.get("cached", False) for result in row["evaluator_results"]] == [False, True]


def test_what_flipped_can_be_told_later(judged: Project) -> None:
    judged.write({"check.py": check("c")})
    told = judged.run("rescore", "old", "--out", "new", "--json").json

    shown = judged.run("show", "new", "--json").json

    assert shown["flips"] == told["flips"]
    assert told["flips"]["flipped"] == 2
    assert told["rescored_from"] == {"run_id": "old", "folder": "old", "anew": []}
    judged.folder.joinpath("old").rename(judged.folder / "elsewhere")
    assert judged.run("show", "new", "--json").json["flips"] is None
    assert (
        "The run old cannot be read any more, so what flipped since cannot be told."
        in judged.run("show", "new").out
    )


def test_an_added_evaluator_is_the_only_one_to_judge(judged: Project) -> None:
    judged.write(
        {"a.eval.yaml": evals(CHECKED, contains("a", name="has a"), contains("c", name="has c"))}
    )

    outcome = judged.run("rescore", "old")

    assert judged_by_script(judged) == []
    assert '      has c added: 0.000  does not contain "c"\n' in outcome.out


def test_a_threshold_needs_no_evaluator(judged: Project) -> None:
    outcome = judged.run("rescore", "old", "--threshold", "0.5", "--min-pass-rate", "0.7")

    assert outcome.code == ExitCode.OK
    assert judged_by_script(judged) == []
    assert (
        """\
2 flipped: 2 fail → pass; 2 as before
  fail → pass  0.600 → 0.600  three (default)
      threshold 0.800 → 0.500
"""
        in outcome.out
    )


def test_a_weight_needs_no_evaluator(judged: Project) -> None:
    judged.write({"a.eval.yaml": evals(CHECKED, contains("a", name="has a", weight=7))})

    outcome = judged.run("rescore", "old")

    assert judged_by_script(judged) == []
    assert "      has a 1.000 → 1.000, weight 1 → 7\n" in outcome.out


def test_nothing_changed(judged: Project) -> None:
    outcome = judged.run("rescore", "old")

    assert judged_by_script(judged) == []
    assert outcome.out.endswith("\nNo verdict flipped; 4 as before\n")


def test_what_cannot_be_seen_to_change_can_be_named(judged: Project) -> None:
    outcome = judged.run("rescore", "old", "--anew", "ch*", "--out", "new")

    assert outcome.code == ExitCode.GATE_FAILED
    assert judged_by_script(judged) == ["one", "three", "two"]
    assert "  check  3 anew\n" in outcome.err


def test_an_evaluator_that_could_not_run_is_asked_again(judged: Project) -> None:
    """Also where no evaluator could run, so that the trial ended in an error with an answer."""
    judged.write({"a.eval.yaml": evals({**CHECKED, "script": f"{PYTHON} check.py"})})
    working = (judged.folder / "check.py").read_text()
    judged.write({"check.py": "raise SystemExit('no database')\n"})
    judged.run("rescore", "old", "--out", "broken")
    assert {row["verdict"] for row in judged.rows("broken")} == {"error"}
    judged.write({"check.py": working})

    judged.run("rescore", "broken", "--out", "new")

    rows = by_id(judged.rows("new"))
    assert [rows[id_]["score"] for id_ in ("one", "two", "three", "four")] == [1.0, 1.0, 0.2, None]


def test_a_name_that_no_evaluator_has(judged: Project) -> None:
    outcome = judged.run("rescore", "old", "--anew", "chek", "--out", "new")

    assert outcome.code == ExitCode.USAGE
    assert outcome.err == "Error: No evaluator is called 'chek'. Did you mean 'check'?\n"
    assert not (judged.folder / "new").exists()


def test_a_case_that_changed_or_is_new_gets_no_row(judged: Project) -> None:
    """It still counts: a run without its row is incomplete, and says so."""
    cases = [case("one"), case("two", question="Another?"), case("five"), case("four")]
    evaluators = {"evaluators": [CHECKED, contains("a", name="has a")]}
    judged.write({"a.eval.yaml": suite(*cases, execution={**evaluators, "min_pass_rate": 0.1})})

    outcome = judged.run("rescore", "old", "--out", "new")

    assert outcome.code == ExitCode.ERRORS
    assert sorted(row["eval_id"] for row in judged.rows("new")) == ["four", "one"]
    assert (
        """\
  2 without an answer that fits; they get no row
    1 changed since (messages, files or guidelines): two
    1 never asked in that run: five
"""
        in outcome.err
    )
    assert "2 trials have no answer in that run that fits" in outcome.out
    assert "The run is incomplete: rows for 2 of 4 trials are missing (exit 3)" in outcome.out
    assert "No verdict flipped; 2 as before; 2 rows not judged anew" in outcome.out
    assert judged.run("show", "new").code == ExitCode.ERRORS


def test_a_run_that_was_cut_short_is_better_gone_on_with_first(judged: Project) -> None:
    """Its trials without an answer are asked by `resume`; a rescored run asks nobody."""
    rows = judged.folder / "old" / "results.jsonl"
    rows.write_text("".join(rows.read_text().splitlines(keepends=True)[:2]))

    outcome = judged.run("rescore", "old", "--out", "new")

    assert outcome.code == ExitCode.ERRORS
    assert (
        """\
  2 without an answer that fits; they get no row
    2 never asked in that run: three, four
  That run did not end, 2 rows are missing: `agentv resume` goes on with it; rescore it then.
"""
        in outcome.err
    )


def test_a_suite_that_was_moved_is_found_again(judged: Project) -> None:
    (judged.folder / "sub").mkdir()
    for name in ("a.eval.yaml", "check.py"):
        (judged.folder / name).rename(judged.folder / "sub" / name)
    manifest = judged.folder / "old" / "run.json"
    manifest.write_text(manifest.read_text().replace('"a.eval.yaml"\n', '"sub"\n'))

    outcome = judged.run("rescore", "old", "--out", "new")

    assert {row["suite"] for row in judged.rows("new")} == {"sub/a.eval.yaml"}
    assert outcome.out.endswith("\nNo verdict flipped; 4 as before\n")


def test_a_target_that_changed_since_is_told_of_as_it_was(judged: Project) -> None:
    """Its answers are those of then, so its settings are too."""
    judged.write({"targets.yaml": targets(mock("something else"))})

    outcome = judged.run("rescore", "old", "--out", "new")

    assert outcome.out.endswith("\nNo verdict flipped; 4 as before\n")
    [old, new] = [
        json.loads((judged.folder / name / "run.json").read_text())["targets"]
        for name in ("old", "new")
    ]
    assert new == old


def test_a_candidate_needs_neither_its_program_nor_its_keys(project: Project) -> None:
    """Scenario: the machine that judges is not the one that asked."""
    healthy = {"type": "command", "command_template": "test -e healthy"}
    asked = command("echo {PROMPT} >> asked.log; : ${{ SECRET }}; echo hello", healthcheck=healthy)
    project.write(
        {
            "a.eval.yaml": suite(case("one"), execution={"evaluators": [contains("hey")]}),
            "targets.yaml": targets(asked),
            ".env": "SECRET=quietly\n",
            "healthy": "",
        }
    )
    assert project.run("eval", "a.eval.yaml", "--out", "old").code == ExitCode.GATE_FAILED
    for name in (".env", "healthy", "asked.log"):
        (project.folder / name).unlink()
    project.write(
        {"a.eval.yaml": suite(case("one"), execution={"evaluators": [contains("hello")]})}
    )

    outcome = project.run("rescore", "old", "--out", "new")

    assert outcome.code == ExitCode.OK
    assert not (project.folder / "asked.log").exists()
    assert project.run("resume", "new").code == ExitCode.OK


def test_a_dry_run_writes_nothing(judged: Project) -> None:
    judged.write({"check.py": check("c")})
    before = content(judged.folder)

    outcome = judged.run("rescore", "old", "--dry-run", "--out", "new")

    assert outcome.code == ExitCode.OK
    assert outcome.out == (
        """\
DRY RUN: nobody is asked and nothing is written.
  3 answers of old to judge, 1 error kept
    check  3 anew
    has a  3 stand
  No judge is called.
"""
    )
    assert content(judged.folder) == before
    assert not (judged.folder / "new").exists()


def test_a_rehearsal_has_no_answers(judged: Project) -> None:
    judged.run("eval", "a.eval.yaml", "--dry-run", "--out", "rehearsal")

    outcome = judged.run("rescore", "rehearsal")

    assert outcome.code == ExitCode.USAGE
    assert outcome.err == "Error: The run rehearsal was a dry run: it has no answers to judge.\n"


def test_a_run_of_a_program_cannot_be_rescored(project: Project) -> None:
    from agentv import evaluate

    evaluate(
        [{"id": "one", "input_messages": [{"role": "user", "content": "?"}]}],
        target=lambda request: "yes",
        evaluators=[contains("yes")],
        cwd=project.folder,
        out="old",
    )

    outcome = project.run("rescore", "old")

    assert outcome.code == ExitCode.USAGE
    assert "The run old was not started by `agentv eval`" in outcome.err


def test_files_that_the_earlier_run_exported_are_left_alone(judged: Project) -> None:
    judged.run("eval", "a.eval.yaml", "--out", "first", "--export", "rows.jsonl")
    before = (judged.folder / "rows.jsonl").read_bytes()
    judged.write({"check.py": check("c")})

    judged.run("rescore", "first", "--export", "new.jsonl")

    assert (judged.folder / "rows.jsonl").read_bytes() == before
    assert len((judged.folder / "new.jsonl").read_text().splitlines()) == 4


def test_what_scripts_say_is_shown_and_not_obeyed(judged: Project) -> None:
    nasty = check("c").replace("no c", "no\\x1b[31m c")
    judged.write({"check.py": nasty})

    outcome = judged.run("rescore", "old")

    assert "\x1b" not in outcome.out
    assert "no\\x1b[31m c" in outcome.out


FATAL = """\
import json, os, signal, sys
if json.load(sys.stdin)["eval_id"] == "three":
    os.kill(int(open("pid").read()), signal.SIGKILL)
print('{"score": 1}')
"""


def test_a_rescored_run_that_was_killed_goes_on_asking_nobody(project: Project) -> None:
    asked = command("echo {PROMPT} >> asked.log; echo hello")
    project.write(
        {
            "a.eval.yaml": suite(
                *map(case, ("one", "two", "three", "four")),
                execution={"evaluators": [{**CHECKED, "name": "fine"}]},
            ),
            "targets.yaml": targets(asked),
            "check.py": check("hello"),
        }
    )
    assert in_pipes(project.folder, "eval", "a.eval.yaml", "--out", "old").code == ExitCode.OK
    (project.folder / "asked.log").unlink()
    (project.folder / "judged.log").unlink()
    project.write({"check.py": FATAL})
    with started(project.folder, "rescore", "old", "--out", "new") as process:
        (project.folder / "pid").write_text(str(process.pid))
        process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == -signal.SIGKILL
    assert [row["eval_id"] for row in project.rows("new")] == ["one", "two"]
    project.write({"check.py": check("hello")})

    outcome = project.run("resume", "new")

    assert outcome.code == ExitCode.OK
    assert not (project.folder / "asked.log").exists()
    assert len(by_id(project.rows("new"))) == 4
    assert outcome.out.endswith("\nNo verdict flipped; 4 as before\n")
    assert not (project.folder / "new" / "steps.jsonl").exists()


def test_a_case_that_changes_before_a_rescored_run_goes_on_is_not_asked(judged: Project) -> None:
    judged.run("rescore", "old", "--out", "new")
    cases = [case("one"), case("two"), case("three", question="Another?"), case("four")]
    evaluators = {"evaluators": [CHECKED, contains("a", name="has a")]}
    judged.write({"a.eval.yaml": suite(*cases, execution=evaluators)})

    outcome = judged.run("resume", "new", "--retry-errors")

    assert outcome.code == ExitCode.ERRORS
    assert "  3 kept, 0 only to be judged, 1 without an answer, in a run that asks nobody\n" in (
        outcome.err
    )
    assert "rows for 1 of 4 trials are missing" in outcome.out
    assert by_id(judged.rows("new"))["four"]["error"]["message"] == "out of memory"


JUDGED_SUITE = """\
target: candidate
execution:
  evaluators:
    - {name: tone, type: llm_judge, prompt: "GRADE KINDLY {{ candidate_answer }}"}
    - {name: has, type: contains, value: asked}
evalcases:
  - {id: case-one, outcome: Answers., input_messages: [{role: user, content: One?}]}
  - {id: case-two, outcome: Answers., input_messages: [{role: user, content: Two?}]}
"""
JUDGED_TARGETS = """\
targets:
  - name: candidate
    provider: openai
    base_url: ${{ VENDOR_URL }}/v1
    api_key: ${{ CANDIDATE_KEY }}
    model: gpt-4o
    judge_target: judge
  - name: judge
    provider: anthropic
    base_url: ${{ VENDOR_URL }}
    api_key: ${{ JUDGE_KEY }}
    model: claude-sonnet-4-5
"""


def opinionated(question: Question) -> str:
    """Kind judges like everything, strict ones nothing of the second question."""
    if "GRADE" not in question.text:
        return f"I was asked {question.texts[-1]}"
    strict = "STRICTLY" in question.text and "Two?" in question.text
    return json.dumps({"score": 0.1 if strict else 1.0, "reasoning": "Rude." if strict else "Ok."})


class Judged:
    """A project with a candidate and a judge, and a run of it."""

    def __init__(self, project: Project, vendor: Vendor) -> None:
        self.project = project
        self._vendor = vendor
        keys = f"VENDOR_URL={vendor.url}\nJUDGE_KEY=vendor-key\n"
        project.write({"a.eval.yaml": JUDGED_SUITE, "targets.yaml": JUDGED_TARGETS})
        project.write({".env": f"{keys}CANDIDATE_KEY=vendor-key\n"})
        outcome = self.run("eval", "a.eval.yaml", "--out", "old")
        assert (outcome.code, len(self.asked)) == (ExitCode.OK, 4)
        project.write({".env": keys})

    def run(self, *arguments: str) -> Outcome:
        self._vendor.asked.clear()
        return self.project.run(*arguments)

    def change(self, file: str, old: str, new: str) -> None:
        path = self.project.folder / file
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    @property
    def asked(self) -> list[str]:
        """The paths that were asked for."""
        return [asked.path for asked in self._vendor.asked]


def test_a_changed_judge_prompt_calls_the_judge_alone(project: Project) -> None:
    with Vendor(answer=opinionated) as vendor:
        found = Judged(project, vendor)
        found.change("a.eval.yaml", "KINDLY", "STRICTLY")

        plan = found.run("rescore", "old", "--dry-run")
        assert found.asked == []
        outcome = found.run("rescore", "old", "--json")

    assert found.asked == ["/v1/messages"] * 2
    assert outcome.code == ExitCode.GATE_FAILED
    [change] = outcome.json["flips"]["changes"]
    assert (change["eval_id"], change["verdict_before"], change["verdict_after"]) == (
        "case-two",
        "pass",
        "fail",
    )
    [tone] = change["evaluators"]
    assert (tone["name"], tone["before"], tone["after"], tone["why"]) == ("tone", 1.0, 0.1, "Rude.")
    # What the answers once cost is not paid again.
    spent = outcome.json["cost_usd"]["total"]
    assert spent == pytest.approx(outcome.json["judge_usage"]["cost_usd"]["total"])
    assert outcome.json["usage"]["calls"] == 0
    assert f"2 judge calls, about ${spent:.4f}" in plan.out
    assert "  tone  2 anew by judge (about $" in plan.out


def test_what_another_judge_costs_is_unknown(project: Project) -> None:
    with Vendor(answer=opinionated) as vendor:
        found = Judged(project, vendor)
        found.change("targets.yaml", "claude-sonnet-4-5", "claude-opus-4-1")

        plan = found.run("rescore", "old", "--dry-run")
        outcome = found.run("rescore", "old")

    assert "  tone  2 anew by judge (cost unknown)\n" in plan.out
    assert "  2 judge calls; what they cost is unknown\n" in plan.out
    assert found.asked == ["/v1/messages"] * 2
    assert outcome.code == ExitCode.OK


def test_an_unchanged_judge_is_not_called(project: Project) -> None:
    with Vendor(answer=opinionated) as vendor:
        found = Judged(project, vendor)

        outcome = found.run("rescore", "old")

    assert (outcome.code, found.asked) == (ExitCode.OK, [])
    assert "  tokens " not in outcome.out


def test_a_judge_whose_verdicts_stand_needs_no_key(project: Project) -> None:
    with Vendor(answer=opinionated) as vendor:
        found = Judged(project, vendor)
        found.change(".env", "JUDGE_KEY=vendor-key\n", "")
        found.change("a.eval.yaml", "value: asked", "value: One?")

        outcome = found.run("rescore", "old", "--json")

    assert (outcome.code, found.asked) == (ExitCode.GATE_FAILED, [])
    [change] = outcome.json["flips"]["changes"]
    assert (change["eval_id"], change["verdict_after"]) == ("case-two", "fail")


def test_a_judge_that_must_be_called_needs_its_key(project: Project) -> None:
    """What would be judged can be told all the same; nothing is written of a run that cannot be."""
    with Vendor(answer=opinionated) as vendor:
        found = Judged(project, vendor)
        found.change(".env", "JUDGE_KEY=vendor-key\n", "")
        found.change("a.eval.yaml", "KINDLY", "STRICTLY")

        plan = found.run("rescore", "old", "--dry-run")
        outcome = found.run("rescore", "old", "--out", "new")
        told = found.run("rescore", "old", "--out", "new", "--json").json

    assert (told["exit_code"], told["problems"][0]["code"]) == (2, "unset-variable")
    assert plan.code == ExitCode.OK
    assert "  tone  2 anew by judge" in plan.out
    assert (outcome.code, found.asked) == (ExitCode.USAGE, [])
    assert (
        "targets.yaml:11:14  targets[1].api_key  the variable JUDGE_KEY is not set, and target "
        "'judge' needs it for 'api_key'"
    ) in outcome.err
    assert not (project.folder / "new").exists()


def test_a_rescored_run_whose_budget_is_spent_goes_on_with_another(project: Project) -> None:
    with Vendor(answer=opinionated) as vendor:
        found = Judged(project, vendor)
        found.change("a.eval.yaml", "KINDLY", "STRICTLY")

        cut = found.run("rescore", "old", "--budget-usd", "0.00001", "--out", "new")
        assert (cut.code, found.asked) == (ExitCode.ERRORS, ["/v1/messages"])
        rest = found.run("resume", "new", "--budget-usd", "1")

    assert (rest.code, found.asked) == (ExitCode.GATE_FAILED, ["/v1/messages"])
    assert "1 flipped: 1 pass → fail; 1 as before" in rest.out
