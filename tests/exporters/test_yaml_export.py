import io
import math
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from agentv.exporters.yaml import write_yaml
from agentv.loading.yaml12 import parse_yaml

AMBIGUOUS = (
    *("", " ", "\n", "\t", "~", "null", "Null", "no", "Yes", "y", "N", "on", "off", "true"),
    *("1", "-1", "+1", "1e3", "1E3", "0x1f", "0o17", "017", "1_000", ".5", "5.", ".inf", "-.INF"),
    *(".nan", "12:30", "12:30:45", "2026-11-21", "2026-11-21T07:08:01Z", "<<", "=", "-", "---"),
    *("...", "?", ":", "a: b", "a:", "a #b", "#a", "*a", "&a", "!a", "!!str a", "%a", "@a", "`a`"),
    *("[a]", "{a}", "|", ">", "- a", "? a", "'a'", '"a"', "a, b", "a  b", " a", "a ", "\ta", "a\t"),
    *("a\nb", "a\nb\n", "a\n\n", "\na", "\n\n a\nb", " a\nb", "\ta\nb", "a\n b\n\n\n", "a\n   "),
    *(
        "a\n\t\nb",
        "a \nb",
        "---\na",
        "a\n---\nb",
        "a\n...\n",
        "# a\nb",
        "a\r\nb",
        "a\rb",
        "\ufeffa",
    ),
    *("a\n\ufeffb", "a\x85b\nc", "a\u2028b", "a\u2029\nb", "\x00", "\x1b[0m\n", "\x7f", "\ufffe"),
    *("é", "日本語\n次", "🎈 a", "🎈\nb", "\U0010ffff", "\\n", "a\\", 'say "a"\n\\'),
)
TEXTS = (
    st.sampled_from(AMBIGUOUS)
    | st.text(" \t\n-:#|>'\"a1é", max_size=12)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
)
NUMBERS = st.integers() | st.floats(allow_nan=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def written(*rows: dict[str, Any]) -> str:
    file = io.BytesIO()
    write_yaml(rows, file)
    return file.getvalue().decode()


def same(found: Any, expected: Any) -> bool:
    """Equal, and of the same types: `1 == 1.0 == True` would hide what was lost."""
    return repr(found) == repr(expected)


def check(row: dict[str, Any]) -> None:
    text = written(row)
    for loader in (yaml.SafeLoader, yaml.CSafeLoader):
        assert same(yaml.load(text, loader), row), text
    assert same(parse_yaml(text, pure=True), row), text
    assert same(parse_yaml(text), row), text


def test_a_row_reads_like_a_page() -> None:
    row = {
        "eval_id": "greeting",
        "verdict": "pass",
        "score": 0.9,
        "hits": ["says hello", "names: both"],
        "misses": [],
        "candidate_answer": "Dear Søren,\n\n  hello.\n",
        "evaluator_results": [
            {"name": "tone", "score": 1.0, "reasoning": "Short.\nKind."},
            {"name": "no", "score": 1e-07, "error": None},
        ],
        "trace": [[1, [2]], "12:30", {}],
    }
    assert (
        written(row)
        == """\
eval_id: greeting
verdict: pass
score: 0.9
hits:
  - says hello
  - "names: both"
misses: []
candidate_answer: |
  Dear Søren,

    hello.
evaluator_results:
  - name: tone
    score: 1.0
    reasoning: |-
      Short.
      Kind.
  - name: "no"
    score: 1.0e-07
    error: null
trace:
  - - 1
    - - 2
  - "12:30"
  - {}
"""
    )


def test_documents_are_parted_by_dashes() -> None:
    text = written({"a": "x\n\n"}, {}, {"b": 2})
    assert text == "a: |+\n  x\n\n---\n{}\n---\nb: 2\n"
    assert list(yaml.safe_load_all(text)) == [{"a": "x\n\n"}, {}, {"b": 2}]


def test_long_lines_are_not_folded() -> None:
    words = "word " * 200 + "end"
    assert written({"a": words, "b": f"{words}\n"}) == f"a: {words}\nb: |\n  {words}\n"


def test_letters_of_all_scripts_are_shown_as_they_are() -> None:
    assert written({"clé": "日本語", "b": "🎈!"}) == 'clé: 日本語\nb: "🎈!"\n'


@pytest.mark.parametrize("text", AMBIGUOUS, ids=repr)
def test_a_text_comes_back_as_a_text(text: str) -> None:
    """Whatever YAML 1.1 or 1.2 might take it for, as a value, an item and a key."""
    check({"a": text, "b": [text, [text], {"c": text}], text: {text: 1}, "z": 1})


@pytest.mark.parametrize(
    "number", [0, -1, 2**80, 0.0, -0.0, 1.0, 1e-7, 1.5e300, 1e22, 5e-324, math.inf, -math.inf]
)
def test_a_number_comes_back_as_that_number(number: float) -> None:
    check({"a": number, "b": [number]})


def test_no_number_comes_back_as_none() -> None:
    assert math.isnan(yaml.safe_load(written({"a": math.nan}))["a"])


def test_keys_may_be_of_any_length() -> None:
    long = "k" * 3000
    check({long: 1, "a": [{long: {"b": "x\ny"}}, {f"{long}: \n": [1]}]})


def test_half_a_character_becomes_a_question_mark() -> None:
    assert written({"a": "cut \ud83d\n", "b": "\ud83d"}) == 'a: |\n  cut ?\nb: "?"\n'


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError, match="set is not a JSON value"):
        written({"a": {1}})


@given(row=st.dictionaries(TEXTS, VALUES, max_size=4))
@example(row={"a": {}, "b": [[], {}, [[]]]})
def test_every_row_comes_back_as_it_was(row: dict[str, Any]) -> None:
    check(row)
