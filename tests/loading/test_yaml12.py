"""Strict YAML 1.2: what is read, what is refused, and where it says so."""

import gc
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentv.loading.mistake import Mistake
from agentv.loading.yaml12 import DocumentError, parse_yaml, parse_yaml_positions
from agentv.model.problem import KeyPath

PURE = pytest.mark.parametrize("pure", [False, True], ids=["libyaml", "python"])


def complaints(text: str, *, pure: bool = False) -> list[str]:
    """Every mistake as one line: `line:column code: message; hint`."""
    with pytest.raises(DocumentError) as caught:
        parse_yaml(text, pure=pure)
    return [f"{m.line}:{m.column} {m.code}: {m.message}; {m.hint}" for m in caught.value.mistakes]


def codes(text: str) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        parse_yaml(text)
    return [mistake.code for mistake in caught.value.mistakes]


@PURE
@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[(word, None) for word in ("", "~", "null", "Null", "NULL")],
        *[(word, True) for word in ("true", "True", "TRUE")],
        *[(word, False) for word in ("false", "False", "FALSE")],
        ("0", 0),
        ("-12", -12),
        ("+7", 7),
        ("010", 10),
        ("0o17", 15),
        ("0xFf", 255),
        ("1.5", 1.5),
        ("1.", 1.0),
        ("-.5", -0.5),
        ("6e-2", 0.06),
        ("1E3", 1000.0),
        (".inf", math.inf),
        ("-.Inf", -math.inf),
    ],
)
def test_words_that_are_more_than_text(text: str, value: object, pure: bool) -> None:
    """The core schema of YAML 1.2 gives these spellings another type than text."""
    read = parse_yaml(f"key: {text}\n", pure=pure)["key"]
    assert read == value
    assert type(read) is type(value)


def test_not_a_number() -> None:
    assert math.isnan(parse_yaml(".nan"))


@PURE
@pytest.mark.parametrize(
    "text",
    [
        *("no", "yes", "on", "off", "y", "n", "nUll", "tRUE", "nothing", "Nope", "Frank"),
        *("12:30", "1:2:3", "2024-01-01", "2024-01-01T10:00:00Z", "1_000", "0b101", "0x", "0o8"),
        *("+0x1", "1.2.3", ".", "..", "+", "-x", "1e", "e5", ".e1", "+.nan", "inf", "nan"),
        *("1,5", "~x", "=", "<<x", "5 %"),
    ],
)
def test_words_that_stay_text(text: str, pure: bool) -> None:
    """What YAML 1.1 turned into booleans, dates and base-60 numbers stays as it is written."""
    assert parse_yaml(f"key: {text}\n", pure=pure) == {"key": text}


@PURE
def test_quoted_and_block_scalars_are_always_text(pure: bool) -> None:
    text = "a: '7'\nb: \"true\"\nc: |\n  null\nd: >-\n  1.5\ne: ''\n'1': x\n"
    expected = {"a": "7", "b": "true", "c": "null\n", "d": "1.5", "e": "", "1": "x"}
    assert parse_yaml(text, pure=pure) == expected


@PURE
def test_tags_of_the_core_schema(pure: bool) -> None:
    text = "[!!str 7, !!int '7', !!float 7, !!bool 'true', !!null '', !!seq [1], !!map {a: 1}]"
    read = parse_yaml(text, pure=pure)
    assert read == ["7", 7, 7.0, True, None, [1], {"a": 1}]
    assert type(read[2]) is float


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "---\n", "\ufeff"])
def test_nothing_is_none(text: str) -> None:
    assert parse_yaml(text) is None


def test_byte_order_mark_and_windows_line_ends() -> None:
    assert parse_yaml("\ufeffa: |\r\n  x\r\n  y\r\n") == {"a": "x\ny\n"}


@PURE
def test_only_yaml_12_line_breaks_break_lines(pure: bool) -> None:
    """U+0085, U+2028 and U+2029 are ordinary characters, in values and when lines are counted."""
    text = 'a: "x \u2028 y \x85 z"\nb: p\u2029q\nb: 1\n'
    with pytest.raises(DocumentError) as caught:
        parse_yaml(text, pure=pure)
    assert [(m.line, m.column) for m in caught.value.mistakes] == [(3, 1)]
    assert parse_yaml(text[: text.rindex("b")], pure=pure) == {
        "a": "x \u2028 y \x85 z",
        "b": "p\u2029q",
    }


@PURE
def test_aliases_and_merge_keys(pure: bool) -> None:
    """Own keys win over merged ones, earlier mappings over later ones."""
    text = """
base: &base {type: llm_judge, weight: 2}
other: &other {weight: 3, target: b}
word: &word hello
uses:
  - *base
  - *word
  - {<<: *base, weight: 5}
  - <<: [*base, *other]
  - {"<<": kept}
"""
    assert parse_yaml(text, pure=pure)["uses"] == [
        {"type": "llm_judge", "weight": 2},
        "hello",
        {"type": "llm_judge", "weight": 5},
        {"type": "llm_judge", "weight": 2, "target": "b"},
        {"<<": "kept"},
    ]


@PURE
def test_all_duplicate_keys_are_found_in_one_pass(pure: bool) -> None:
    text = "a: 1\nb:\n  - {x: 1, x: 2}\n  - y: 1\n    z: 2\n    y: 3\n    y: 4\na: 2\n"
    with pytest.raises(DocumentError) as caught:
        parse_yaml(text, pure=pure)
    assert [(m.line, m.column, m.path, m.message, m.hint) for m in caught.value.mistakes] == [
        (3, 12, ("b", 0, "x"), "duplicate key 'x'", "it is already in line 3; keep one"),
        (6, 5, ("b", 1, "y"), "duplicate key 'y'", "it is already in line 4; keep one"),
        (7, 5, ("b", 1, "y"), "duplicate key 'y'", "it is already in line 4; keep one"),
        (8, 1, ("a",), "duplicate key 'a'", "it is already in line 1; keep one"),
    ]
    assert {m.code for m in caught.value.mistakes} == {"duplicate-key"}


@PURE
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1: x", '1:1 non-text-key: the key 1 is not text; quote it: "1":'),
        ("a:\n  true: x", '2:3 non-text-key: the key true is not text; quote it: "true":'),
        (
            "content: {{ name }}",
            "1:11 non-text-key: a key must be text; "
            "quote a text that starts with '{', '[', '?' or ':'",
        ),
        (
            "a: !!python/object:os.system x",
            "1:4 tag: the tag '!!python/object:os.system' does not belong here; "
            "quote a text that starts with '!'",
        ),
        (
            "a: !env x",
            "1:4 tag: the tag '!env' does not belong here; quote a text that starts with '!'",
        ),
        (
            "a: !!int x",
            "1:4 tag: 'x' is not what the tag !!int says; quote a text that starts with '!'",
        ),
        ("a: !!seq {}", "1:4 tag: the tag '!!seq' does not belong here; leave it out"),
        (
            "a: 1\n---\nb: 2",
            "2:1 several-documents: a second document starts here; keep one document a file",
        ),
        (
            "base: &base 1\nb: *bsae",
            "2:4 yaml-syntax: no anchor '&bsae' stands before this alias; did you mean 'base'?",
        ),
        (
            "a: *important",
            "1:4 yaml-syntax: no anchor '&important' stands before this alias; "
            "quote a text that starts with '*'",
        ),
        (
            "a: &a [*a]",
            "1:8 alias-budget: the alias '*a' stands inside its own anchor; write the values out",
        ),
        (
            "<<: 3",
            "1:5 wrong-type: '<<' takes a mapping or a list of mappings; "
            "write `<<: *anchor`, or quote the key",
        ),
        (
            "a: &a {}\nb:\n  <<: *a\n  <<: *a",
            "4:3 duplicate-key: duplicate key '<<'; put both in one list: `<<: [*one, *other]`",
        ),
        (
            'a: "\\ud800"',
            "1:4 surrogate: the escape stands for half a character, which cannot be written as "
            "UTF-8; write the character itself, or \\U and its eight hexadecimal digits",
        ),
        (
            "a: é\x07",
            "1:5 yaml-syntax: the control character U+0007 cannot stand in YAML; "
            'take it out, or write "\\x07"',
        ),
        (
            "a: b\nc: \udc80",
            "2:4 surrogate: U+DC80 is half a character, which cannot be written as UTF-8; "
            "take it out",
        ),
        (
            f"a: {'9' * 5000}",
            "1:4 out-of-range: a number of 5000 digits is too long; quote it to make it text",
        ),
    ],
)
def test_refusals(text: str, expected: str, pure: bool) -> None:
    """Each refusal says what is wrong, where, and what would be right; with either parser."""
    if "ud800" in text and not pure:
        expected = expected.replace("1:4", "1:7")  # libyaml points at the digits
    assert complaints(text, pure=pure)[0] == expected


@PURE
@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a:\n\tb: 1", 2, "a tab is used to indent"),
        ("a: b: c", 1, "a ':' stands where no key can be"),
        ("a: 1\n  b: 2", 2, "a ':' stands where no key can be"),
        ("a: - b", 1, "a list item stands where no list can start"),
        ('a: 1\nb: "never\nclosed', 2, "the quoted text that starts here has no end"),
        ("a: [1,\n2", 2, "expected ',' or ']' in the list that starts on line 1, column 4"),
        ("a: {b: 1", 1, "expected ',' or '}' in the mapping that starts on line 1, column 4"),
        ("a: **bold**", 1, "a text that starts with '*' must be quoted"),
        ("a: @file", 1, "a text that starts with '@' must be quoted"),
        ("a: `code`", 1, "a text that starts with '`' must be quoted"),
        ('a: "\\d+"', 1, "unknown escape in a text in double quotes"),
        ("a: | text", 1, "a text below '|' or '>' starts on the next line"),
        ("a: 1\nb\nc: 2", 2, "the key that starts here has no ':'"),
        ("a:\n  - b\n  c: 1", 3, "expected a list item"),
        ('a: "x" y\nb: 1', 1, "expected a key"),
        ("!x!y z", 1, "the tag does not belong here"),
    ],
)
def test_syntax_errors_are_said_for_people(text: str, line: int, message: str, pure: bool) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_yaml(text, pure=pure)
    (mistake,) = caught.value.mistakes
    assert (mistake.line, mistake.message) == (line, message)
    assert mistake.hint
    assert mistake.code in ("yaml-syntax", "tag")


def test_earlier_mistakes_come_with_a_syntax_error() -> None:
    assert codes("a: 1\na: 2\nb: [") == ["duplicate-key", "yaml-syntax"]


def test_alias_bomb_ends_quickly() -> None:
    """Nine lines that stand for a billion values."""
    lines = ["a: &a [x,x,x,x,x,x,x,x,x,x]"]
    lines += [f"{b}: &{b} [{','.join([f'*{a}'] * 10)}]" for a, b in pairwise("abcdefghi")]
    assert codes("\n".join(lines)) == ["alias-budget"]


def test_merge_bomb_ends_quickly() -> None:
    keys = ", ".join(f"k{n}: 1" for n in range(200))
    uses = "\n".join("- {<<: *a}" for _ in range(2_000))
    assert codes(f"- &a {{{keys}}}\n{uses}") == ["alias-budget"]


def test_many_cases_may_share_one_value() -> None:
    """The budget grows with the text: honest use of aliases in a large suite is fine."""
    uses = "\n".join("- {id: a longer case, evaluators: *e}" for _ in range(5_000))
    read = parse_yaml(f"- &e [{{type: a}}, {{type: b}}, {{type: c}}]\n{uses}\n")
    assert read[5_000]["evaluators"] == [{"type": "a"}, {"type": "b"}, {"type": "c"}]


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 500, "- " * 5_000, "? " * 3_000])
def test_deep_nesting_ends_quickly(text: str) -> None:
    assert codes(text) == ["depth"]


def test_nesting_behind_aliases_counts() -> None:
    lines = ["- &a0 x"] + [f"- &a{n + 1} [*a{n}]" for n in range(150)]
    assert codes("\n".join(lines)) == ["depth"]


def test_a_hundred_levels_are_fine() -> None:
    assert codes("[" * 101 + "]" * 101) == ["depth"]
    assert parse_yaml("[" * 100 + "]" * 100)


@pytest.mark.parametrize("text", ["a: 1", "a: ["])
def test_garbage_collector_is_left_as_it_was(text: str) -> None:
    assert gc.isenabled()
    with suppress(DocumentError):
        parse_yaml(text)
    assert gc.isenabled()


POSITIONS = """\
$schema: x
evalcases:
  - id: one
    evaluators: &shared
      - {type: code}
  - id: two
    outcome:
    evaluators: *shared
  - <<: {note: n}
    id: three
"""


@PURE
@pytest.mark.parametrize(
    ("path", "key", "place"),
    [
        ((), False, (1, 1)),
        (("evalcases",), True, (2, 1)),
        (("evalcases",), False, (3, 3)),
        (("evalcases", 0, "id"), True, (3, 5)),
        (("evalcases", 0, "id"), False, (3, 9)),
        (("evalcases", 0, "evaluators", 0, "type"), False, (5, 16)),
        (("evalcases", 1, "outcome"), False, (7, 13)),
        (("evalcases", 1, "evaluators"), False, (8, 17)),
        (("evalcases", 1, "evaluators", 0, "type"), True, (5, 10)),
        (("evalcases", 2, "note"), False, (9, 16)),
        (("evalcases", 1, "input_messages"), False, (6, 5)),
        (("evalcases", 1, "input_messages", 0, "role"), True, (6, 5)),
        (("evalcases", 7), False, (3, 3)),
    ],
)
def test_positions(path: KeyPath, key: bool, place: tuple[int, int], pure: bool) -> None:
    """A path that does not exist points at the nearest value above it."""
    assert parse_yaml_positions(POSITIONS, pure=pure).of(path, key=key) == place


def test_positions_of_nothing() -> None:
    assert parse_yaml_positions("# empty\n").of(("a",)) == (1, 1)


plain_text = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]) | st.just("\x85"),
    max_size=20,
)
trees = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | plain_text,
    lambda part: st.lists(part, max_size=4) | st.dictionaries(plain_text, part, max_size=4),
    max_leaves=20,
)


def paths(tree: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    yield path, tree
    if isinstance(tree, dict | list):
        items = tree.items() if isinstance(tree, dict) else enumerate(tree)
        for key, value in items:
            yield from paths(value, (*path, key))


@PURE
@given(tree=trees)
def test_json_is_read_as_yaml(tree: Any, pure: bool) -> None:
    """JSON without escaped surrogate pairs is YAML 1.2, and means the same."""
    assert parse_yaml(json.dumps(tree, ensure_ascii=False), pure=pure) == tree
    assert parse_yaml(json.dumps(tree, ensure_ascii=False, indent=2), pure=pure) == tree


@given(tree=trees)
def test_every_position_points_at_its_value(tree: Any) -> None:
    text = json.dumps(tree, ensure_ascii=False, indent=1)
    lines = text.split("\n")
    positions = parse_yaml_positions(text)
    for path, value in paths(tree):
        line, column = positions.of(path)
        there = lines[line - 1][column - 1 :]
        shown = json.dumps(value, ensure_ascii=False)
        assert there.startswith(shown[0] if isinstance(value, dict | list) else shown)
        if path and isinstance(path[-1], str):
            line, column = positions.of(path, key=True)
            assert lines[line - 1][column - 1 :].startswith(
                json.dumps(path[-1], ensure_ascii=False)
            )


yaml_like = st.text(st.sampled_from("ab1 \n\t:-?,[]{}#&*!|>'\"%@`~<.\\x0u\ud800\x07\x85é"))


@PURE
@settings(max_examples=300)
@given(text=yaml_like | st.text())
def test_any_text_is_read_or_refused_with_a_place(text: str, pure: bool) -> None:
    """Nothing but `DocumentError` leaves the parser, and every mistake lies in the text."""
    found: Sequence[Mistake] = ()
    try:
        parse_yaml(text, pure=pure)
        parse_yaml_positions(text, pure=pure)
    except DocumentError as error:
        found = error.mistakes
    for mistake in found:
        assert mistake.line is not None
        assert 1 <= mistake.line <= len(text.splitlines() or [""]) + 1
