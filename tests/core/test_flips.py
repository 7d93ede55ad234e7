"""Two judgements of the same answers, held against each other."""

from itertools import permutations
from typing import Any

import pytest

from agentv.core.flips import FlipTally, change_of
from agentv.model.flips import EvaluatorChange, FlipReport, JudgedView, OpinionView
from agentv.model.result import Verdict

SAME = (0.8, 0.8)


def opinion(name: str, score: float, *misses: str, **more: Any) -> OpinionView:
    return OpinionView(name=name, type="code", score=score, misses=misses, **more)


def row(
    id_: str, verdict: Verdict, score: float | None, *opinions: OpinionView, suite: str = "a"
) -> JudgedView:
    return JudgedView(
        suite=suite,
        dataset=suite,
        eval_id=id_,
        target="default",
        trial=1,
        verdict=verdict,
        score=score,
        evaluator_results=opinions,
    )


def changes(before: JudgedView, after: JudgedView) -> list[EvaluatorChange]:
    change = change_of(before, after, SAME)
    assert change is not None
    return list(change.evaluators)


def test_what_is_the_same_is_no_change() -> None:
    then = row("one", "pass", 0.1 + 0.2, opinion("check", 0.3))
    now = row("one", "pass", 0.3, opinion("check", 0.3), opinion("tone", 0.3))

    assert change_of(then, now, SAME) is None


def test_an_error_that_stays_is_no_change() -> None:
    assert change_of(row("one", "error", None), row("one", "error", None), SAME) is None


def test_evaluators_are_known_by_their_names() -> None:
    """Those that say the same are left out, new ones and those that are gone are told."""
    then = row("one", "fail", 0.5, opinion("a", 1), opinion("b", 0.2, "no b"), opinion("old", 0.3))
    now = row("one", "pass", 1.0, opinion("new", 0.9), opinion("b", 1), opinion("a", 1))

    told = [(c.name, c.before, c.after, c.why) for c in changes(then, now)]

    assert told == [
        ("new", None, 0.9, None),
        ("b", 0.2, 1.0, "no longer: no b"),
        ("old", 0.3, None, None),
    ]


def test_an_evaluator_under_another_name_is_the_same() -> None:
    then = row("one", "fail", 0.5, opinion("code", 0.5, digest="d"), opinion("b", 0.5))
    now = row("one", "pass", 0.9, opinion("b", 1.0), opinion("check", 0.5, digest="d"))

    assert [c.name for c in changes(then, now)] == ["b"]


def test_a_weight_that_changed_is_told() -> None:
    then = row("one", "fail", 0.5, opinion("a", 1), opinion("b", 0))
    now = row("one", "pass", 0.9, opinion("a", 1, weight=9), opinion("b", 0))

    [change] = changes(then, now)

    assert (change.name, change.weight_before, change.weight_after) == ("a", 1, 9)


@pytest.mark.parametrize(
    ("then", "now", "why"),
    [
        pytest.param(opinion("a", 1), opinion("a", 0, "x", "y"), "x", id="a-miss"),
        pytest.param(opinion("a", 0.5, "x"), opinion("a", 0, "x", "y"), "y", id="the-new-miss"),
        pytest.param(
            opinion("a", 1),
            opinion("a", 0, "Evaluator failed: gone", error="gone"),
            "gone",
            id="an-error-first",
        ),
        pytest.param(
            opinion("a", 0), opinion("a", 1, reasoning="Kind."), "Kind.", id="its-reasoning"
        ),
        pytest.param(opinion("a", 0, "x"), opinion("a", 1), "no longer: x", id="a-miss-gone"),
        pytest.param(opinion("a", 0), opinion("a", 1), None, id="nothing-said"),
    ],
)
def test_the_reason_is_in_the_evaluators_words(
    then: OpinionView, now: OpinionView, why: str | None
) -> None:
    [change] = changes(row("one", "fail", 0.0, then), row("one", "pass", 1.0, now))

    assert change.why == why


def report(pairs: list[tuple[JudgedView | None, JudgedView]], rows_before: int = 9) -> FlipReport:
    tally = FlipTally(max_changes=4)
    for before, after in pairs:
        tally.add(before, after, SAME)
    return tally.report(rows_before)


PAIRS: list[tuple[JudgedView | None, JudgedView]] = [
    (row("better", "fail", 0.1), row("better", "pass", 1.0)),
    (row("worse", "pass", 1.0), row("worse", "fail", 0.1)),
    (row("broken", "pass", 1.0), row("broken", "error", None)),
    (row("higher", "pass", 0.8), row("higher", "pass", 0.9)),
    (row("lower", "fail", 0.3), row("lower", "fail", 0.2)),
    (row("same", "pass", 0.8), row("same", "pass", 0.8)),
    (None, row("first", "pass", 0.8)),
]


def test_totals_count_each_trial_once() -> None:
    found = report(PAIRS)

    assert (found.compared, found.flipped, found.rescored, found.same) == (6, 3, 2, 1)
    assert (found.only_before, found.only_after, found.not_listed) == (3, 1, 1)
    assert [(f.before, f.after, f.trials) for f in found.flips] == [
        ("pass", "error", 1),
        ("pass", "fail", 1),
        ("fail", "pass", 1),
    ]


def test_flips_come_first_and_what_got_worse_before_what_got_better() -> None:
    orders = [report(list(order)) for order in permutations(PAIRS[:5])]

    assert all(found == orders[0] for found in orders)
    listed = [change.eval_id for change in orders[0].changes]
    assert listed == ["broken", "worse", "better", "higher"]
