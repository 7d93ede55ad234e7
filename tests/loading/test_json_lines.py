"""Strict JSON, one document a line."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentv.loading.json_lines import DocumentError, parse_json_line, parse_json_positions
from agentv.loading.mistake import Mistake
from agentv.model.problem import KeyPath


def mistakes(line: str | bytes) -> Sequence[Mistake]:
    with pytest.raises(DocumentError) as caught:
        parse_json_line(line)
    return caught.value.mistakes


@pytest.mark.parametrize("kind", [str, str.encode], ids=["text", "bytes"])
def test_a_line_is_read(kind: Any) -> None:
    line = kind('\ufeff{"id": "é", "n": [1, 2.5, true, null], "smile": "\\ud83d\\ude00"}\r\n')
    assert parse_json_line(line) == {"id": "é", "n": [1, 2.5, True, None], "smile": "😀"}


def test_all_duplicate_keys_are_found_in_one_pass() -> None:
    line = '{"a": 1, "b": [{"x": 1, "x": 2}], "a": 3, "\\u0061": 4}'
    assert [(m.column, m.path, m.message, m.hint, m.code) for m in mistakes(line)] == [
        (
            25,
            ("b", 0, "x"),
            "duplicate key 'x'",
            "it is already in column 17; keep one",
            "duplicate-key",
        ),
        (35, ("a",), "duplicate key 'a'", "it is already in column 2; keep one", "duplicate-key"),
        (43, ("a",), "duplicate key 'a'", "it is already in column 2; keep one", "duplicate-key"),
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", "1 json-syntax: the line is empty; write one document a line"),
        ("[1, NaN]", "5 out-of-range: NaN is not JSON; write a number"),
        ("-Infinity", "1 out-of-range: -Infinity is not JSON; write a number"),
        ('{"a": 1e999}', "7 out-of-range: the number 1e999 is too large; write a smaller one"),
        (
            f"[{'9' * 5000}]",
            f"2 out-of-range: the number {'9' * 20}… is too large; write a smaller one",
        ),
        (
            '{"a": "\\uD800"}',
            "7 surrogate: U+D800 is half a character, which cannot be written as UTF-8; "
            "write the whole character",
        ),
        (
            '{"\\udc00": 1}',
            "2 surrogate: U+DC00 is half a character, which cannot be written as UTF-8; "
            "write the whole character",
        ),
        (
            '["\udcff"]',
            "2 surrogate: U+DCFF is half a character, which cannot be written as UTF-8; "
            "write the whole character",
        ),
        (b'{"\xc3\xa9": "\xff"}', "8 not-utf8: the byte 0xFF is not UTF-8; save the file as UTF-8"),
        ("{'a': 1}", '2 json-syntax: expected a key in double quotes; write "key": value, '),
        ('{"a" 1}', "6 json-syntax: expected ':'; write \"key\": value"),
        ("[1 2]", "4 json-syntax: expected ','; separate values with commas"),
        ('["x', "2 json-syntax: the text that starts here has no end; close it with"),
        ('["\\q"]', "3 json-syntax: unknown escape in a text; write \\\\ for a backslash"),
        ('["\t"]', "3 json-syntax: a raw control character in a text; write it as \\uXXXX"),
        (
            "{} {}",
            "4 json-syntax: more text after the end of the document; keep one document a line",
        ),
        ("[tru]", "2 json-syntax: expected a value; write text in double quotes, "),
    ],
)
def test_refusals(line: str | bytes, expected: str) -> None:
    """Each refusal says what is wrong, in which column, and what would be right."""
    (mistake,) = mistakes(line)
    assert mistake.line == 1
    said = f"{mistake.column} {mistake.code}: {mistake.message}; {mistake.hint}"
    assert said.startswith(expected)


def test_earlier_mistakes_come_with_a_syntax_error() -> None:
    assert [m.code for m in mistakes('{"a": 1, "a": 2')] == ["duplicate-key", "json-syntax"]


@pytest.mark.parametrize(
    "line",
    ["[" * 101 + "]" * 101, "[" * 20_000 + "]" * 20_000, '{"a":' * 5_000 + "1" + "}" * 5_000],
)
def test_deep_nesting_ends_quickly(line: str) -> None:
    assert [m.code for m in mistakes(line)] == ["depth"]


def test_a_hundred_levels_are_fine() -> None:
    assert parse_json_line("[" * 100 + "]" * 100)


def test_many_small_lists_are_not_deep() -> None:
    assert parse_json_line(json.dumps([[]] * 500)) == [[]] * 500


@pytest.mark.parametrize(
    ("path", "key", "column"),
    [
        ((), False, 2),
        (("id",), True, 3),
        (("id",), False, 9),
        (("input_messages", 0, "role"), False, 43),
        (("input_messages", 0, "content"), True, 34),
        (("input_messages", 3), False, 33),
        (("outcome",), True, 2),
    ],
)
def test_positions(path: KeyPath, key: bool, column: int) -> None:
    """A path that does not exist points at the nearest value above it."""
    line = ' {"id": "é", "input_messages":  [{"role": "user"}]}'
    assert parse_json_positions(line).of(path, key=key) == (1, column)


text = st.text(st.characters(codec="utf-8"), max_size=12)
trees = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda part: st.lists(part, max_size=4) | st.dictionaries(text, part, max_size=4),
    max_leaves=20,
)


def paths(tree: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    yield path, tree
    if isinstance(tree, dict | list):
        items = tree.items() if isinstance(tree, dict) else enumerate(tree)
        for key, value in items:
            yield from paths(value, (*path, key))


@given(tree=trees, ascii_only=st.booleans())
def test_what_json_writes_is_read_and_located(tree: Any, ascii_only: bool) -> None:
    line = json.dumps(tree, ensure_ascii=ascii_only)
    assert parse_json_line(line) == tree
    positions = parse_json_positions(line)
    for path, value in paths(tree):
        there = line[positions.of(path)[1] - 1 :]
        assert there.startswith(json.dumps(value, ensure_ascii=ascii_only))
        if path and isinstance(path[-1], str):
            there = line[positions.of(path, key=True)[1] - 1 :]
            assert there.startswith(json.dumps(path[-1], ensure_ascii=ascii_only))


json_like = st.text(st.sampled_from('ab1 {}[],:"\\u0dDnN8-.eE+trfé\ud800\n'))


@settings(max_examples=300)
@given(line=json_like | st.text() | st.binary())
def test_any_line_is_read_or_refused_with_a_column(line: str | bytes) -> None:
    """Nothing but `DocumentError` leaves the parser, and there is always a place."""
    found: Sequence[Mistake] = ()
    try:
        parse_json_line(line)
    except DocumentError as error:
        found = error.mistakes
        assert found
    assert all(m.column is not None and 1 <= m.column <= len(line) + 1 for m in found)
    if isinstance(line, str):
        parse_json_positions(line)
