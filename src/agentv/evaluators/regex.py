"""Whether a regular expression is found in the answer."""

import re
import warnings
from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Literal

from agentv.evaluators.cpu_limit import CpuLimitReached, cpu_limit
from agentv.evaluators.finding import quoted, score_of
from agentv.model.options import EvaluatorOptions, FileFinder, OptionProblem
from agentv.model.score import EvaluationContext, Score
from agentv.protocols import EvaluatorBuild

SEARCH_SECONDS = 1.0
"""Processor time for one answer. Some patterns, `(a+)+$` say, take years over a line of text."""

Flag = Literal["ignore_case", "multiline", "dot_all"]
_FLAGS: dict[Flag, re.RegexFlag] = {
    "ignore_case": re.IGNORECASE,
    "multiline": re.MULTILINE,
    "dot_all": re.DOTALL,
}


class RegexOptions(EvaluatorOptions, frozen=True, kw_only=True):
    """Settings of `regex`."""

    pattern: str
    """In the syntax of Python's `re`; found anywhere in the answer unless it is anchored."""
    flags: list[Flag] = []
    """`ignore_case`; `multiline`: `^` and `$` match at lines; `dot_all`: `.` matches line ends."""
    negate: bool = False
    """Pass when the pattern is not found."""

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """A pattern that is empty, and so found everywhere, or is no pattern."""
        del files
        if not self.pattern:
            yield OptionProblem(
                path=("pattern",),
                message="the pattern is empty, so every answer matches",
                hint="write the pattern that the answer should match",
                code="bad-regex",
            )
            return
        try:
            compiled(self)
        except re.error as error:
            at = "" if error.pos is None else f" at position {error.pos + 1}"
            yield _bad(self.pattern, f"{error.msg}{at}")
        except (OverflowError, RecursionError):
            yield _bad(self.pattern, "it is too large or nested too deeply")


class Regex:
    """The pattern is found in the answer (with `CR LF` read as one line end).

    The search stops after `SEARCH_SECONDS`; the evaluator then counts as one that could not run, so
    neither it nor its negation passes.
    """

    def __init__(self, options: RegexOptions, build: EvaluatorBuild) -> None:
        del build
        self._options = options
        self._pattern = compiled(options)

    async def evaluate(self, context: EvaluationContext) -> Score:
        """1 or 0."""
        answer = context.candidate_answer.replace("\r\n", "\n")
        pattern = quoted(self._options.pattern)
        try:
            with cpu_limit(SEARCH_SECONDS):
                found = self._pattern.search(answer) is not None
        except CpuLimitReached:
            return Score(
                value=0.0,
                error=f"the pattern {pattern} was not done with this answer after "
                f"{SEARCH_SECONDS:g} s; avoid a repetition inside a repetition",
            )
        return score_of(
            found=found,
            negate=self._options.negate,
            says=f"matches {pattern}",
            denies=f"does not match {pattern}",
        )


def compiled(options: RegexOptions) -> re.Pattern[str]:
    """The pattern, ready for use.

    Raises:
        re.error: It is not a regular expression.
        OverflowError: It repeats something too often.
        RecursionError: It is nested too deeply.
    """
    flags = reduce(or_, (_FLAGS[flag] for flag in options.flags), re.NOFLAG)
    with warnings.catch_warnings():
        # Python warns of syntax that may one day mean something else; authors cannot act on it.
        warnings.simplefilter("ignore")
        return re.compile(options.pattern, flags)


def _bad(pattern: str, reason: str) -> OptionProblem:
    return OptionProblem(
        path=("pattern",),
        message=f"{quoted(pattern)} is not a regular expression: {reason}",
        hint="special characters that stand for themselves need a backslash; "
        "single quotes keep backslashes in YAML",
        code="bad-regex",
    )
