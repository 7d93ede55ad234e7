"""Whole runs over batches: killed in the middle, refused, with failures of single cases."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import yaml
from batch_runs import APIS, settings
from batch_vendor import KEY, BatchVendor

CASES = 30


def write_project(folder: Path, vendor: BatchVendor, api: str, **keys: Any) -> None:
    target = {
        "name": "default",
        "api_key": "${{ THE_KEY }}",
        "provider_batching": True,
        "batch_poll_seconds": 0.01,
        "workers": 4,
        **settings(api, vendor.url),
        **keys,
    }
    cases = [
        {
            "id": f"c{number}",
            "outcome": "It answers.",
            "input_messages": [{"role": "user", "content": f"What of case {number:02}?"}],
            "evaluators": [{"type": "contains", "value": f": case {number:02}"}],
        }
        for number in range(CASES)
    ]
    (folder / ".git").mkdir()
    (folder / "targets.yaml").write_text(
        yaml.safe_dump({"$schema": "agentv-targets-v2", "targets": [target]})
    )
    (folder / "a.eval.yaml").write_text(
        yaml.safe_dump({"$schema": "agentv-eval-v2", "evalcases": cases})
    )


def start(folder: Path, out: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "agentv", "eval", "a.eval.yaml", "--out", out, "--verbose"],
        cwd=folder,
        env={**os.environ, "THE_KEY": KEY},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(folder: Path, out: str) -> tuple[int, str]:
    process = start(folder, out)
    said, _ = process.communicate()
    return process.returncode, said


def verdicts(folder: Path, out: str) -> dict[str, str]:
    lines = (folder / out / "results.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == CASES
    return {row["eval_id"]: row["verdict"] for row in rows}


@pytest.mark.parametrize("api", APIS)
def test_a_run_killed_while_it_waits_pays_for_one_batch(api: str, tmp_path: Path) -> None:
    end = Event()
    with BatchVendor(hold=end, fates={"case 03": 400, "case 07": 500, "case 11": None}) as vendor:
        write_project(tmp_path, vendor, api)
        process = start(tmp_path, "first")
        assert vendor.polled.wait(60)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        end.set()
        code, said = finish(tmp_path, "second")
        assert len(vendor.batches) == 1
        assert sorted(vendor.singles) == ["case 07", "case 11"]
    found = verdicts(tmp_path, "second")
    assert found.pop("c3") == "error"
    assert set(found.values()) == {"pass"}
    assert "of an interrupted run" in said
    assert code == 3
    assert list((tmp_path / ".agentv" / "batches").iterdir()) == []


def test_an_interrupted_run_says_that_its_batch_is_kept(tmp_path: Path) -> None:
    with BatchVendor(hold=Event()) as vendor:
        write_project(tmp_path, vendor, "anthropic")
        process = start(tmp_path, "first")
        assert vendor.polled.wait(60)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate()
    assert process.returncode == 130
    assert "Batch b0 is kept, although this run was interrupted." in said


def test_cases_of_a_batch_that_cannot_be_made_are_sent_singly(tmp_path: Path) -> None:
    """Enabled for batching-capable provider: a batch that throws is no reason to have no rows."""
    with BatchVendor(create_status=404) as vendor:
        write_project(tmp_path, vendor, "openai")
        code, said = finish(tmp_path, "first")
        assert len(vendor.singles) == CASES
    assert set(verdicts(tmp_path, "first").values()) == {"pass"}
    assert code == 0
    assert "could not be made" in said
    assert "batches are not for you" in said
