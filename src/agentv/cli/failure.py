"""What `--json` prints in place of results when there are none."""

from collections.abc import Iterable
from typing import Any

from agentv.errors import ExitCode
from agentv.model.problem import LoadError, Problem, key_path


def failure_json(error: BaseException, code: ExitCode) -> dict[str, Any]:
    """A command that came to nothing: why in words, and the mistakes in files if it was these."""
    problems = error.problems if isinstance(error, LoadError) else ()
    message = mistakes_in_words(problems) if problems else str(error) or type(error).__name__
    return {"exit_code": int(code), "error": message, "problems": problems_json(problems)}


def mistakes_in_words(problems: Iterable[Problem]) -> str:
    """`2 mistakes in files`; warnings are not mistakes."""
    number = sum(problem.severity == "error" for problem in problems)
    return f"{number} mistake{'' if number == 1 else 's'} in files"


def problems_json(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    """Problems as plain data, the same for every command."""
    return [
        {
            "file": p.file,
            "line": p.line,
            "column": p.column,
            "path": key_path(p.path),
            "severity": p.severity,
            "code": p.code,
            "message": p.message,
            "hint": p.hint,
        }
        for p in problems
    ]
