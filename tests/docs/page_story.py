"""A page read as a story: its files are written, its commands and programs are run, in order."""

import contextlib
import io
import json
import re
import shlex
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from doc_blocks import ROOT, Block, blocks_of, place

from agentv.loading.yaml12 import parse_yaml
from agentv.testing import Outcome, Project

BASE_TARGETS = """\
targets:
  - name: default
    provider: mock
    response: An answer.
  - name: judge
    provider: mock
    response: '{"score": 1.0}'
"""

_FILES = ROOT / "examples" / "receipts" / "files"
SHOWN = {
    "evals/receipt.png": (_FILES / "lunch.png").read_bytes(),
    "evals/rules.pdf": (_FILES / "travel-rules.pdf").read_bytes(),
}
"""Files that pages talk of and cannot hold."""

_CASE = {
    "id": "example",
    "outcome": "Answers.",
    "input_messages": [{"role": "user", "content": "A question."}],
}
_OF_FILES = frozenset({"evalcases", "targets", "guideline_patterns"})
_OF_SUITES = frozenset({"description", "dataset", "target", "execution", "evaluator", "$schema"})

_PROMPT = re.compile(r"(?:question|guidelines|chat prompt) of \S+")

# What differs from one machine and one moment to the next.
_CHANGING = (
    (re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{4}"), "RUN"),
    (re.compile(r"time +\d+\.\d+ s"), "time"),
    (re.compile(r'"duration_ms": ?[\d.]+'), "duration"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"), "TIME"),
)


@dataclass
class Story:
    """What happens on a page, in a project of its own."""

    page: Path
    project: Project
    sources: dict[str, Block] = field(default_factory=dict)
    """The files that the page wrote, with the blocks they come from."""
    last: Outcome | None = None
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__doc_example__"})
    """What programs of the page have defined so far."""

    def tell(self) -> None:
        """Write, run and compare, from top to bottom."""
        blocks = list(blocks_of(self.page))
        self.project.write(SHOWN)
        if not any(block.file == "targets.yaml" for block in blocks):
            self.project.write({"targets.yaml": BASE_TARGETS})
        for block in blocks:
            if block.file:
                self._write(block)
            elif block.language == "yaml":
                name, text = fragment_file(block)
                self.project.write({name: text})
                self.sources[name] = block
            elif block.language == "console":
                self._console(block)
            if block.language == "python" and block.remark.startswith("from "):
                assert_quoted(block)
            elif block.language == "python":
                self._program(block)

    def mistakes(self) -> Iterator[str]:
        """What `agentv validate` says of the page's files, brought to the lines of the page."""
        outcome = self.project.run("validate", ".", "--json")
        for problem in outcome.json["problems"]:
            block = self.sources.get(problem["file"])
            line = (problem["line"] or 1) - 1 if block and block.file and not block.appends else 0
            where = place(self.page, block.line + line) if block else problem["file"]
            yield f"{where}  {problem['path']}  {problem['message']}; {problem['hint']}"

    def assert_prompts(self) -> None:
        """What is shown as `question of` a case (`guidelines of`, `chat prompt of`) is sent so."""
        shown = [block for block in blocks_of(self.page) if _PROMPT.fullmatch(block.remark)]
        if not shown:
            return
        outcome = self.project.run("eval", ".", "--dry-run", "--quiet", "--out", "rehearsal")
        assert outcome.code == 0, outcome.err
        requests = {row["eval_id"]: row["raw_request"] for row in self.project.rows("rehearsal")}
        for block in shown:
            what, case = block.remark.split(" of ")
            sent = requests[case][what.replace(" ", "_")]
            wanted = json.loads(block.text) if block.language == "json" else block.text.strip()
            assert sent == wanted, f"{block.place}: the {what} is\n{sent}"

    def _write(self, block: Block) -> None:
        name = str(block.file)
        path = self.project.folder / name
        assert block.appends or name not in self.sources, f"{block.place}: {name} is there already"
        before = path.read_text("utf-8") if block.appends else ""
        self.project.write({name: before + block.text})
        self.sources[name] = block
        if name == "pyproject.toml":
            self.project.write(dict(installed(tomllib.loads(block.text))))

    def _console(self, block: Block) -> None:
        for number, command, shown in exchanges(block):
            where = f"{place(self.page, number)}: $ {command}"
            if command == "echo $?":
                assert self.last is not None, f"{where}: nothing was run before"
                assert shown == [str(self.last.code)], f"{where}: exit code {self.last.code}"
            elif command.startswith("agentv ") and "--help" not in command:
                self.last = self.project.run(*shlex.split(command)[1:])
                assert_shown(shown, self.last.err + self.last.out, where)

    def _program(self, block: Block) -> None:
        code = compile("\n" * (block.line - 1) + block.text, str(block.page), "exec")
        if block.file or block.remark == "compile only":
            return
        with contextlib.chdir(self.project.folder), contextlib.redirect_stdout(io.StringIO()):
            exec(code, self.names)


def installed(pyproject: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What installing a package leaves in a folder of `sys.path`, as far as entry points go."""
    package = pyproject["project"]
    folder = f"{package['name'].replace('-', '_')}-{package['version']}.dist-info"
    yield f"{folder}/METADATA", f"Name: {package['name']}\nVersion: {package['version']}\n"
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in package["entry-points"].items()
    )
    yield f"{folder}/entry_points.txt", points


def exchanges(block: Block) -> Iterator[tuple[int, str, list[str]]]:
    """The commands of a console block with their line and what is shown of their output."""
    command, start = "", block.line
    shown: list[str] = []
    for number, line in enumerate(block.text.splitlines(), block.line):
        if line.startswith("$ "):
            if command:
                yield start, command, shown
            command, start, shown = line.removeprefix("$ "), number, []
        else:
            shown.append(line)
    if command:
        yield start, command, shown


def assert_quoted(block: Block) -> None:
    """The block stands word for word in the file that the line above it names."""
    source = ROOT / block.remark.removeprefix("from ")
    assert block.text in source.read_text("utf-8"), f"{block.place}: {source} reads otherwise"


def assert_shown(shown: Sequence[str], output: str, where: str) -> None:
    """Every line shown appears in the output, in order; a line `…` stands for any number."""
    actual = iter([_steady(line) for line in output.splitlines()])
    for line in shown:
        if line.strip() in ("", "…"):
            continue
        assert _steady(line) in actual, f"{where}\nshows {line!r}; the output is\n{output}"


def fragment_file(block: Block) -> tuple[str, str]:
    """A YAML block that is a part of a file, made whole; and the file's name."""
    tree = parse_yaml(block.text)
    assert isinstance(tree, dict), f"{block.place}: not a mapping; show it below its key"
    if _OF_FILES & tree.keys():
        kind = next(iter(_OF_FILES & tree.keys()))
        suffix = {"evalcases": "eval", "targets": "targets"}.get(kind, "config")
        return f"fragment-{block.line}.{suffix}.yaml", block.text
    suite = {key: value for key, value in tree.items() if key in _OF_SUITES}
    case = _CASE | {key: value for key, value in tree.items() if key not in _OF_SUITES}
    return f"fragment-{block.line}.eval.yaml", json.dumps({**suite, "evalcases": [case]})


def _steady(line: str) -> str:
    for pattern, word in _CHANGING:
        line = pattern.sub(word, line)
    return line.rstrip()
