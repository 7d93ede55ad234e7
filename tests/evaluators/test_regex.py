"""Searching the answer with a regular expression."""

import re
import signal
import threading
import time

import pytest
from evaluator_build import problems_of, score

from agentv.evaluators.cpu_limit import CpuLimitReached, cpu_limit
from processes import LIMIT_SECONDS


@pytest.mark.parametrize(
    ("settings", "answer", "holds"),
    [
        ({"pattern": r"\b\d{4}-\d\d\b"}, "due 2031-04 or later", True),
        ({"pattern": "^b"}, "a\nb", False),
        ({"pattern": "^b$", "flags": ["multiline"]}, "a\r\nb\r\n", True),
        ({"pattern": "REFUND", "flags": ["ignore_case"]}, "a refund", True),
        ({"pattern": "a.b", "flags": ["dot_all"]}, "a\nb", True),
        ({"pattern": "A.B", "flags": ["dot_all", "ignore_case"]}, "a\nb", True),
        ({"pattern": "a.b"}, "a\nb", False),
        ({"pattern": "[[a]"}, "a", True),
    ],
)
def test_a_pattern_is_found_or_not_and_negation_turns_it(
    settings: dict[str, object], answer: str, holds: bool
) -> None:
    assert score({"type": "regex", **settings}, answer).value == float(holds)
    assert score({"type": "regex", "negate": True, **settings}, answer).value == float(not holds)


def test_the_finding_names_the_pattern() -> None:
    check = {"type": "regex", "pattern": "fo+"}
    assert score(check, "food").hits == ('matches "fo+"',)
    assert score(check, "bar").misses == ('does not match "fo+"',)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("", "the pattern is empty, so every answer matches"),
        (
            "ab(c",
            '"ab(c" is not a regular expression: missing ), unterminated subpattern at position 3',
        ),
        ("*", '"*" is not a regular expression: nothing to repeat at position 1'),
        ("a{9999999999}", '"a{9999999999}" is not a regular expression: it is too large'),
        ("(" * 5000 + ")" * 5000, "nested too deeply"),
    ],
)
def test_a_pattern_that_does_not_compile_is_a_mistake_with_its_position(
    pattern: str, message: str
) -> None:
    [problem] = problems_of({"type": "regex", "pattern": pattern})
    assert problem.path == ("pattern",)
    assert problem.code == "bad-regex"
    assert message in problem.message


def test_a_good_pattern_has_no_problems() -> None:
    assert problems_of({"type": "regex", "pattern": "a+", "flags": ["multiline"]}) == []


@pytest.mark.parametrize("negate", [False, True])
def test_a_pattern_that_would_take_years_cannot_hold_up_the_run_nor_pass(negate: bool) -> None:
    began = time.process_time()
    result = score({"type": "regex", "pattern": "(a+)+$", "negate": negate}, "a" * 60 + "!")

    assert time.process_time() - began < 3
    assert result.value == 0.0
    assert result.error is not None
    assert '"(a+)+$" was not done' in result.error


def test_the_limit_leaves_no_timer_and_no_handler_behind() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with pytest.raises(CpuLimitReached), cpu_limit(0.02):
        re.search("(a+)+$", "a" * 60 + "!")
    with cpu_limit(60):
        pass

    assert signal.getsignal(signal.SIGVTALRM) == before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_without_the_main_thread_there_is_no_limit_but_a_result() -> None:
    found: list[float] = []
    check = {"type": "regex", "pattern": "4"}
    thread = threading.Thread(target=lambda: found.append(score(check, "It is 4.").value))
    thread.start()
    thread.join(LIMIT_SECONDS)
    assert found == [1.0]
