"""The pages of the documentation, cut into code blocks that know where they stand.

A block is given a file name by its first line (`# file: evals/first.eval.yaml`) or, where the
format has no comments, by a line above it (`<!-- file: cases.jsonl -->`). `# add to: targets.yaml`
appends the block to a file that is there already. A line above a block may also hold a remark for
the tests: `<!-- compile only -->`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("examples/*/README.md")),
]

_FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>[\w-]*)$")
_REMARK = re.compile(r"^<!-- (.+) -->$")
_NAMED = re.compile(r"^(?:# |<!-- )(?P<how>file|add to): (?P<name>\S+?)(?: -->)?$")


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced code block."""

    page: Path
    line: int
    """Of its first line of content; 1-based."""
    language: str
    text: str
    remark: str = ""
    """What the comment above it says."""
    file: str | None = None
    """The file that it is."""
    appends: bool = False
    """Whether it is added to that file."""

    @property
    def place(self) -> str:
        """`docs/targets.md:42`."""
        return place(self.page, self.line)


def place(page: Path, line: int) -> str:
    """A line of a page, as terminals and editors open it."""
    return f"{page.relative_to(ROOT)}:{line}"


def page_id(page: Path) -> str:
    """The name of a page in test ids."""
    return str(page.relative_to(ROOT))


def blocks_of(page: Path) -> Iterator[Block]:
    """The blocks of a page in their order."""
    lines = page.read_text("utf-8").splitlines()
    number = 0
    while number < len(lines):
        fence = _FENCE.match(lines[number])
        number += 1
        if fence is None:
            continue
        assert not fence["indent"], f"{place(page, number)}: start code blocks in column 1"
        end = lines.index(fence["ticks"], number)
        text = "".join(f"{line}\n" for line in lines[number:end])
        above = _REMARK.match(lines[number - 2]) if number > 1 else None
        yield _block(page, number + 1, fence["language"], text, above[0] if above else "")
        number = end + 1


def prose_of(page: Path) -> Iterator[tuple[int, str]]:
    """The lines of a page outside code blocks, with their numbers."""
    closing = None
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if closing is not None:
            closing = None if line == closing else closing
        elif fence is not None:
            closing = fence["ticks"]
        else:
            yield number, line


def _block(page: Path, line: int, language: str, text: str, above: str) -> Block:
    named = _NAMED.match(above) or _NAMED.match(text.split("\n", 1)[0])
    return Block(
        page=page,
        line=line,
        language=language,
        text=text,
        remark=above.removeprefix("<!-- ").removesuffix(" -->"),
        file=named["name"] if named else None,
        appends=named is not None and named["how"] == "add to",
    )
