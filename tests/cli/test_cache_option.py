"""`--cache`: what was answered once is not asked again, unless something that shapes it changed."""

import json

import pytest

from agentv import evaluate
from agentv.errors import ExitCode
from agentv.model.event import Event, Notice
from agentv.testing import Outcome, Project, ScriptedProvider
from vendor.server import Vendor

SUITE = """\
evalcases:
  - id: one
    outcome: Answers.
    input_messages:
      - role: user
        content: [{type: text, value: "How?"}, {type: file, value: notes.md}]
  - id: two
    outcome: Answers.
    input_messages: [{role: user, content: Why?}]
"""

TARGETS = """\
targets:
  - name: default
    provider: openai
    base_url: ${{ VENDOR_URL }}/v1
    api_key: ${{ VENDOR_KEY }}
    model: ${{ VENDOR_MODEL }}
    judge_target: judge
  - name: judge
    provider: anthropic
    base_url: ${{ VENDOR_URL }}
    api_key: ${{ VENDOR_KEY }}
    model: claude-sonnet-4-5
"""


class Setting:
    """A project, a vendor, and how often it was asked."""

    def __init__(self, project: Project, vendor: Vendor) -> None:
        self.project = project
        self._vendor = vendor
        project.write({"a.eval.yaml": SUITE, "targets.yaml": TARGETS, "notes.md": "Notes."})
        self.environment()

    def environment(self, model: str = "gpt-4o") -> None:
        lines = f"VENDOR_URL={self._vendor.url}\nVENDOR_KEY=vendor-key\nVENDOR_MODEL={model}\n"
        self.project.write({".env": lines})

    def change(self, file: str, old: str, new: str) -> None:
        path = self.project.folder / file
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    def run(self, *more: str) -> Outcome:
        self._vendor.asked.clear()
        return self.project.run("eval", "a.eval.yaml", "--cache", *more)

    @property
    def asked(self) -> int:
        return len(self._vendor.asked)


def setting(project: Project, vendor: Vendor) -> Setting:
    """After a first run, whose answers are kept."""
    found = Setting(project, vendor)
    outcome = found.run()
    assert (outcome.code, found.asked) == (ExitCode.OK, 4)
    assert "  cache       0 hits, 4 misses\n" in outcome.out
    return found


def test_a_second_run_makes_no_request_and_costs_nothing(project: Project) -> None:
    with Vendor() as vendor:
        found = setting(project, vendor)
        first = project.rows()
        outcome = found.run("--json", "--budget-usd", "0.0000001")
        assert found.asked == 0
    assert outcome.code == ExitCode.OK
    told = outcome.json
    assert told["cache"] == {"hits": 4, "misses": 0}
    assert told["cost_usd"] == {"total": None, "unknown": 0}
    rows = project.rows(told["folder"])
    assert [row["candidate_answer"] for row in rows] == [row["candidate_answer"] for row in first]
    assert [row["usage"] for row in rows] == [row["usage"] for row in first]
    assert {row["cached"] for row in rows} == {True}
    assert {row["evaluator_results"][0]["cached"] for row in rows} == {True}
    assert not any("cached" in row or "cached" in row["evaluator_results"][0] for row in first)


@pytest.mark.parametrize(
    ("file", "old", "new", "asked"),
    [
        pytest.param("targets.yaml", "model: $", "temperature: 0.5\n    model: $", 2, id="setting"),
        pytest.param("a.eval.yaml", "Why?", "Why not?", 2, id="question"),
        pytest.param("notes.md", "Notes", "More notes", 2, id="attachment"),
        pytest.param("a.eval.yaml", "outcome: Answers.", "outcome: Replies.", 2, id="judges alone"),
        pytest.param(
            "targets.yaml", "name: default\n", "name: default\n    workers: 3\n", 0, id="speed"
        ),
    ],
)
def test_what_shapes_an_answer_is_asked_anew(
    project: Project, file: str, old: str, new: str, asked: int
) -> None:
    with Vendor(answer=lambda question: '{"score": 1.0}') as vendor:
        found = setting(project, vendor)
        found.change(file, old, new)
        found.run()
        assert found.asked == asked


def test_a_variable_that_names_the_model_counts(project: Project) -> None:
    with Vendor() as vendor:
        found = setting(project, vendor)
        found.environment(model="gpt-4o-mini")
        found.run()
        assert "gpt-4o-mini" in {asked.body["model"] for asked in vendor.asked}
        assert len(vendor.asked) == 4, "the answers differ, so they are judged anew"
        found.environment()
        found.run()
        assert found.asked == 0, "the old ones are still there"


def test_without_the_option_everything_is_asked(project: Project) -> None:
    with Vendor() as vendor:
        setting(project, vendor)
        vendor.asked.clear()
        outcome = project.run("eval", "a.eval.yaml")
        assert len(vendor.asked) == 4
    assert "  cache  " not in outcome.out


def test_no_key_is_in_the_cache(project: Project) -> None:
    with Vendor() as vendor:
        setting(project, vendor)
    for part in (project.folder / ".agentv" / "cache").iterdir():
        assert b"vendor-key" not in part.read_bytes()


def test_an_error_is_asked_again(project: Project) -> None:
    project.write(
        {
            "a.eval.yaml": "evalcases:\n  - id: one\n    input_messages: "
            "[{role: user, content: Well?}]\n    evaluators: [{type: contains, value: well}]\n",
            "targets.yaml": "targets:\n  - name: default\n    provider: cli\n"
            "    command_template: 'cat answer && echo asked >> asked'\n",
        }
    )
    failed = project.run("eval", "a.eval.yaml", "--cache")
    assert failed.code == ExitCode.ERRORS
    project.write({"answer": "All is well."})
    assert [project.run("eval", "a.eval.yaml", "--cache").code for _ in range(2)] == [0, 0]
    assert (project.folder / "asked").read_text() == "asked\n"


def test_a_batch_holds_only_what_the_cache_does_not(project: Project) -> None:
    target = "targets:\n  - {name: default, provider: mock, echo: true, provider_batching: true"
    case = (
        "  - id: {id}\n    input_messages: [{{role: user, content: Well?}}]\n"
        "    evaluators: [{{type: contains, value: Well}}]\n"
    )
    project.write(
        {"targets.yaml": target + "}\n", "a.eval.yaml": f"evalcases:\n{case.format(id='a')}"}
    )
    assert project.run("eval", "a.eval.yaml", "--cache").code == ExitCode.OK
    project.write({"a.eval.yaml": f"evalcases:\n{case.format(id='a')}{case.format(id='b')}"})
    outcome = project.run("eval", "a.eval.yaml", "--cache")
    assert "  cache       1 hit, 1 miss\n" in outcome.out


def test_a_programs_own_target_is_not_kept(project: Project) -> None:
    """A change in its code could not be seen."""
    events: list[Event] = []

    class Notes:
        def handle(self, event: Event) -> None:
            events.append(event)

    case = {"id": "one", "input_messages": [{"role": "user", "content": "Well?"}]}
    for answer in ("well", "not at all"):
        run = evaluate(
            [case],
            target=ScriptedProvider([answer]),
            evaluators=[{"type": "contains", "value": "well"}],
            cache=True,
            cwd=project.folder,
            sinks=[Notes()],
        )
        assert [row.candidate_answer for row in run.rows()] == [answer]
    said = {event.message for event in events if isinstance(event, Notice)}
    assert said == {
        "the answers of 'ScriptedProvider' are not kept: a change in its code cannot be seen"
    }


def test_a_rehearsal_leaves_the_cache_alone(project: Project) -> None:
    with Vendor() as vendor:
        found = Setting(project, vendor)
        found.run("--dry-run")
    assert not (project.folder / ".agentv" / "cache").exists()


def test_a_file_that_is_no_cache_is_said_in_a_line(project: Project) -> None:
    project.write({".agentv/cache/responses.sqlite": b"something else" * 100})
    with Vendor() as vendor:
        found = Setting(project, vendor)
        outcome = found.run()
    assert outcome.code == ExitCode.USAGE
    assert outcome.err.startswith("Error: .agentv/cache/responses.sqlite is no response cache (")
    assert outcome.err.count("\n") == 1
    assert project.run("cache", "stats").code == ExitCode.USAGE
    assert project.run("cache", "clear", "--yes").code == ExitCode.OK
    with Vendor() as vendor:
        setting(project, vendor)


def test_stats_say_what_there_is(project: Project) -> None:
    assert project.run("cache", "stats").out == (
        "  answers     0\n  cache       .agentv/cache/responses.sqlite\n"
    )
    with Vendor() as vendor:
        setting(project, vendor)
    outcome = project.run("cache", "stats")
    assert outcome.out.startswith("  answers     4\n  kept        ")
    told = project.run("cache", "stats", "--json").json
    assert (told["path"], told["answers"]) == (".agentv/cache/responses.sqlite", 4)
    assert list(told) == ["path", "answers", "size_bytes", "oldest", "newest"]


def test_clear_empties_it_once_that_is_agreed_to(project: Project) -> None:
    with Vendor() as vendor:
        found = setting(project, vendor)
        refused = project.run("cache", "clear")
        assert refused.code == ExitCode.USAGE
        assert "Nobody can be asked whether to clear 4 answers in" in refused.err
        assert json.loads(project.run("cache", "stats", "--json").out)["answers"] == 4
        cleared = project.run("cache", "clear", "--yes")
        assert cleared.out == "  cleared     4 answers in .agentv/cache/responses.sqlite\n"
        found.run()
        assert found.asked == 4
    assert project.run("cache", "clear", "--yes").code == ExitCode.OK
    assert project.run("cache", "clear").out.startswith("  empty")
