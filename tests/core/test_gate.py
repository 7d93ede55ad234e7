import pytest
from hypothesis import given
from hypothesis import strategies as st
from summary_build import plan, row, rows

from agentv.core.gate import GateDecision, decide
from agentv.core.summary import summarise
from agentv.errors import ExitCode
from agentv.model.row_view import RowView

COUNTS = st.integers(0, 4)


def decision(
    planned: int,
    recorded: list[RowView],
    *,
    gate: float = 1.0,
    dry_run: bool = False,
    interrupted: bool = False,
) -> GateDecision:
    manifest = plan({"a.yaml": planned}, min_pass_rate=gate, dry_run=dry_run)
    return decide(summarise(manifest, recorded), interrupted=interrupted)


@pytest.mark.parametrize(
    ("recorded", "gate", "code", "holds", "reason"),
    [
        ({"passed": 10}, 1.0, 0, True, "pass rate 1.00 (10 of 10) meets the gate of 1.00"),
        (
            {"passed": 9, "failed": 1},
            0.9,
            0,
            True,
            "pass rate 0.90 (9 of 10) meets the gate of 0.90",
        ),
        ({"passed": 3, "failed": 7}, 0.1 + 0.2, 0, True, None),
        (
            {"passed": 8, "failed": 2},
            0.9,
            1,
            False,
            "pass rate 0.80 (8 of 10) is below the gate of 0.90 in suite a.yaml",
        ),
        (
            {"passed": 9, "failed": 1},
            0.904,
            1,
            False,
            "pass rate 0.900 (9 of 10) is below the gate of 0.904 in suite a.yaml",
        ),
        (
            {"passed": 8, "errors": 2},
            0.9,
            3,
            False,
            "pass rate 0.80 (8 of 10) is below the gate of 0.90 in suite a.yaml, "
            "only because 2 trials ended in error",
        ),
        (
            {"passed": 8, "failed": 1, "errors": 1},
            0.9,
            3,
            False,
            "pass rate 0.80 (8 of 10) is below the gate of 0.90 in suite a.yaml, "
            "only because 1 trial ended in error",
        ),
        ({"passed": 7, "failed": 2, "errors": 1}, 0.9, 1, False, None),
        ({"passed": 9, "skipped": 1}, 1.0, 1, False, None),
        ({"passed": 9, "errors": 1}, 0.9, 0, True, None),
        ({"failed": 10}, 0.0, 0, True, "pass rate 0.00 (0 of 10) meets the gate of 0.00"),
        (
            {"errors": 10},
            0.5,
            3,
            False,
            "no trial could be judged: 10 of 10 trials ended in error",
        ),
        ({"errors": 10}, 0.0, 3, True, None),
        (
            {"skipped": 10},
            1.0,
            5,
            False,
            "nothing was asserted: the run skipped 10 of 10 trials",
        ),
    ],
)
def test_a_complete_run_is_held_against_its_gate(
    recorded: dict[str, int], gate: float, code: int, holds: bool, reason: str | None
) -> None:
    found = decision(10, rows(**recorded), gate=gate)
    assert (found.exit_code, found.holds) == (code, holds)
    assert found.reason == (reason or found.reason)


@pytest.mark.parametrize(
    ("recorded", "gate"),
    [({"passed": 7}, 1.0), ({"passed": 7}, 0.7), ({"passed": 1, "failed": 6}, 1.0)],
)
def test_an_incomplete_run_is_never_green(recorded: dict[str, int], gate: float) -> None:
    found = decision(10, rows(**recorded), gate=gate)
    assert found.exit_code == ExitCode.ERRORS
    assert found.reason == "the run is incomplete: rows for 3 of 10 trials are missing"


@pytest.mark.parametrize(
    ("planned", "code", "reason"),
    [
        (0, ExitCode.NOTHING, "nothing ran: no trial was planned"),
        (3, ExitCode.ERRORS, "the run is incomplete: rows for 3 of 3 trials are missing"),
        (1, ExitCode.ERRORS, "the run is incomplete: rows for 1 of 1 trial are missing"),
    ],
)
def test_a_run_of_nothing_is_not_green(planned: int, code: ExitCode, reason: str) -> None:
    found = decision(planned, [], gate=0.0)
    assert (found.exit_code, found.reason) == (code, reason)


@pytest.mark.parametrize("recorded", [0, 4, 10])
def test_an_interrupted_run_says_how_far_it_came(recorded: int) -> None:
    found = decision(10, rows(passed=recorded), interrupted=True)
    assert found.exit_code == ExitCode.INTERRUPTED
    assert found.reason == f"interrupted with rows for {recorded} of 10 trials"


def test_a_dry_run_judges_nothing() -> None:
    found = decision(3, rows(skipped=3), dry_run=True)
    assert (found.exit_code, found.holds) == (ExitCode.OK, None)
    assert found.reason == "dry run: 3 trials rehearsed, nothing was judged"
    assert [(gate.holds, gate.reason) for gate in found.suites] == [(None, "nothing was judged")]


@pytest.mark.parametrize(
    ("recorded", "reason"),
    [
        (
            {"skipped": 2, "errors": 1},
            "dry run: 1 of 3 trials ended in error; nothing was judged",
        ),
        ({"skipped": 2}, "the run is incomplete: rows for 1 of 3 trials are missing"),
    ],
)
def test_a_dry_run_that_stumbles_is_not_green(recorded: dict[str, int], reason: str) -> None:
    found = decision(3, rows(**recorded), dry_run=True)
    assert (found.exit_code, found.holds, found.reason) == (ExitCode.ERRORS, None, reason)


@pytest.mark.parametrize(
    ("recorded", "reason"),
    [
        (
            [row("1"), row("1")],
            "the rows do not fit the plan: 1 trial recorded more than once",
        ),
        (
            [row("1"), row("2"), row("3")],
            "the rows do not fit the plan: 1 row that was not planned",
        ),
        (
            [row("1"), row("2"), row("2"), row("1", suite="b.yaml"), row("2", suite="b.yaml")],
            "the rows do not fit the plan: "
            "1 trial recorded more than once and 2 rows that were not planned",
        ),
    ],
)
def test_rows_that_contradict_the_plan_are_not_green(recorded: list[RowView], reason: str) -> None:
    found = decision(2, recorded, gate=0.0)
    assert (found.exit_code, found.reason) == (ExitCode.ERRORS, reason)


@pytest.mark.parametrize(
    ("verdicts", "code", "holds", "reason"),
    [
        ("pp pp", 0, True, "pass rate 1.00 (4 of 4); the gate holds in all 2 suites"),
        (
            "pp pf",
            1,
            False,
            "pass rate 0.50 (1 of 2) is below the gate of 1.00 in suite b.yaml",
        ),
        (
            "pe pf",
            1,
            False,
            "pass rate 0.50 (1 of 2) is below the gate of 1.00 in suite b.yaml "
            "(the gate fails in 2 of 2 suites)",
        ),
        (
            "pe ee",
            3,
            False,
            "pass rate 0.50 (1 of 2) is below the gate of 1.00 in suite a.yaml "
            "(the gate fails in 2 of 2 suites), only because 3 trials ended in error",
        ),
    ],
)
def test_every_suite_must_hold(verdicts: str, code: int, holds: bool, reason: str) -> None:
    """A good suite does not make up for a bad one."""
    full = {"p": "pass", "f": "fail", "e": "error"}
    recorded = [
        row(str(number), full[letter], suite=suite)  # type: ignore[arg-type]
        for suite, letters in zip(("a.yaml", "b.yaml"), verdicts.split(), strict=True)
        for number, letter in enumerate(letters)
    ]
    found = decide(summarise(plan({"a.yaml": 2, "b.yaml": 2}), recorded))
    assert (found.exit_code, found.holds, found.reason) == (code, holds, reason)


def test_a_suite_of_which_nothing_was_asked_neither_holds_nor_fails() -> None:
    found = decide(summarise(plan({"a.yaml": 1, "b.yaml": 0}), [row("1")]))
    assert (found.exit_code, found.holds) == (ExitCode.OK, True)
    assert found.reason == "pass rate 1.00 (1 of 1) meets the gate of 1.00"
    assert [(gate.path, gate.holds) for gate in found.suites] == [
        ("a.yaml", True),
        ("b.yaml", None),
    ]


@given(
    passed=COUNTS,
    failed=COUNTS,
    errors=COUNTS,
    skipped=COUNTS,
    missing=COUNTS,
    gate=st.floats(0, 1),
)
def test_green_means_that_enough_passed_of_all_that_was_planned(
    passed: int, failed: int, errors: int, skipped: int, missing: int, gate: float
) -> None:
    planned = passed + failed + errors + skipped + missing
    recorded = rows(passed=passed, failed=failed, errors=errors, skipped=skipped)
    found = decision(planned, recorded, gate=gate)
    if found.exit_code == ExitCode.OK:
        assert found.holds
        assert not missing
        assert passed + failed > 0
        assert passed / planned >= gate - 1e-9
    if found.exit_code == ExitCode.GATE_FAILED:
        assert (passed + errors) / planned < gate
