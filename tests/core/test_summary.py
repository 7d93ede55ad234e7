from random import Random

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from summary_build import plan, row, rows

from agentv.core.summary import summarise
from agentv.model.result import Verdict
from agentv.model.row_view import EvaluatorView, RowView
from agentv.model.score import Usage
from agentv.model.summary import Counts, ErrorLine, UsageSum

VERDICTS: list[Verdict] = ["pass", "fail", "error", "skipped"]

ROWS = st.lists(
    st.builds(
        row,
        st.sampled_from(["one", "two", "three"]),
        st.sampled_from(VERDICTS),
        score=st.none() | st.floats(0, 1),
        suite=st.sampled_from(["a.yaml", "b.yaml", "stray.yaml"]),
        target=st.sampled_from(["default", "other"]),
        trial=st.integers(1, 2),
        attempts=st.integers(0, 3),
        error=st.none() | st.tuples(st.sampled_from(["exit", "empty"]), st.text(max_size=2)),
        usage=st.none()
        | st.builds(Usage, input_tokens=st.none() | st.integers(0, 9), cost_usd=st.floats(0, 1)),
    ),
    max_size=12,
)


def evaluator(score: float = 0.0, **more: float | str) -> EvaluatorView:
    told = {"name": "judge", "type": "llm_judge", "score": score, **more}
    return msgspec.convert(told, EvaluatorView)


def test_every_way_to_end_is_counted_on_its_own() -> None:
    """Crashed is not failed, skipped is not passed, and what is missing is missed."""
    found = summarise(plan({"a.yaml": 12}), rows(passed=6, failed=2, errors=1, skipped=1))
    counts = found.counts
    assert counts == Counts(
        planned=12, recorded=10, passed=6, failed=2, errors=1, skipped=1, duplicates=0
    )
    assert (counts.missing, counts.surplus) == (2, 0)
    assert (counts.pass_rate, counts.total) == (6 / 12, 12)
    assert (counts.pass_rate_of_scored, counts.scored) == (6 / 8, 8)


def test_scores_are_those_of_judged_trials_alone() -> None:
    """An error is never a score of 0 in a mean."""
    found = summarise(
        plan({"a.yaml": 4}),
        [row("1", "pass", score=0.9), row("2", "fail", score=0.5), *rows(errors=1, skipped=1)],
    )
    assert (found.scores.n, found.scores.mean) == (2, 0.7)


def test_a_run_without_rows_has_counts_and_no_numbers() -> None:
    found = summarise(plan({"a.yaml": 3}), [])
    assert (found.counts.missing, found.counts.pass_rate) == (3, 0.0)
    assert (found.scores.n, found.scores.mean) == (0, None)
    assert found.counts.pass_rate_of_scored is None
    assert found.targets == ()


def test_a_verdict_without_a_score_is_an_error() -> None:
    scoreless = [
        msgspec.structs.replace(row(name, verdict), score=None)
        for name, verdict in [("1", VERDICTS[0]), ("2", VERDICTS[1])]
    ]
    found = summarise(plan({"a.yaml": 2}), scoreless)
    assert (found.counts.passed, found.counts.failed, found.counts.errors) == (0, 0, 2)
    assert [line.message for line in found.errors] == [
        "the row says 'pass' but holds no score",
        "the row says 'fail' but holds no score",
    ]


def test_suites_have_their_own_counts_in_the_plans_order() -> None:
    found = summarise(
        plan({"b.yaml": 2, "a.yaml": 2}, min_pass_rate=0.5),
        [row("1", "pass", suite="a.yaml"), row("1", "fail", score=0.5, suite="b.yaml")],
    )
    told = [(part.path, part.counts.passed, part.counts.missing) for part in found.suites]
    assert told == [("b.yaml", 0, 1), ("a.yaml", 1, 1)]
    assert [part.scores.mean for part in found.suites] == [0.5, 1.0]
    assert [part.min_pass_rate for part in found.suites] == [0.5, 0.5]


def test_targets_have_their_own_counts_without_a_plan() -> None:
    found = summarise(
        plan({"a.yaml": 9}, targets=("slow", "judge", "fast")),
        [row("1", target="fast"), row("1", "fail", target="slow"), row("2", target="fast")],
    )
    told = [(part.name, part.counts.passed, part.counts.total) for part in found.targets]
    assert told == [("slow", 0, 1), ("fast", 2, 2)]
    assert {part.counts.missing for part in found.targets} == {0}


def test_errors_are_listed_by_place_and_counted_in_full() -> None:
    found = summarise(
        plan({"a.yaml": 3}),
        [row(name, "error", error=("exit", f"no {name}")) for name in ("3", "1", "2")],
        max_errors=2,
    )
    assert found.counts.errors == 3
    assert [line.eval_id for line in found.errors] == ["1", "2"]
    assert found.errors[0] == ErrorLine(
        suite="a.yaml", eval_id="1", target="default", trial=1, kind="exit", message="no 1"
    )


def test_the_lowest_three_are_the_lowest_and_equals_go_by_id() -> None:
    scores = {"e": 0.5, "d": 0.9, "c": 0.5, "b": 0.5, "a": 0.5, "f": 0.1}
    found = summarise(
        plan({"a.yaml": 6}), [row(name, "fail", score=score) for name, score in scores.items()]
    )
    assert [(low.eval_id, low.score) for low in found.lowest] == [
        ("f", 0.1),
        ("a", 0.5),
        ("b", 0.5),
    ]


def test_what_evaluators_had_trouble_with_is_counted() -> None:
    trouble = (
        evaluator(1.0, raw_score=8.0),
        evaluator(1.0, raw_score=9.0),
        evaluator(parse_error="no JSON"),
        evaluator(error="crashed"),
    )
    found = summarise(plan({"a.yaml": 2}), [row("1", evaluators=trouble), row("2")])
    assert (found.clamped, found.parse_errors, found.evaluator_errors) == (1, 1, 1)


def test_attempts_beyond_the_first_are_retries() -> None:
    attempts = [row("1", attempts=3), row("2"), row("3", "error", attempts=0)]
    found = summarise(plan({"a.yaml": 3}), attempts)
    assert (found.attempts, found.retries) == (4, 2)


def test_unknown_usage_is_not_zero() -> None:
    found = summarise(
        plan({"a.yaml": 4}),
        [
            row("1", usage=Usage(input_tokens=10, cost_usd=0.1)),
            row("2", usage=Usage(input_tokens=5, cost_usd=0.2)),
            row("3"),
            row("4", "error", attempts=0),
        ],
    ).usage
    assert found.input_tokens == UsageSum(total=15, unknown=1)
    assert isinstance(found.input_tokens.total, int)
    assert found.output_tokens == UsageSum(total=None, unknown=3)
    assert found.cost_usd.total is not None
    assert round(found.cost_usd.total, 9) == 0.3


def test_a_trial_recorded_twice_does_not_stand_in_for_a_missing_one() -> None:
    found = summarise(plan({"a.yaml": 3}), [row("1"), row("1"), row("1", trial=2)])
    assert (found.counts.recorded, found.counts.duplicates, found.counts.missing) == (3, 1, 1)
    assert found.unplanned == 0


def test_rows_without_a_place_in_the_plan_are_told_apart() -> None:
    strangers = [row("1", suite="other.yaml"), row("2", suite="other.yaml")]
    found = summarise(plan({"a.yaml": 1}), [*rows(passed=2), *strangers])
    assert found.unplanned == 3
    assert (found.counts.recorded, found.counts.passed) == (2, 2)


@given(found=ROWS, seed=st.integers())
def test_the_order_of_rows_makes_no_difference(found: list[RowView], seed: int) -> None:
    manifest = plan({"a.yaml": 5, "b.yaml": 5}, targets=("other", "default"))
    shuffled = Random(seed).sample(found, len(found))
    assert summarise(manifest, iter(shuffled), max_errors=2) == summarise(
        manifest, iter(found), max_errors=2
    )


@given(found=ROWS)
def test_counts_add_up(found: list[RowView]) -> None:
    summary = summarise(plan({"a.yaml": 5, "b.yaml": 5, "stray.yaml": 5}), found)
    for counts in (summary.counts, *(part.counts for part in summary.suites)):
        ended = counts.passed + counts.failed + counts.errors + counts.skipped
        assert counts.recorded == ended
        assert (
            counts.recorded - counts.duplicates + counts.missing - counts.surplus == counts.planned
        )
    assert summary.scores.n == summary.counts.scored == sum(summary.scores.histogram)
    for field in ("recorded", "passed", "failed", "errors", "skipped", "duplicates"):
        total = getattr(summary.counts, field)
        assert total == sum(getattr(part.counts, field) for part in summary.suites)
        assert total == sum(getattr(part.counts, field) for part in summary.targets)
