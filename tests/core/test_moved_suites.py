"""Which suite was which before files were moved, copied and renamed."""

from dataclasses import dataclass

import pytest

from agentv.core.moved_suites import moved_suites


@dataclass(frozen=True)
class Name:
    path: str
    dataset: str
    digest: str


def names(*texts: str) -> list[Name]:
    """`evals/a.yaml a 1`: path, dataset, content."""
    return [Name(*text.split()) for text in texts]


@pytest.mark.parametrize(
    ("then", "now", "places"),
    [
        (["a.yaml a 1"], ["a.yaml a 2"], {"a.yaml": "a.yaml"}),
        (["e/a.yaml a 1"], ["s/a.yaml a 1"], {"s/a.yaml": "e/a.yaml"}),
        (["e/a.yaml a 1"], ["s/a.yaml a 2"], {"s/a.yaml": "e/a.yaml"}),
        (["e/a.yaml a 1"], ["e/b.yaml b 1"], {"e/b.yaml": "e/a.yaml"}),
        (["e/a.yaml a 1"], ["e/b.yaml b 2"], {}),
        (["a.yaml a 1"], ["a.yaml a 1", "copy/a.yaml a 1"], {"a.yaml": "a.yaml"}),
        (["a.yaml a 1", "b.yaml b 2"], ["a.yaml a 1"], {"a.yaml": "a.yaml"}),
        (
            ["e/x/a.yaml a 1", "e/y/a.yaml a 2"],
            ["s/y/a.yaml a 3", "s/x/a.yaml a 4"],
            {"s/x/a.yaml": "e/x/a.yaml", "s/y/a.yaml": "e/y/a.yaml"},
        ),
        (
            ["x/a.yaml a 1", "y/a.yaml a 2"],
            ["z/a.yaml a 2", "w/a.yaml a 1"],
            {"z/a.yaml": "y/a.yaml", "w/a.yaml": "x/a.yaml"},
        ),
        (
            ["x/a.yaml a 1", "y/a.yaml a 1"],
            ["z/a.yaml a 1", "y/a.yaml a 1"],
            {"z/a.yaml": "x/a.yaml", "y/a.yaml": "y/a.yaml"},
        ),
    ],
    ids=[
        "edited in its place",
        "moved",
        "moved and edited",
        "renamed",
        "another one",
        "copied",
        "one left out",
        "two of one name, by their folders",
        "two of one name, by their content",
        "one of two alike",
    ],
)
def test_suites_are_found_again(then: list[str], now: list[str], places: dict[str, str]) -> None:
    assert moved_suites(names(*then), names(*now)) == places
