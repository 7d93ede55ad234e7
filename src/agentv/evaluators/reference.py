"""References to files in evaluators' options."""

import re

from agentv.model.options import FileFinder, OptionProblem
from agentv.model.problem import KeyPath

_PLAIN_PATH = re.compile(r"[\w.@+-]*/[\w.@+/-]*")


def is_plain_path(text: str) -> bool:
    """Whether a text is one word with a slash in it, and nothing that a shell would act on."""
    return _PLAIN_PATH.fullmatch(text) is not None


def missing_file(
    reference: str, files: FileFinder, at: KeyPath, *, kind: str = "file"
) -> OptionProblem:
    """A file or folder that is in none of the places where it was looked for."""
    tried = ", ".join(str(place) for place in files.tried(reference))
    message = f"no such {kind} '{reference}'"
    return OptionProblem(path=at, message=message, hint=f"tried {tried}", code="missing-file")
