"""How a run is followed: alive on a terminal, plain lines elsewhere, and never on stdout."""

import re
from typing import Any

import pytest

from agentv.cli.progress import LineProgress
from agentv.errors import ExitCode
from agentv.model.event import AttemptFailed, Notice, RunStarted, TrialFinished, TrialStarted
from agentv.model.result import ErrorInfo, TrialResult, Verdict
from agentv.testing import Project
from story import case, command, contains, mock, suite, targets
from terminal import in_pipes, on_terminal

FOUR = contains("four")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def two_cases(project: Project, **more: Any) -> Project:
    return project.write(
        {
            "a.eval.yaml": suite(case("good", FOUR), case("bad", contains("five")), **more),
            "targets.yaml": targets(mock("It is four.")),
        }
    )


def result(number: int, verdict: Verdict = "pass") -> TrialResult:
    broken = ErrorInfo(kind="exit", message="exit code 3")
    return TrialResult(
        eval_id=f"case-{number}",
        dataset="d",
        suite="a.eval.yaml",
        conversation_id=None,
        target="default",
        trial=1,
        attempts=1,
        timestamp="2030-01-02T12:00:00.000Z",
        duration_ms=1.0,
        verdict=verdict,
        score={"pass": 1.0, "fail": 0.25}.get(verdict),
        hits=(),
        misses=("too short",) if verdict == "fail" else (),
        reasoning=None,
        candidate_answer="four",
        reference_answer="",
        raw_request=None,
        evaluator_results=(),
        usage=None,
        trace=None,
        error=broken if verdict == "error" else None,
        digest="d",
    )


class TestLines:
    def test_one_for_each_trial_of_a_small_run(self) -> None:
        lines: list[str] = []
        progress = LineProgress(write=lines.append)
        progress.handle(RunStarted(total=3, workers=2, folder="runs/1"))
        for number, verdict in enumerate(("pass", "fail", "error"), 1):
            progress.handle(TrialStarted(eval_id=f"case-{number}", target="default"))
            progress.handle(TrialFinished(result=result(number, verdict)))  # type: ignore[arg-type]

        assert lines == [
            "Running 3 trials with 2 workers -> runs/1",
            "  [1/3] ✓ case-1 (default) 1.00",
            "  [2/3] ✗ case-2 (default) 0.25  too short",
            "  [3/3] ! case-3 (default)  exit code 3",
        ]

    def test_a_large_run_gets_twenty_and_whatever_needs_a_look(self) -> None:
        lines: list[str] = []
        progress = LineProgress(write=lines.append)
        progress.handle(RunStarted(total=1000, workers=8, folder=None))
        for number in range(1, 1001):
            verdict: Verdict = "fail" if number == 777 else "pass"
            progress.handle(TrialFinished(result=result(number, verdict)))

        assert len(lines) == 22
        assert lines[-1] == "  [1000/1000] 999 passed, 1 failed, 0 errors"
        assert "  [777/1000] ✗ case-777 (default) 0.25  too short" in lines

    @pytest.mark.parametrize("verbose", [False, True])
    def test_retries_and_warnings_always_and_details_when_asked(self, verbose: bool) -> None:
        lines: list[str] = []
        progress = LineProgress(verbose=verbose, write=lines.append)
        progress.handle(AttemptFailed(eval_id="a", target="t", attempt=1, message="slow"))
        progress.handle(Notice(level="warning", message="no batch"))
        progress.handle(Notice(level="verbose", message="ran it"))
        progress.handle(TrialStarted(eval_id="a", target="t"))

        always = ["  ↻ a (t) attempt 1: slow; trying again", "warning: no batch"]
        assert lines == [*always, *(["  · ran it", "  … a on t"] if verbose else [])]


def test_in_a_pipe_there_are_plain_lines_and_results_stand_alone(project: Project) -> None:
    outcome = in_pipes(two_cases(project).folder, "eval", "a.eval.yaml", env={"TERM": "xterm"})

    assert outcome.code == ExitCode.GATE_FAILED
    assert "\x1b" not in outcome.out + outcome.err
    assert "  [2/2] ✗ bad (default) 0.00" in outcome.err
    assert "Running" not in outcome.out
    assert "a on default" in outcome.out


def test_on_a_terminal_it_moves_and_is_taken_away(project: Project) -> None:
    slow = mock("It is four.", delay_ms=300)
    two_cases(project).write({"targets.yaml": targets(slow)})
    with on_terminal(project.folder, "eval", "a.eval.yaml") as terminal:
        terminal.wait_for("▸ bad (default)")
        code = terminal.end()

    assert code == ExitCode.GATE_FAILED
    assert "\x1b[?25l" in terminal.seen
    assert terminal.seen.rindex("\x1b[?25h") > terminal.seen.rindex("\x1b[?25l")
    assert "\x1b[2K" in terminal.seen
    text = terminal.text
    assert text.count("✗ bad (default) 0.00") == 1
    assert "▸" not in text[text.rindex("a on default") :]


@pytest.mark.parametrize(
    "env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "dumb terminal"]
)
def test_colours_can_be_refused(project: Project, env: dict[str, str]) -> None:
    with on_terminal(two_cases(project).folder, "eval", "a.eval.yaml", env=env) as terminal:
        terminal.end()

    assert "bad (default)" in terminal.seen
    coloured = {code for code in COLOUR.findall(terminal.seen) if re.search(r"\b[349]\d", code)}
    assert coloured == set()


def test_colours_appear_on_a_terminal(project: Project) -> None:
    with on_terminal(two_cases(project).folder, "eval", "a.eval.yaml") as terminal:
        terminal.end()

    assert re.search(r"\x1b\[31m[^\n]*below the gate", terminal.seen)


class TestUntrustedText:
    """Nothing that a file or an agent says is obeyed by the terminal."""

    WICKED = "\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\ \x1b[2Jcls \x07 \u202egnp.exe \r9 \x9b31m"
    SIGNS = ("\x1b]", "\x1b[2J", "\x07", "\u202e", "\x9b")

    def story(self, project: Project) -> Project:
        """Ids, answers, errors and reasons that are full of control characters."""
        say = 'printf \'{"score": 0, "misses": ["\\\\u001b[2J \\\\u202e"]}\''
        project.write(
            {
                "a.eval.yaml": suite(
                    case(f"id {self.WICKED}", {"type": "code", "script": say}),
                    case("fails", FOUR, execution={"target": "broken"}),
                ),
                "targets.yaml": targets(
                    mock(self.WICKED),
                    command('printf "\\033]0;title\\007\\033[2J" >&2; exit 3', name="broken"),
                ),
            }
        )
        return project

    def test_in_pipes(self, project: Project) -> None:
        outcome = self.story(project).run("eval", "a.eval.yaml", "--verbose")

        assert outcome.code == ExitCode.GATE_FAILED
        shown = outcome.out + outcome.err
        assert not [sign for sign in (*self.SIGNS, "\x1b", "\r") if sign in shown]
        assert "\\x1b]8;;http://evil" in shown
        assert "\\u202e" in shown

    def test_on_a_terminal(self, project: Project) -> None:
        with on_terminal(self.story(project).folder, "eval", "a.eval.yaml") as terminal:
            terminal.end()

        assert not [sign for sign in self.SIGNS if sign in terminal.seen]
        assert "\\x1b[2J" in terminal.seen

    def test_in_mistakes(self, project: Project) -> None:
        project.write({"a.eval.yaml": suite(case("sum", {"type": f"x{self.WICKED}"}))})
        outcome = project.run("validate", "a.eval.yaml")

        assert outcome.code == ExitCode.USAGE
        assert not [sign for sign in (*self.SIGNS, "\x1b", "\r") if sign in outcome.err]
