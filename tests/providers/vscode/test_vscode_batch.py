"""Many requests through one worker, each answered by a subagent (`provider_batching`)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vscode_build import provider, provisioned, request

import vscode_stand_in
from agentv.errors import ProviderError
from agentv.model.request import ProviderResponse
from virtual_time import now, run_virtually
from vscode_stand_in import InProcess

Outcomes = Sequence[ProviderResponse | ProviderError | None]


def batch(folder: Path, number: int, **more: Any) -> tuple[Outcomes, float]:
    """The outcomes of so many requests, and how many virtual seconds they took."""
    knobs = more.pop("knobs", {})
    stand_in = vscode_stand_in.install(folder, **knobs)
    asked = provider(folder, InProcess(stand_in), **more)

    async def story() -> tuple[Outcomes, float]:
        found = await asked.respond_batch([request(f"number {n}", str(n)) for n in range(number)])
        return found, now()

    return run_virtually(story())


def texts(outcomes: Outcomes) -> list[str]:
    return [found.text if isinstance(found, ProviderResponse) else str(found) for found in outcomes]


def test_all_cases_in_one_dispatch(tmp_path: Path) -> None:
    """Scenario "Enabled for batching-capable provider": one chat, answers back in their places."""
    [worker, _] = provisioned(tmp_path, 2)
    outcomes, _ = batch(tmp_path, 10, knobs={"delay": 3})
    assert texts(outcomes) == [f"You asked: number {n}" for n in range(10)]
    calls = vscode_stand_in.StandIn(tmp_path / "code-state").calls()
    [chat] = [call for call in calls if call[:4] == ["-r", "chat", "-m", "agent"]]
    [orchestrator] = worker.messages.glob("*_orchestrator.md")
    assert chat[5] == str(orchestrator)
    assert chat[-1].endswith("Use the #runSubagent tool.")
    assert len(list(worker.messages.glob("*_req.md"))) == 10
    assert not worker.lock.exists()


def test_a_missing_answer_is_one_error_within_its_limit(tmp_path: Path) -> None:
    """Nine answers and one error; the limit starts anew with each answer."""
    outcomes, seconds = batch(tmp_path, 10, knobs={"delay": 20, "missing": [4]}, timeout_seconds=60)
    lost = outcomes[4]
    assert isinstance(lost, ProviderError)
    assert lost.kind == "no_answer"
    assert str(lost) == "no answer in the batch, 60 s after the one before it"
    others = [text for number, text in enumerate(texts(outcomes)) if number != 4]
    assert others == [f"You asked: number {n}" for n in range(10) if n != 4]
    assert 260 <= seconds <= 265, "the last answer at 200 s, then 60 s"
    assert not list(tmp_path.glob("workers/*/subagent.lock"))


def test_one_answer_that_says_a_file_is_missing_spoils_no_other(tmp_path: Path) -> None:
    outcomes, _ = batch(tmp_path, 2, knobs={"answer": "ERROR: missing-file a.md"})
    assert texts(outcomes) == ["the agent could not open 'a.md'"] * 2


def test_a_dry_run_asks_nobody(tmp_path: Path) -> None:
    outcomes, _ = batch(tmp_path, 3, dry_run=True)
    assert all(isinstance(found, ProviderResponse) and found.dry_run for found in outcomes)
    assert not (tmp_path / "workers").exists()
