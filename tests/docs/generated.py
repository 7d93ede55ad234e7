"""The parts of the pages that are made by running AgentV: `--help` texts and printed problems.

`python tests/docs/regenerate.py` writes them; the tests only compare.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from doc_blocks import ROOT, Block, blocks_of
from page_story import BASE_TARGETS, exchanges

from agentv.testing import Project

HELP_PAGE = ROOT / "docs" / "cli.md"
ERRORS_PAGE = ROOT / "docs" / "errors.md"

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
    wrong: Block | None = None
    code = ""
    headings = _sections()
    for block in blocks_of(ERRORS_PAGE):
        code = max((line, name) for line, name in headings.items() if line < block.line)[1]
        if block.file:
            wrong = block
        elif block.language == "text" and wrong is not None:
            yield Part(block=block, wanted=_printed(wrong, code))
            wrong = None


def error_sections() -> list[str]:
    """The codes that have a section, in the order of the page."""
    return list(_sections().values())


def _sections() -> dict[int, str]:
    text = ERRORS_PAGE.read_text("utf-8")
    return {text.count("\n", 0, m.start()) + 1: m[1] for m in _HEADING.finditer(text)}


def _printed(wrong: Block, code: str) -> str:
    with TemporaryDirectory() as folder:
        project = Project(Path(folder))
        (project.folder / ".git").mkdir()
        if "no-targets" != code:
            project.write({"targets.yaml": BASE_TARGETS})
        project.write({str(wrong.file): wrong.text})
        if str(wrong.file).endswith(".jsonl"):
            project.write({"evals/example.eval.yaml": f"evalcases: {Path(str(wrong.file)).name}\n"})
        outcome = project.run("validate", ".")
        lines = outcome.err.replace(f"{folder}/", "/home/you/project/").splitlines()
        found = [line for line in lines if line.endswith(f"[{code}]")]
        return f"{found[0]}\n" if found else f"(nothing says {code})\n{outcome.err}"
