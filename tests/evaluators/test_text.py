"""Checks that compare the answer with a text."""

import msgspec
import pytest
from evaluator_build import options_of, problems_of, score

from agentv.model.score import Score

KINDS = ("contains", "icontains", "equals", "starts_with", "ends_with")


@pytest.mark.parametrize(
    ("kind", "value", "answer", "holds"),
    [
        ("contains", "refund", "We refund you.", True),
        ("contains", "Refund", "We refund you.", False),
        ("contains", "a\nb", "x a\r\nb y", True),
        ("contains", "a\r\nb", "x a\nb y", True),
        ("icontains", "REFUND", "We refund you.", True),
        ("icontains", "STRASSE", "in der Straße", True),
        ("icontains", "bill", "We refund you.", False),
        ("equals", "4", " 4\n", True),
        ("equals", "4\n", "4", True),
        ("equals", "4", "4.", False),
        ("equals", "a  b", "a b", False),
        ("starts_with", "Dear", "\n Dear customer", True),
        ("starts_with", " Dear", "Dear customer", True),
        ("starts_with", "customer", "Dear customer", False),
        ("ends_with", "bye.\n", "Good bye. \n", True),
        ("ends_with", "Good", "Good bye.", False),
    ],
)
def test_a_check_holds_or_does_not_and_negation_turns_it(
    kind: str, value: str, answer: str, holds: bool
) -> None:
    plain = score({"type": kind, "value": value}, answer)
    negated = score({"type": kind, "value": value, "negate": True}, answer)

    assert plain.value == float(holds)
    assert negated.value == float(not holds)


def test_the_finding_is_said_as_a_hit_or_a_miss() -> None:
    check = {"type": "contains", "value": "refund"}
    negated = check | {"negate": True}

    assert score(check, "a refund") == Score(value=1.0, hits=('contains "refund"',))
    assert score(check, "no") == Score(value=0.0, misses=('does not contain "refund"',))
    assert score(negated, "no") == Score(value=1.0, hits=('does not contain "refund"',))
    assert score(negated, "a refund") == Score(value=0.0, misses=('contains "refund"',))


@pytest.mark.parametrize(
    ("kind", "miss"),
    [
        ("icontains", 'does not contain "x{}\\n" in any case'),
        ("equals", 'does not equal "x{}\\n"'),
        ("starts_with", 'does not start with "x{}\\n"'),
        ("ends_with", 'does not end with "x{}\\n"'),
    ],
)
def test_each_check_names_itself_and_its_text_on_one_line(kind: str, miss: str) -> None:
    assert score({"type": kind, "value": "x{}\n"}, "no").misses == (miss,)


def test_long_texts_are_shortened_in_findings() -> None:
    [miss] = score({"type": "contains", "value": "x" * 500}, "no").misses
    assert miss == f'does not contain "{"x" * 59}…"'


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", ["", " \n"])
def test_a_blank_text_is_a_mistake_since_every_answer_has_it(kind: str, value: str) -> None:
    [problem] = problems_of({"type": kind, "value": value})
    assert problem.path == ("value",)
    assert "blank" in problem.message


@pytest.mark.parametrize("settings", [{"value": 4}, {}, {"value": "a", "negat": True}])
def test_settings_of_the_wrong_type_or_name_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        options_of({"type": "equals", **settings})
