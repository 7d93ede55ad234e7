"""A batch replays like anything else, without its waits and beside those of real runs."""

from pathlib import Path

import pytest
from batch_vendor import KEY, BatchVendor
from test_batch_apis import APIS
from test_batch_runs import CASES, write_project

from agentv.errors import ExitCode
from agentv.testing import Project


@pytest.mark.parametrize("api", APIS)
def test_a_batch_is_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: str) -> None:
    project = Project(tmp_path)
    monkeypatch.setenv("THE_KEY", KEY)
    with BatchVendor(polls=3) as vendor:
        write_project(tmp_path, vendor, api)
        recorded = project.run("eval", "a.eval.yaml", "--record", "tape")
        assert recorded.code == ExitCode.OK, recorded.err
        singles = len(vendor.singles)
    monkeypatch.delenv("THE_KEY")
    noted = sorted((tmp_path / ".agentv" / "batches").iterdir())
    replayed = project.run("eval", "a.eval.yaml", "--replay", "tape", "--verbose")

    assert replayed.code == ExitCode.OK, replayed.out
    assert f"batch answered; 0 of {CASES} requests" in replayed.err
    assert singles == 0
    assert {row["verdict"] for row in project.rows()} == {"pass"}
    assert sorted((tmp_path / ".agentv" / "batches").iterdir()) == noted
