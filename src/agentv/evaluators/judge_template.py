"""An author's prompt for a judge: inline text or a file, and what can be wrong with it."""

from collections.abc import Iterator
from pathlib import Path, PurePath

from agentv.core.judge_prompt import VARIABLES, unknown_variables, variables_of
from agentv.errors import AuthorError
from agentv.evaluators.reference import is_plain_path, missing_file
from agentv.model.options import FileFinder, OptionProblem
from agentv.model.problem import KeyPath

_TEXT_FILES = frozenset({".md", ".txt", ".prompt", ".j2", ".jinja", ".jinja2", ".tmpl", ".hbs"})


def read_template(given: str, files: FileFinder, at: KeyPath, *, is_path: bool) -> str:
    """The text of a template.

    Without `is_path` the value is taken for a file when one is found under it. A text with braces
    or line breaks is no file name.

    Raises:
        TemplateError: It is a file that cannot be had; the problem says why.
    """
    may_be_path = is_path or not ("\n" in given or "{{" in given or not given.strip())
    path = files.find(given) if may_be_path else None
    if path is not None:
        return _read(path, given, at)
    if is_path or (may_be_path and _looks_like_path(given)):
        raise TemplateError(missing_file(given, files, at))
    return given


def template_problems(template: str, at: KeyPath) -> Iterator[OptionProblem]:
    """Variables that do not exist, and the one that must."""
    for unknown in unknown_variables(template):
        near = f"did you mean '{unknown.nearest}'? " if unknown.nearest else ""
        yield OptionProblem(
            path=at,
            message=f"unknown variable '{unknown.name}' in line {unknown.line} of the prompt",
            hint=f"{near}there are {', '.join(VARIABLES)}",
            code="unknown-variable",
        )
    if "candidate_answer" not in variables_of(template):
        yield OptionProblem(
            path=at,
            message="the prompt does not use {{ candidate_answer }}, so no answer would be judged",
            hint="put {{ candidate_answer }} where the judge is to read the answer",
            code="missing-variable",
        )


class TemplateError(AuthorError):
    """A template that cannot be read."""

    def __init__(self, problem: OptionProblem) -> None:
        self.problem = problem
        super().__init__(problem.message)


def _looks_like_path(given: str) -> bool:
    return is_plain_path(given) or PurePath(given).suffix.lower() in _TEXT_FILES


def _read(path: Path, given: str, at: KeyPath) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        message, hint, code = (
            f"the file '{given}' is not UTF-8 text",
            "save it as UTF-8",
            "not-utf8",
        )
        cause: Exception = error
    except IsADirectoryError as error:
        message, hint, code = f"'{given}' is a folder", "name a file in it", "missing-file"
        cause = error
    except OSError as error:
        message, hint, code = (
            f"the file '{given}' cannot be read: {error.strerror}",
            None,
            "unreadable",
        )
        cause = error
    problem = OptionProblem(path=at, message=message, hint=hint, code=code)
    raise TemplateError(problem) from cause
