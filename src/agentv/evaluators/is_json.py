"""Whether the answer is JSON."""

import json

from agentv.evaluators.finding import score_of
from agentv.model.options import EvaluatorOptions
from agentv.model.score import EvaluationContext, Score
from agentv.protocols import EvaluatorBuild


class IsJsonOptions(EvaluatorOptions, frozen=True, kw_only=True):
    """Settings of `is_json`."""

    negate: bool = False
    """Pass when the answer is not JSON."""


class IsJson:
    """The whole answer, white space around it aside, is one JSON value as RFC 8259 has it.

    Text or a code fence around the value fails, as do `NaN` and infinities.
    """

    def __init__(self, options: IsJsonOptions, build: EvaluatorBuild) -> None:
        del build
        self._negate = options.negate

    async def evaluate(self, context: EvaluationContext) -> Score:
        """1 or 0."""
        mistake = _mistake(context.candidate_answer.strip())
        return score_of(
            found=mistake is None,
            negate=self._negate,
            says="is JSON",
            denies=f"is not JSON: {mistake}",
        )


def _mistake(text: str) -> str | None:
    """What is wrong with a text as JSON, and where; `None` if it is JSON."""
    try:
        # Numbers are not converted: JSON sets no limit to their length, Python does.
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_refuse)
    except RecursionError:
        return "it is nested too deeply to be read"
    except json.JSONDecodeError as error:
        return f"{error.msg} at line {error.lineno}, column {error.colno}"
    except ValueError as error:
        return str(error)
    return None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")
