"""A project whose one target sends its cases in a batch, and runs of it as a user starts them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from batch_runs import settings
from batch_vendor import KEY, BatchVendor


class BatchProject:
    """Cases that ask for their own name; each run is a process of its own."""

    def __init__(
        self,
        folder: Path,
        vendor: BatchVendor,
        api: str,
        *,
        cases: int = 30,
        options: tuple[str, ...] = (),
        **keys: Any,
    ) -> None:
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
        (folder / "targets.yaml").write_text(
            yaml.safe_dump({"$schema": "agentv-targets-v2", "targets": [target]})
        )
        lines = [{"$schema": "agentv-eval-v2", "evalcases": [_case(n) for n in range(cases)]}]
        (folder / "a.eval.yaml").write_text(yaml.safe_dump_all(lines))

    def start(self, out: str, *options: str) -> "subprocess.Popen[str]":
        """Standard output and error come in one."""
        command = ["eval", "a.eval.yaml", "--out", out, *self._options, *options]
        return subprocess.Popen(
            [sys.executable, "-m", "agentv", *command],
            cwd=self.folder,
            env={**os.environ, "THE_KEY": KEY},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def finish(self, out: str, *options: str) -> tuple[int, str]:
        """The exit code and what was said."""
        process = self.start(out, *options)
        said, _ = process.communicate()
        return process.returncode, said

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


def case_name(number: int) -> str:
    """What a vendor knows a case by."""
    return f"case {number:03}"


def _case(number: int) -> dict[str, Any]:
    return {
        "id": f"c{number}",
        "outcome": "It answers.",
        "input_messages": [{"role": "user", "content": f"What of {case_name(number)}?"}],
        "evaluators": [{"type": "contains", "value": f": {case_name(number)}"}],
    }
