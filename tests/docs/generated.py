"""The parts of the pages that are made by running AgentV: `--help` texts and printed problems.

`python tests/docs/regenerate.py` writes them; the tests only compare.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from doc_blocks import ROOT, Block, blocks_of
from page_story import BASE_TARGETS, exchanges

from agentv.testing import Project

HELP_PAGE = ROOT / "docs" / "cli.md"
ERRORS_PAGE = ROOT / "docs" / "errors.md"

_EXAMPLE = "evals/example.eval.yaml"
_SUITE = """\
evalcases:
  - id: example
    outcome: Answers.
    input_messages: [{role: user, content: A question?}]
"""
_MADE = {
    "depth": (_EXAMPLE, b"evalcases: " + b"[" * 101),
    "empty-file": (_EXAMPLE, b""),
    "not-utf8": (_EXAMPLE, "evalcases:\n  - id: r\u00fcckgabe\n".encode("latin-1")),
    "too-many": ("evals/example.jsonl", b"{}\n" * 1_001),
}
"""Wrong files that a page cannot show."""

_HEADING = re.compile(r"^## ([a-z0-9-]+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Part:
    """A block of a page, and what it should hold."""

    block: Block
    wanted: str


def help_parts(project: Project) -> Iterator[Part]:
    """Each `$ agentv … --help` with its text. `COLUMNS` must be 80."""
    for block in blocks_of(HELP_PAGE):
        for _, command, _ in exchanges(block):
            if command.endswith("--help"):
                outcome = project.run(*command.split()[1:])
                yield Part(block=block, wanted=f"$ {command}\n{outcome.out}")


def problem_parts() -> Iterator[Part]:
    """Each printed problem that follows a wrong file, with the line that `validate` prints."""
    wrong: tuple[str, bytes] | None = None
    sections = _sections()
    for block in blocks_of(ERRORS_PAGE):
        above = [name for line, name in sections.items() if line < block.line]
        if block.file:
            wrong = block.file, block.text.encode()
        elif block.language == "text" and (found := wrong or _MADE.get(above[-1])):
            yield Part(block=block, wanted=_printed(*found, code=above[-1]))
            wrong = None


def error_sections() -> list[str]:
    """The codes that have a section, in the order of the page."""
    return list(_sections().values())


def _sections() -> dict[int, str]:
    text = ERRORS_PAGE.read_text("utf-8")
    return {text.count("\n", 0, m.start()) + 1: m[1] for m in _HEADING.finditer(text)}


def _printed(file: str, content: bytes, *, code: str) -> str:
    """The line with this code that `validate` prints of a project with this file."""
    with TemporaryDirectory() as folder:
        project = Project(Path(folder).resolve())
        suite = f"evalcases: {Path(file).name}\n" if file.endswith(".jsonl") else _SUITE
        project.write({".git/HEAD": "", _EXAMPLE: suite})
        if code != "no-targets":
            project.write({"targets.yaml": BASE_TARGETS})
        project.write({file: content})
        # Else a variable of this machine could be the nearest name to one that is not set.
        with patch.dict(os.environ, clear=True):
            outcome = project.run("validate", ".")
        lines = outcome.err.replace(str(project.folder), "/home/you/shop").splitlines()
        found = [line for line in lines if line.endswith(f"[{code}]")]
        return f"{found[0]}\n" if found else f"(nothing says {code})\n{outcome.err}"
