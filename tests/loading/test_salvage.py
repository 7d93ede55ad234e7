"""What is left of a tree that is not well formed."""

from copy import deepcopy
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from agentv.loading.case_file import CaseFile
from agentv.loading.check import CheckFailed, convert
from agentv.loading.salvage import STAND_IN_ID, misspelt_key, read_record
from agentv.model.problem import key_path
from agentv.providers.cli import CliOptions

CASE: dict[str, Any] = {
    "id": "one",
    "outcome": "Polite.",
    "input_messages": [
        {"role": "system", "content": "Be polite."},
        {"role": "user", "content": [{"type": "text", "value": "Hi"}]},
    ],
    "execution": {"target": "default"},
}


def said(tree: Any, model: type[Any]) -> list[str]:
    """Every mistake as `path: message`."""
    return [f"{key_path(m.path)}: {m.message}" for m in read_record(tree, model).mistakes]


def test_a_valid_tree_is_its_record() -> None:
    reading = read_record(CASE, CaseFile)
    assert reading.record == msgspec.convert(CASE, CaseFile)
    assert (reading.mistakes, reading.unclear) == ((), ())
    assert reading.written(("input_messages", 0)) == ("input_messages", 0)


def test_a_misspelt_key_is_read_as_the_key_that_was_meant() -> None:
    """At any depth; what is wrong below it is found, and placed where it was written."""
    tree = {
        "id": "one",
        "input_mesages": [{"role": "user", "contnt": [{"type": "txt", "valu": "Hi"}]}],
    }
    reading = read_record(tree, CaseFile)
    assert said(tree, CaseFile) == [
        "input_mesages: unknown key 'input_mesages'",
        "input_mesages[0].contnt: unknown key 'contnt'",
        "input_mesages[0].contnt[0].valu: unknown key 'valu'",
        "input_mesages[0].contnt[0].type: unknown type 'txt'",
    ]
    assert reading.record is not None
    assert reading.unclear == [("input_messages", 0, "content", 0, "type")]
    place = ("input_messages", 0, "content", 0, "value")
    assert reading.written(place) == ("input_mesages", 0, "contnt", 0, "valu")


def test_a_guess_that_does_not_fit_is_not_held_against_the_author() -> None:
    reading = read_record({**CASE, "evaluatorz": [1]}, CaseFile)
    assert [mistake.message for mistake in reading.mistakes] == ["unknown key 'evaluatorz'"]
    assert reading.record is not None
    assert reading.record.evaluator is None


def test_stand_ins_are_known_as_such() -> None:
    reading = read_record({"input_messages": ["Hi", {"role": "user", "content": 5}]}, CaseFile)
    assert reading.record is not None
    assert reading.record.id == STAND_IN_ID
    assert reading.invented(("input_messages", 0, "content"))
    assert reading.invented(("input_messages", 1, "content"))
    assert not reading.invented(("input_messages", 1, "role"))


def test_what_cannot_be_replaced_goes_with_what_holds_it() -> None:
    tree = {
        "name": "a",
        "provider": "cli",
        "command_template": "cat",
        "healthcheck": {"type": "tcp", "url": "x"},
    }
    reading = read_record(tree, CliOptions)
    assert reading.record is not None
    assert reading.record.healthcheck is None


def test_nothing_is_left_of_what_is_no_mapping() -> None:
    for tree in (5, [CASE], None, "x"):
        reading = read_record(tree, CaseFile)
        assert reading.record is None
        assert len(reading.mistakes) == 1


def test_the_tree_is_left_as_it_was() -> None:
    tree = {"id": 5, "outcme": "x"}
    before = deepcopy(tree)
    read_record(tree, CaseFile)
    assert tree == before


def test_a_key_of_another_record_is_not_taken_for_one_of_this() -> None:
    tree = {**CASE, "role": "user", "threshold": 1, "note": 5}
    assert said(tree, CaseFile) == [
        "role: unknown key 'role'",
        "threshold: unknown key 'threshold'",
        "note: expected text, found the number 5",
    ]


def test_which_key_was_meant() -> None:
    known = ("name", "type", "weight")
    assert misspelt_key({"tpye": 1}, "type", known) == "tpye"
    assert misspelt_key({"value": 1, "nme": 1}, "type", known) is None
    assert misspelt_key({"name": 1}, "type", known) is None


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*CaseFile.__struct_fields__, "role", "content", "value", "type", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(ANY)
def test_any_tree_is_read(tree: Any) -> None:
    """Mistakes are found exactly when the tree does not fit, and never make reading fail."""
    reading = read_record(tree, CaseFile)
    try:
        record = convert(tree, CaseFile)
    except CheckFailed:
        assert reading.mistakes
        assert reading.record is None or isinstance(reading.record, CaseFile)
    else:
        assert reading.record == record
        assert not reading.mistakes
