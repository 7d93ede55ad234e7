"""Shards are disjoint, complete, as even as can be, and the same everywhere."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentv.core.sharding import members, rank_of
from agentv.model.shard import Shard, parse_shard

IDS = st.lists(st.text(), unique=True, max_size=60)


def split(ids: list[str], of: int) -> list[set[str]]:
    ranks = [rank_of("triage", id_, "default", 1) for id_ in ids]
    flags = [members(ranks, Shard(number=number, of=of)) for number in range(1, of + 1)]
    return [{id_ for id_, is_in in zip(ids, own, strict=True) if is_in} for own in flags]


@given(IDS, st.integers(1, 9))
def test_every_trial_is_in_just_one_shard(ids: list[str], of: int) -> None:
    shards = split(ids, of)
    assert sorted(id_ for shard in shards for id_ in shard) == sorted(ids)


@given(IDS, st.integers(1, 9))
def test_sizes_differ_by_at_most_one(ids: list[str], of: int) -> None:
    sizes = [len(shard) for shard in split(ids, of)]
    assert max(sizes) - min(sizes) <= 1


@given(IDS, st.integers(1, 9), st.randoms())
def test_the_order_of_the_file_does_not_matter(
    ids: list[str], of: int, chance: random.Random
) -> None:
    shuffled = [*ids]
    chance.shuffle(shuffled)
    assert split(shuffled, of) == split(ids, of)


@given(IDS, st.integers(1, 9), st.text())
def test_a_new_case_moves_at_most_one_other_across_each_border(
    ids: list[str], of: int, new: str
) -> None:
    if new in ids:
        return
    before, after = split(ids, of), split([*ids, new], of)
    stayed = sum(len(old & now) for old, now in zip(before, after, strict=True))
    assert len(ids) - stayed <= of - 1


def test_shards_stay_what_they_are_from_version_to_version() -> None:
    """Machines that share a plan may not have the same version."""
    assert split(["a", "b", "c", "d", "e", "f", "g"], 3) == [
        {"b", "f"},
        {"a", "c"},
        {"d", "e", "g"},
    ]


def test_names_that_run_together_alike_are_told_apart() -> None:
    assert rank_of("a", "bc", "d", 1) != rank_of("ab", "c", "d", 1)


def test_cases_that_are_called_alike_in_two_suites_are_both_run() -> None:
    ranks = [7, 7, 7, 7]
    parts = [members(ranks, Shard(number=number, of=3)) for number in (1, 2, 3)]
    assert [sum(flags) for flags in zip(*parts, strict=True)] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("0/3", "'0/3' is no shard; say which of how many, as in 2/5", id="none"),
        pytest.param("2", "'2' is no shard; say which of how many, as in 2/5", id="of what"),
        pytest.param("-1/3", "'-1/3' is no shard; say which of how many", id="negative"),
        pytest.param("\u0661/3", "is no shard", id="other digits"),
        pytest.param("4/3", "'4/3' is no shard: of 3 shards the last is 3", id="too far"),
    ],
)
def test_what_is_no_shard_is_said_so(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_shard(text)


def test_a_shard_is_written_as_it_is_read() -> None:
    assert str(parse_shard(" 2/5 ")) == "2/5"
