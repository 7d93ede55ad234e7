import math
import statistics
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentv.core.statistics import Smallest, describe
from agentv.model.summary import ScoreStatistics

SCORES = st.lists(st.floats(0, 1), max_size=20)


def test_numbers_about_a_few_scores() -> None:
    assert describe([0.5, 1.0, 0.0, 0.9]) == ScoreStatistics(
        n=4,
        mean=0.6,
        median=0.7,
        min=0.0,
        max=1.0,
        stdev=math.sqrt(0.62 / 3),
        histogram=(1, 0, 1, 0, 2),
    )


def test_no_scores_have_no_numbers() -> None:
    """Not scored is not zero."""
    nothing = describe([])
    assert (nothing.n, nothing.mean, nothing.median, nothing.stdev) == (0, None, None, None)
    assert nothing.histogram == (0, 0, 0, 0, 0)


def test_one_score_has_no_deviation() -> None:
    one = describe([0.3])
    assert (one.mean, one.median, one.min, one.max, one.stdev) == (0.3, 0.3, 0.3, 0.3, None)


@pytest.mark.parametrize(
    ("score", "place"),
    [
        (0.0, 0),
        (0.19, 0),
        (0.2, 1),
        (0.4, 2),
        (0.6, 3),
        (0.1 + 0.2 + 0.3, 3),
        (1 - 0.4, 3),
        (0.7 - 0.1, 3),
        (0.8, 4),
        (0.9 - 0.1, 4),
        (1.0, 4),
    ],
)
def test_each_bin_is_closed_below_and_the_last_above(score: float, place: int) -> None:
    assert describe([score]).histogram[place] == 1


@given(scores=SCORES, seed=st.integers())
def test_order_makes_no_difference(scores: list[float], seed: int) -> None:
    shuffled = Random(seed).sample(scores, len(scores))
    assert describe(shuffled) == describe(scores)


@given(scores=SCORES.filter(lambda scores: len(scores) > 1))
def test_the_numbers_agree_with_those_of_the_standard_library(scores: list[float]) -> None:
    found = describe(scores)
    assert found.mean == pytest.approx(statistics.fmean(scores))
    assert found.median == pytest.approx(statistics.median(scores))
    assert found.stdev == pytest.approx(statistics.stdev(scores), abs=1e-9)
    assert found.mean is not None
    assert min(scores) <= found.mean <= max(scores)
    assert sum(found.histogram) == found.n == len(scores)


@given(score=st.floats(0, 1), n=st.integers(2, 200))
def test_equal_scores_have_themselves_as_mean_and_do_not_deviate(score: float, n: int) -> None:
    found = describe([score] * n)
    assert (found.mean, found.stdev) == (score, 0.0)


@given(values=st.lists(st.integers(0, 9)), limit=st.integers(0, 4))
def test_the_smallest_are_those_that_sorting_finds(values: list[int], limit: int) -> None:
    smallest: Smallest[str] = Smallest(limit)
    for value in values:
        smallest.add(value, str(value))
    assert smallest.values == tuple(map(str, sorted(values)[:limit]))
