import math

import pytest

from agentv.core.money import dollars, known_cost
from agentv.model.score import Usage


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0.0, "$0.00"),
        (1, "$1.00"),
        (12.5, "$12.50"),
        (0.1234, "$0.1234"),
        (0.123456, "$0.1235"),
        (1234.5, "$1,234.50"),
        (0.0001, "$0.0001"),
        (0.000012345, "$0.000012"),
        (0.0000000075, "$0.0000000075"),
    ],
)
def test_small_amounts_are_not_shown_as_nothing(amount: float, text: str) -> None:
    assert dollars(amount) == text


@pytest.mark.parametrize("cost", [None, math.nan, math.inf, -0.5])
def test_what_is_no_cost_is_unknown(cost: float | None) -> None:
    assert known_cost(Usage(cost_usd=cost)) is None
    assert known_cost(None) is None


def test_nothing_is_a_cost() -> None:
    """A local model may well cost nothing, if its target says so."""
    assert known_cost(Usage(cost_usd=0.0)) == 0.0
