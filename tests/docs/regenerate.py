"""Write the generated parts of the documentation anew: `python tests/docs/regenerate.py`."""

import os
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from generated import Part, help_parts, problem_parts

from agentv.testing import Project


def main() -> None:
    """Bring every generated block up to date and say which changed."""
    os.environ["COLUMNS"] = "80"
    with TemporaryDirectory() as folder:
        _write(help_parts(Project(Path(folder))))
    _write(problem_parts())


def _write(parts: Iterable[Part]) -> None:
    # From the bottom of the page, so that the places of the blocks above stay true.
    for part in sorted(parts, key=lambda part: part.block.line, reverse=True):
        block = part.block
        if block.text == part.wanted:
            continue
        lines = block.page.read_text("utf-8").splitlines(keepends=True)
        first = block.line - 1
        lines[first : first + block.text.count("\n")] = [part.wanted]
        block.page.write_text("".join(lines), "utf-8")
        print(f"{block.place} changed")


if __name__ == "__main__":
    main()
