"""Suites over a mock, a command and an HTTP service, and a record of everybody who was asked."""

import json
import os
import shlex
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from processes import LIMIT_SECONDS, alive_in_environment
from story import case, command, contains, mock, suite, targets
from vendor import Vendor

Asking = tuple[str, str]
"""Who was asked (`cli`, `web`, `judge`, `code`), and of which case."""

KEY = "vendor-key"
_CANDIDATE = "[[ ## candidate_answer ## ]]"
_QUIET_SECONDS = 0.05
_MAIN = "from agentv.__main__ import main; main()"
_LIMIT = "from resource import *; setrlimit(RLIMIT_FSIZE, ({0}, RLIM_INFINITY)); "
_UNLIMITED = "ulimit -S -f unlimited"
"""What is asked keeps its record, however small the files of the run must be."""
_SCRIPT = """\
#!/bin/sh
{unlimited}
input=$(cat)
rest=${{input#*'"eval_id"'*'"'}}
id=${{rest%%'"'*}}
[ "$id" != "$rest" ] || exit 1  # whoever asks was killed in the middle of the question
echo "code $id" >> {log}
sleep {pause}
echo '{{"score": 1.0, "hits": ["It ran"], "misses": []}}'
"""


@dataclass(frozen=True, kw_only=True)
class Flavour:
    """What kind of suites."""

    cases: int = 20
    """In each of the three suites."""
    failing: bool = False
    """Whether every fifth answer is wrong."""
    pause: float = 0.02
    """Seconds that whoever is asked takes."""
    padding: int = 0
    """Characters by which questions are longer than they need be."""


@dataclass
class KilledProject:
    """A folder in which runs are started and killed."""

    folder: Path
    flavour: Flavour
    vendor: Vendor
    mark: str
    """In the environment of everything that is started here."""
    control: "Outcome" = field(init=False)
    """What a run that nobody disturbs comes to."""
    runs: int = 0

    @property
    def planned(self) -> int:
        """How many rows a run has."""
        return 3 * self.flavour.cases

    def asked(self) -> Counter[Asking]:
        """How often everybody was asked so far, once nothing more is coming."""
        before = -1
        while alive_in_environment(self.mark) or self._asked().total() != before:
            before = self._asked().total()
            time.sleep(_QUIET_SECONDS)
        return self._asked()

    def start(self, *arguments: str, largest: int | None = None) -> "subprocess.Popen[bytes]":
        """Start `agentv` with its output in files (a pipe would have to be read).

        Args:
            arguments: Its command line.
            largest: The size in bytes beyond which no file can grow.
        """
        limit = _LIMIT.format(largest) if largest is not None else ""
        out, err = self.folder / "stdout", self.folder / "stderr"
        with out.open("wb") as stdout, err.open("wb") as stderr:
            return subprocess.Popen(
                [sys.executable, "-c", f"{limit}{_MAIN}", *arguments],
                cwd=self.folder,
                stdout=stdout,
                stderr=stderr,
                env={**os.environ, "KILL_HARNESS": self.mark},
            )

    @property
    def said(self) -> str:
        """What the last one that was started printed on standard error."""
        return (self.folder / "stderr").read_text("utf-8", "replace")

    @property
    def report(self) -> dict[str, Any] | None:
        """Its JSON summary, if it came to print one."""
        text = (self.folder / "stdout").read_text()
        try:
            found = json.loads(text)
        except ValueError:
            return None
        return found if "counts" in found else None

    def outcome(self, run: str, code: int, exported: str) -> "Outcome":
        """What a run that came to its end left."""
        report = self.report or {}
        return Outcome(
            code=code,
            rows=comparable_rows(self.folder / run / "results.jsonl"),
            export=comparable_rows(self.folder / exported),
            summary={key: value for key, value in report.items() if key not in _OF_ONE_RUN},
            files=sorted(path.name for path in (self.folder / run).iterdir()),
        )

    def _asked(self) -> Counter[Asking]:
        of_vendor = [
            ("judge" if _CANDIDATE in one.question.text else "web", one.case)
            for one in list(self.vendor.asked)
        ]
        lines = (self.folder / "asked").read_text().splitlines()
        return Counter([*of_vendor, *((line.split()[0], line.split()[1]) for line in lines)])


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What two runs must have in common."""

    code: int
    rows: list[dict[str, Any]]
    export: list[dict[str, Any]]
    summary: dict[str, Any]
    files: list[str]


_OF_ONE_RUN = ("run_id", "folder", "resumed", "attempts")


@contextmanager
def killed_project(folder: Path, flavour: Flavour) -> Iterator[KilledProject]:
    """Write the suites, start the service, and run everything once undisturbed."""
    with Vendor(key=KEY, latency=flavour.pause) as vendor:
        project = KilledProject(folder, flavour, vendor, mark=f"kills-{os.getpid()}-{folder.name}")
        _write(project)
        options = ("--workers", "16", "--json", "--export", "control.jsonl")
        code = project.start("eval", *SUITES, "--out", "control", *options).wait(LIMIT_SECONDS)
        project.control = project.outcome("control", code, "control.jsonl")
        assert len(project.control.rows) == project.planned, project.said
        yield project


SUITES = ("mock.eval.yaml", "cli.eval.yaml", "web.eval.yaml")


def _write(project: KilledProject) -> None:
    folder, flavour = project.folder, project.flavour
    log = shlex.quote(str(folder / "asked"))
    judge = {"type": "llm_judge", "target": "judge"}
    code = {"type": "code", "script": "./score.sh"}
    script = folder / "score.sh"
    script.write_text(_SCRIPT.format(log=log, pause=flavour.pause, unlimited=_UNLIMITED))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    (folder / "asked").touch()
    (folder / ".git").mkdir()
    for name, evaluators in (("mock", [code]), ("cli", [code]), ("web", [judge, code])):
        cases = (_case(name, number, evaluators, flavour) for number in range(flavour.cases))
        text = suite(*cases, execution={"target": name})
        (folder / f"{name}.eval.yaml").write_text(text)
    milliseconds = round(flavour.pause * 1000)
    api = {"provider": "openai", "base_url": f"{project.vendor.url}/v1", "api_key": KEY}
    note = f"{_UNLIMITED}; echo cli {{EVAL_ID}} >> {log}"
    template = f"{note}; sleep {flavour.pause}; echo Here is {{EVAL_ID}}."
    (folder / "targets.yaml").write_text(
        targets(
            mock("Here is case-m.", name="mock", delay_min_ms=1, delay_max_ms=2 * milliseconds),
            command(template, name="cli"),
            {"name": "web", "model": "m", **api},
            {"name": "judge", "model": "j", **api},
        )
    )


def _case(name: str, number: int, evaluators: list[Any], flavour: Flavour) -> Any:
    id_ = f"case-{name[0]}{number}"
    wrong = flavour.failing and number % 5 == 0
    said = contains("another thing" if wrong else "case-")
    question = f"What is {id_}? " + "x" * flavour.padding
    return case(id_, said, *evaluators, question=question)


def comparable_rows(path: Path) -> list[dict[str, Any]]:
    """Rows without their times and attempts, in an order of their own."""
    rows = (json.loads(line) for line in path.read_bytes().splitlines())
    return sorted(map(_comparable, rows), key=lambda row: (row["suite"], row["eval_id"]))


def _comparable(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without its times and attempts."""
    results = [
        {key: value for key, value in result.items() if key != "duration_ms"}
        for result in row["evaluator_results"]
    ]
    own = {key: value for key, value in row.items() if key not in _TIMES}
    return {**own, "evaluator_results": results}


_TIMES = ("timestamp", "duration_ms", "attempts")
