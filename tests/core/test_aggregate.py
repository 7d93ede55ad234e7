"""From several scores to one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentv.core.aggregate import aggregate, verdict
from agentv.model.score import Score

THRESHOLD = 0.8


def weighted(*values: float, weight: float = 1.0) -> list[tuple[str, float, Score]]:
    return [(f"e{i}", weight, Score(value=value)) for i, value in enumerate(values)]


def decided(scores: list[tuple[str, float, Score]], threshold: float = THRESHOLD) -> str:
    return verdict(aggregate(scores), [score for _, _, score in scores], threshold)


def test_mean_with_hits_misses_and_reasoning_of_all_in_order() -> None:
    """Scenario: Aggregating multiple evaluators."""
    total = aggregate(
        [
            ("tone", 1.0, Score(value=1.0, hits=("polite",), reasoning="reads well")),
            ("facts", 1.0, Score(value=0.5, hits=("date",), misses=("price",), reasoning="a gap")),
            ("form", 1.0, Score(value=0.0, misses=("too long",))),
        ]
    )

    assert total.score == 0.5
    assert total.hits == ("polite", "date")
    assert total.misses == ("price", "too long")
    assert total.reasoning == "tone: reads well\nfacts: a gap"


def test_the_reasoning_of_a_single_evaluator_stands_alone() -> None:
    assert aggregate([("tone", 1.0, Score(value=1.0, reasoning="fine"))]).reasoning == "fine"
    assert aggregate(weighted(1.0)).reasoning is None
    assert aggregate(weighted(1.0, 1.0)).reasoning is None


def test_weights_are_shares() -> None:
    scores = [("a", 3.0, Score(value=1.0)), ("b", 1.0, Score(value=0.0))]
    assert aggregate(scores).score == 0.75


@pytest.mark.parametrize("count", [1, 3, 7, 49])
@pytest.mark.parametrize("value", [0.8, 0.1, 1 / 3, 0.7])
def test_the_mean_of_equal_scores_is_that_score(count: int, value: float) -> None:
    scores = weighted(*[value] * count)
    assert aggregate(scores).score == value
    assert decided(scores, threshold=value) == "pass"


def test_a_threshold_missed_by_rounding_alone_is_reached() -> None:
    tenths = weighted(0.1, 0.2, 0.3, 0.4)
    assert decided(tenths, threshold=0.25) == "pass"
    assert decided(weighted(0.8 - 1e-6)) == "fail"


def test_an_evaluator_that_could_not_run_counts_as_zero_beside_others() -> None:
    broken = Score(value=0.0, error="no answer", misses=("Code evaluator failed: exit code 1",))
    scores = [("a", 1.0, Score(value=1.0)), ("b", 1.0, broken)]

    assert aggregate(scores).score == 0.5
    assert aggregate(scores).misses == ("Code evaluator failed: exit code 1",)


def test_a_trial_with_an_evaluator_that_could_not_run_never_passes() -> None:
    scores = [("a", 99.0, Score(value=1.0)), ("b", 1.0, Score(value=0.0, error="no answer"))]
    assert decided(scores) == "fail"
    assert decided(scores, threshold=0.0) == "fail"


def test_no_evaluator_that_ran_is_an_error_and_not_a_zero() -> None:
    scores = [(name, 1.0, Score(value=0.0, error="no answer")) for name in "ab"]
    assert aggregate(scores).score is None
    assert decided(scores, threshold=0.0) == "error"


def test_nothing_that_was_asserted_does_not_pass() -> None:
    assert aggregate([]).score is None
    assert decided([], threshold=0.0) == "error"


def test_an_invalid_reply_counts_as_zero() -> None:
    scores = [("a", 1.0, Score(value=0.0, parse_error="the judge's reply is empty"))]
    assert aggregate(scores).score == 0.0
    assert decided(scores) == "fail"


values = st.floats(0, 1)
weights = st.floats(min_value=1e-300, max_value=1e308)


@given(st.lists(st.tuples(weights, values), min_size=1))
def test_the_mean_lies_between_the_least_and_the_greatest(pairs: list[tuple[float, float]]) -> None:
    mean = aggregate([("e", weight, Score(value=value)) for weight, value in pairs]).score
    assert mean is not None
    found = [value for _, value in pairs]
    assert min(found) <= mean <= max(found)


@given(st.lists(st.tuples(st.floats(0.01, 100), values), min_size=1), st.floats(1e-6, 1e6))
def test_only_the_ratio_of_weights_matters(pairs: list[tuple[float, float]], factor: float) -> None:
    plain = aggregate([("e", weight, Score(value=value)) for weight, value in pairs]).score
    scaled = aggregate(
        [("e", weight * factor, Score(value=value)) for weight, value in pairs]
    ).score
    assert plain == pytest.approx(scaled, abs=1e-12)


@given(st.lists(values, min_size=1), values, values)
def test_a_higher_threshold_never_turns_a_fail_into_a_pass(
    found: list[float], one: float, other: float
) -> None:
    low, high = sorted((one, other))
    if decided(weighted(*found), low) == "fail":
        assert decided(weighted(*found), high) == "fail"
