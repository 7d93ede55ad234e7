"""A project whose one target sends its cases in a batch, and runs of it as a user starts them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import IO, Any

import yaml
from batch_runs import settings
from batch_vendor import KEY, BatchVendor

from agentv.testing import Project
from processes import LIMIT_SECONDS, ending


class BatchProject:
    """Cases that ask for their own name; a run that is cut off is a process of its own."""

    def __init__(
        self,
        folder: Path,
        vendor: BatchVendor,
        api: str,
        *,
        cases: int = 30,
        judged: bool = False,
        wrong: int = 0,
        options: tuple[str, ...] = (),
        **keys: Any,
    ) -> None:
        """Write its files.

        Args:
            folder: Made.
            vendor: Answers.
            api: Of the target.
            cases: How many.
            judged: Whether a judge is asked about each answer.
            wrong: Every how manieth case fails; none does when it is 0.
            options: Of every run.
            keys: Of the target besides.
        """
        self.folder = folder
        self.cases = cases
        self._options = options
        target = {
            "name": "default",
            "api_key": "${{ THE_KEY }}",
            "provider_batching": True,
            "batch_poll_seconds": 0.01,
            "workers": 4,
            "retry": {"initial_delay_ms": 5, "max_delay_ms": 20},
            **settings(api, vendor.url),
            **keys,
        }
        folder.mkdir(exist_ok=True)
        (folder / ".git").mkdir()
        (folder / ".env").write_text(f"THE_KEY={KEY}\n")
        judge = {"name": "judge", "api_key": "${{ THE_KEY }}", **settings("openai", vendor.url)}
        self.targets = [{**target, "judge_target": "judge"}, {**judge, "provider_batching": True}]
        self.evalcases = [_case(n, judged=judged, wrong=wrong) for n in range(cases)]
        self.write()

    def write(self) -> None:
        """The files, as the targets and the cases are now."""
        targets = {"$schema": "agentv-targets-v2", "targets": self.targets}
        (self.folder / "targets.yaml").write_text(yaml.safe_dump(targets))
        suite = {"$schema": "agentv-eval-v2", "evalcases": self.evalcases}
        (self.folder / "a.eval.yaml").write_text(yaml.safe_dump(suite))

    def start(self, out: str, *options: str) -> "subprocess.Popen[str]":
        """Start a run as a process; standard output and error come in one."""
        command = ("eval", "a.eval.yaml", "--out", out, *self._options, *options)
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return self._spawn(command, **streams)

    def here(self, *command: str) -> tuple[int, str]:
        """Like `finish`, for any command line."""
        outcome = Project(self.folder).run(*command)
        return outcome.code, outcome.out + outcome.err

    def spawn(
        self, *command: str, stdout: IO[bytes], stderr: IO[bytes]
    ) -> "subprocess.Popen[bytes]":
        """Start any command line with its output in files."""
        return self._spawn(command, stdout=stdout, stderr=stderr)

    def _spawn(self, command: Sequence[str], **streams: Any) -> "subprocess.Popen[Any]":
        return subprocess.Popen(
            [sys.executable, "-m", "agentv", *command],
            cwd=self.folder,
            env={**os.environ, "THE_KEY": KEY},
            **streams,
        )

    def cut_off(
        self, moment: Event, out: str, *options: str, by: signal.Signals = signal.SIGKILL
    ) -> tuple[int, str]:
        """Start a run, and send it a signal the moment something has happened.

        Returns:
            The exit code, and all that was said.
        """
        with ending(self.start(out, *options)) as process:
            assert moment.wait(LIMIT_SECONDS)
            process.send_signal(by)
            said, _ = process.communicate(timeout=LIMIT_SECONDS)
        return process.returncode, said

    def finish(self, out: str, *options: str) -> tuple[int, str]:
        """Let a run come to its end in this process, which is quicker.

        Returns:
            The exit code, and all that was said.
        """
        return self.here("eval", "a.eval.yaml", "--out", out, *self._options, *options)

    def verdicts(self, out: str) -> dict[str, str]:
        """By case; each has one row."""
        rows = self.rows(out)
        assert len(rows) == self.cases
        found = {row["eval_id"]: row["verdict"] for row in rows}
        assert len(found) == self.cases
        return found

    def rows(self, out: str) -> list[dict[str, Any]]:
        """Those that were written whole."""
        journal = self.folder / out / "results.jsonl"
        text = journal.read_bytes() if journal.exists() else b""
        return [json.loads(line) for line in text.split(b"\n")[:-1]]

    @property
    def ledger(self) -> list[Path]:
        folder = self.folder / ".agentv" / "batches"
        return sorted(folder.iterdir()) if folder.exists() else []

    @property
    def ledger_files(self) -> list[Path]:
        """Those of the ledger that stand for batches."""
        return [path for path in self.ledger if path.suffix == ".json"]


def case_name(number: int) -> str:
    """What a vendor knows a case by."""
    return f"case {number:03}"


def _case(number: int, *, judged: bool, wrong: int) -> dict[str, Any]:
    said = "something else" if wrong and number % wrong == 0 else f": {case_name(number)}"
    judge = [{"type": "llm_judge", "name": "judge"}] if judged else []
    return {
        "id": f"c{number}",
        "outcome": "It answers.",
        "input_messages": [{"role": "user", "content": f"What of {case_name(number)}?"}],
        "evaluators": [{"type": "contains", "value": said}, *judge],
    }
