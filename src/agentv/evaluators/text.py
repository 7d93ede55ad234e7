"""Checks that compare the answer with a text."""

from collections.abc import Iterator

from agentv.evaluators.finding import quoted, score_of
from agentv.model.options import EvaluatorOptions, FileFinder, OptionProblem
from agentv.model.score import EvaluationContext, Score
from agentv.protocols import EvaluatorBuild


class TextOptions(EvaluatorOptions, frozen=True, kw_only=True):
    """Settings of the checks that compare the answer with a text."""

    value: str
    """The text to look for; must not be blank."""
    negate: bool = False
    """Pass when the answer does not have the text."""

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """A blank text, which every answer has."""
        del files
        if not self.value.strip():
            yield OptionProblem(
                path=("value",),
                message="the text to look for is blank",
                hint="write the text that the answer should have",
            )


class TextCheck:
    """The common part: line endings do not count, and the finding is put into words."""

    says = ""
    denies = ""

    def __init__(self, options: TextOptions, build: EvaluatorBuild) -> None:
        del build
        self._value = _lines(options.value)
        self._negate = options.negate

    async def evaluate(self, context: EvaluationContext) -> Score:
        """1 or 0."""
        value = quoted(self._value)
        return score_of(
            found=self.holds(_lines(context.candidate_answer), self._value),
            negate=self._negate,
            says=self.says.format(value),
            denies=self.denies.format(value),
        )

    def holds(self, answer: str, value: str) -> bool:
        """Whether the answer has the text."""
        raise NotImplementedError


class Contains(TextCheck):
    """The text stands somewhere in the answer, character for character."""

    says, denies = "contains {}", "does not contain {}"

    def holds(self, answer: str, value: str) -> bool:
        """Whether the answer has the text."""
        return value in answer


class IContains(TextCheck):
    """Like `Contains`, but upper and lower case are the same."""

    says, denies = "contains {} in some case", "does not contain {} in any case"

    def holds(self, answer: str, value: str) -> bool:
        """Whether the answer has the text."""
        return value.casefold() in answer.casefold()


class Equals(TextCheck):
    """The answer is the text; white space around either does not count."""

    says, denies = "equals {}", "does not equal {}"

    def holds(self, answer: str, value: str) -> bool:
        """Whether the answer has the text."""
        return answer.strip() == value.strip()


class StartsWith(TextCheck):
    """The answer begins with the text; white space before either does not count."""

    says, denies = "starts with {}", "does not start with {}"

    def holds(self, answer: str, value: str) -> bool:
        """Whether the answer has the text."""
        return answer.lstrip().startswith(value.lstrip())


class EndsWith(TextCheck):
    """The answer ends with the text; white space after either does not count."""

    says, denies = "ends with {}", "does not end with {}"

    def holds(self, answer: str, value: str) -> bool:
        """Whether the answer has the text."""
        return answer.rstrip().endswith(value.rstrip())


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")
