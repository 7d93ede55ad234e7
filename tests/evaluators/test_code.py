"""Scores from an author's own script, run for real."""

import json
import sys
from pathlib import Path

import msgspec
import pytest
from evaluator_build import context, options_of, problems_of, score

from agentv.errors import AuthorError
from agentv.model.score import EvaluationContext, Score


def run(tmp_path: Path, source: str, given: EvaluationContext | str = "It is 4.") -> Score:
    """Score with a Python script of this text."""
    return score({"type": "code", "script": [sys.executable, "-c", source]}, given, folder=tmp_path)


def printed(tmp_path: Path, text: str) -> Score:
    """Score with a program that prints this text."""
    return score({"type": "code", "script": ["printf", "%s", text]}, "4", folder=tmp_path)


def test_the_script_reads_the_case_and_its_score_counts(tmp_path: Path) -> None:
    """Scenario: Code evaluator execution."""
    source = """
import json, sys
case = json.load(sys.stdin)
right = case["reference_answer"] in case["candidate_answer"]
print(json.dumps({"score": 1 if right else 0, "hits": [" right "], "misses": ["", None],
                  "reasoning": case["eval_id"], "more": [1]}))
"""
    assert run(tmp_path, source) == Score(value=1.0, hits=("right",), reasoning="sum")
    assert run(tmp_path, source, "five").value == 0.0


def test_stdin_holds_the_whole_case_as_utf_8(tmp_path: Path) -> None:
    """Scenario: Code evaluator execution."""
    case = context(
        'Größe "4"\n\u2028 \U0001f600',
        guideline_paths=("/r/a.instructions.md",),
        input_files=("/r/a.instructions.md", "/r/b.txt"),
        input_segments=[{"type": "text", "value": "What is 2 + 2?"}],
        trace=[{"tool": "calculator"}],
    )
    settings = {
        "type": "code",
        "script": "cat > stdin.json; echo '{\"score\": 1}'",
        "config": {"k": [1]},
    }
    assert score(settings, case, folder=tmp_path).value == 1.0

    raw = (tmp_path / "stdin.json").read_bytes()
    assert "Größe" in raw.decode("utf-8")
    assert json.loads(raw) == {
        "eval_id": "sum",
        "question": "What is 2 + 2?",
        "expected_outcome": "Says four.",
        "reference_answer": "4",
        "candidate_answer": 'Größe "4"\n\u2028 \U0001f600',
        "guideline_paths": ["/r/a.instructions.md"],
        "input_files": ["/r/a.instructions.md", "/r/b.txt"],
        "input_segments": [{"type": "text", "value": "What is 2 + 2?"}],
        "target": "default",
        "trace": [{"tool": "calculator"}],
        "config": {"k": [1]},
    }


def test_half_a_character_in_an_answer_reaches_the_script(tmp_path: Path) -> None:
    source = """
import json, sys
print(json.dumps({"score": int(json.load(sys.stdin)["candidate_answer"] == "a\\ud800")}))
"""
    assert run(tmp_path, source, "a\ud800").value == 1.0


def test_an_answer_never_reaches_the_shell(tmp_path: Path) -> None:
    settings = {"type": "code", "script": "cat >/dev/null; echo '{\"score\": 0.5}'"}
    answer = "'; touch pwned; echo '$(touch pwned)`touch pwned`"
    assert score(settings, answer, folder=tmp_path).value == 0.5
    assert list(tmp_path.iterdir()) == []


def test_lines_printed_before_the_verdict_do_no_harm(tmp_path: Path) -> None:
    assert printed(tmp_path, 'loading…\n{"score": 0}\n{"score": 0.25}\n\n').value == 0.25
    assert printed(tmp_path, '\n{\n  "score": 0.25\n}\n').value == 0.25


def test_hits_and_misses_are_not_capped(tmp_path: Path) -> None:
    points = [str(number) for number in range(9)]
    found = printed(tmp_path, json.dumps({"score": 1, "hits": points, "misses": points}))
    assert found.hits == found.misses == tuple(points)


def test_a_score_out_of_range_is_clamped_and_its_raw_value_kept(tmp_path: Path) -> None:
    found = printed(tmp_path, '{"score": -3}')
    assert (found.value, found.raw_value) == (0.0, -3.0)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "its output is empty"),
        ("fine", 'its output is not a JSON object, and neither is its last line; it ends "fine"'),
        ("5", 'its output is JSON but not an object; it ends "5"'),
        ('{"hits": []}', "its output has no `score`"),
        ('{"score": "1"}', 'its output has a `score` that is not a number: "1"'),
        ('{"score": true}', "its output has a `score` that is not a number: true"),
        ('{"score": NaN}', "its output has a `score` that is not a number: NaN"),
        ('{"score": 1} done', "its output is not a JSON object"),
    ],
)
def test_output_without_a_valid_score_counts_as_zero(
    tmp_path: Path, text: str, reason: str
) -> None:
    """Scenario: Code evaluator execution."""
    found = printed(tmp_path, text)

    assert (found.value, found.hits, found.error) == (0.0, (), None)
    assert found.parse_error is not None
    assert found.parse_error.startswith(reason)
    assert found.misses == (f"Code evaluator failed: {found.parse_error}",)


def test_a_script_that_fails_could_not_run_and_its_last_words_are_kept(tmp_path: Path) -> None:
    """Scenario: Code evaluator execution."""
    source = "print('{\"score\": 1}', flush=True); raise ValueError('no such ünit')"
    found = run(tmp_path, source)

    assert (found.value, found.hits, found.parse_error) == (0.0, (), None)
    assert found.error is not None
    assert found.error.startswith("exit code 1: Traceback")
    assert found.error.endswith("/ ValueError: no such ünit")
    assert found.misses == (f"Code evaluator failed: {found.error}",)


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ("exit 3", "exit code 3"),
        ("echo oops; exit 3", "exit code 3: oops"),
        ("kill -9 $$", "ended by signal 9 (SIGKILL)"),
        (["no-such-program"], "The program 'no-such-program' was not found."),
    ],
)
def test_however_a_script_fails_the_row_says_it(
    tmp_path: Path, script: str | list[str], error: str
) -> None:
    """Scenario: Code evaluator execution."""
    found = score({"type": "code", "script": script}, "4", folder=tmp_path)
    assert found.error == error
    assert found.misses == (f"Code evaluator failed: {error}",)


def test_long_last_words_are_cut_at_the_front(tmp_path: Path) -> None:
    found = run(tmp_path, "import sys; sys.exit('x' * 5000 + 'end')")
    assert found.error is not None
    assert found.error.startswith("exit code 1: …xxx")
    assert found.error.endswith("xend")
    assert len(found.error) < 700


def test_a_script_that_takes_too_long_could_not_run(tmp_path: Path) -> None:
    """Scenario: Code evaluator execution."""
    settings = {"type": "code", "script": "echo waiting >&2; sleep 60", "timeout_seconds": 0.5}
    found = score(settings, "4", folder=tmp_path)
    assert found.error == "no result within 0.5 s: waiting"
    assert found.misses == (f"Code evaluator failed: {found.error}",)


def test_a_script_that_does_not_read_its_input_is_fine(tmp_path: Path) -> None:
    settings = {"type": "code", "script": "echo '{\"score\": 1}'"}
    assert score(settings, "x" * 1_000_000, folder=tmp_path).value == 1.0


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('#!/bin/sh\nprintf \'{"score": 1, "reasoning": "%s"}\' "$(pwd -P)"\n')
    path.chmod(0o755)
    return path


def test_the_script_runs_in_the_eval_files_folder_unless_told_otherwise(tmp_path: Path) -> None:
    """Scenario: Code evaluator execution."""
    suite, checks = tmp_path / "suite", tmp_path / "checks"
    suite.mkdir()
    executable(checks / "own.sh")
    settings = {"type": "code", "script": "./../checks/own.sh"}

    def folder_of(**more: str) -> str | None:
        return score(settings | more, "4", folder=suite, folders=(suite, tmp_path)).reasoning

    assert folder_of() == str(suite.resolve())
    assert folder_of(cwd="checks") == str(checks.resolve())


@pytest.mark.parametrize("script", ["tools/a.sh", ["tools/a.sh"], "./tools/a.sh"])
def test_a_script_given_by_its_path_is_found_like_other_files(
    tmp_path: Path, script: str | list[str]
) -> None:
    """Scenario: Code evaluator execution."""
    suite = tmp_path / "my suite"
    suite.mkdir()
    executable(tmp_path / "tools" / "a.sh")
    settings = {"type": "code", "script": script}

    assert problems_of(settings, suite, tmp_path) == []
    assert score(settings, "4", folder=suite, folders=(suite, tmp_path)).value == 1.0


@pytest.mark.parametrize(
    ("settings", "path", "said"),
    [
        ({"script": " "}, ("script",), "the script is blank"),
        ({"script": []}, ("script",), "the script is blank"),
        ({"script": ["", ""]}, ("script",), "the script is blank"),
        ({"script": "checks/none.py"}, ("script",), "no such file 'checks/none.py'"),
        ({"script": ["./none.py", "-v"]}, ("script", 0), "no such file './none.py'"),
        ({"script": "true", "cwd": "none"}, ("cwd",), "no such folder 'none'"),
        ({"script": "true", "cwd": "file.txt"}, ("cwd",), "no such folder 'file.txt'"),
    ],
)
def test_a_script_that_cannot_run_is_a_mistake(
    tmp_path: Path, settings: dict[str, object], path: tuple[str | int, ...], said: str
) -> None:
    (tmp_path / "file.txt").touch()
    [problem] = problems_of({"type": "code", **settings}, tmp_path)
    assert (problem.path, problem.message) == (path, said)


@pytest.mark.parametrize("script", ["jq .score", "a/b.sh|c", "$HOME/x.sh", "~/x.sh", "python3.11"])
def test_what_only_a_shell_can_read_is_left_to_it(tmp_path: Path, script: str) -> None:
    assert problems_of({"type": "code", "script": script}, tmp_path) == []


@pytest.mark.parametrize("settings", [{}, {"script": 4}, {"script": "x", "timeout_seconds": 0}])
def test_settings_of_the_wrong_type_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        options_of({"type": "code", **settings})


def test_a_folder_that_has_vanished_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(AuthorError, match="the folder 'gone' is no longer there"):
        score({"type": "code", "script": "true", "cwd": "gone"}, "4", folder=tmp_path)


def test_the_older_name_of_the_type_is_understood(tmp_path: Path) -> None:
    settings = {"type": "code_judge", "script": "echo '{\"score\": 1}'"}
    assert score(settings, "4", folder=tmp_path).value == 1.0
