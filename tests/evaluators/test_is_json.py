"""Whether the answer is JSON."""

import json

import pytest
from evaluator_build import score
from hypothesis import given
from hypothesis import strategies as st

CHECK = {"type": "is_json"}

scalars = st.none() | st.booleans() | st.integers() | st.text()
numbers = st.floats(allow_nan=False, allow_infinity=False)
trees = st.recursive(
    scalars | numbers, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(trees, st.sampled_from([None, 2]), st.booleans())
def test_whatever_json_can_say_is_json(tree: object, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(tree, indent=indent, ensure_ascii=ascii_only)
    assert score(CHECK, f"\n {text} \n").value == 1.0


@pytest.mark.parametrize("answer", ['{"a": 1, "a": 2}', "9" * 5000, "1e999", '"\\ud800"'])
def test_json_that_python_finds_hard_is_json(answer: str) -> None:
    assert score(CHECK, answer).value == 1.0


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        ("", "Expecting value at line 1, column 1"),
        ("NaN", "NaN is not a JSON number"),
        ('{"a": -Infinity}', "-Infinity is not a JSON number"),
        ("{'a': 1}", "Expecting property name enclosed in double quotes at line 1, column 2"),
        ('{"a": 1', "Expecting ',' delimiter at line 1, column 8"),
        ('{"a": 1}\nThere you are.', "Extra data at line 2, column 1"),
        ('```json\n{"a": 1}\n```', "Expecting value at line 1, column 1"),
        ('"a\nb"', "Invalid control character at at line 1, column 3"),
        ("[" * 100_000 + "]" * 100_000, "it is nested too deeply to be read"),
    ],
)
def test_what_is_not_json_is_said_with_its_place(answer: str, mistake: str) -> None:
    assert score(CHECK, answer).misses == (f"is not JSON: {mistake}",)
    assert score(CHECK, answer).value == 0.0


def test_negation_turns_it() -> None:
    negated = CHECK | {"negate": True}
    assert score(negated, "plain words").value == 1.0
    assert score(negated, "{}").misses == ("is JSON",)
