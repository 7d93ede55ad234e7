"""A run that its budget cut short is incomplete, and says why."""

import msgspec
import pytest
from summary_build import plan, row

from agentv.core.gate import GateDecision, decide
from agentv.core.summary import summarise
from agentv.errors import ExitCode
from agentv.model.score import Usage


def decision(planned: int, recorded: int, *, gate: float = 0.0, each: float = 0.1) -> GateDecision:
    """Of a run with a budget of $1 and rows that all passed."""
    manifest = plan({"a.yaml": planned}, min_pass_rate=gate)
    rows = [row(str(number), usage=Usage(cost_usd=each)) for number in range(recorded)]
    return decide(summarise(msgspec.structs.replace(manifest, budget_usd=1.0), rows))


@pytest.mark.parametrize(
    ("planned", "why"),
    [(1000, "990 of 1000 trials have no row"), (11, "1 of 11 trials has no row")],
)
def test_the_budget_is_the_reason_and_it_is_no_pass(planned: int, why: str) -> None:
    """Even though the gate would hold with what there is."""
    found = decision(planned, 10)
    assert found.exit_code == ExitCode.ERRORS
    assert found.reason == f"the run is incomplete: budget of $1.00 reached, {why}"


def test_rows_that_are_missing_for_another_reason_are_just_missing() -> None:
    found = decision(1000, 10, each=0.01)
    assert found.exit_code == ExitCode.ERRORS
    assert found.reason == "the run is incomplete: rows for 990 of 1000 trials are missing"


def test_a_complete_run_is_judged_whatever_it_cost() -> None:
    found = decision(10, 10, gate=1.0, each=5.0)
    assert found.exit_code == ExitCode.OK
