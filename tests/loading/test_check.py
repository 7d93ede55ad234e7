"""Checking plain trees against record types: every mistake, each at its place."""

import math
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from agentv.loading.check import CheckFailed, check, convert
from agentv.loading.nearest import did_you_mean, nearest
from agentv.model.base import AuthoredRecord
from agentv.model.case import ContentPart, EvalCase, Message
from agentv.model.options import EvaluatorOptions, TargetOptions
from agentv.model.problem import key_path


class Limits(AuthoredRecord, frozen=True, kw_only=True):
    share: Annotated[float, Meta(ge=0, le=1)] = 0.5
    seconds: Annotated[float, Meta(gt=0)] | None = None
    tries: Annotated[int, Meta(ge=1, lt=10)] = 1
    code: Annotated[str, Meta(max_length=3)] | None = None
    tags: Annotated[list[str], Meta(min_length=1, max_length=2)] | None = None
    version: Literal[1, 2] = 1
    schema: Literal["agentv-v1"] | None = msgspec.field(name="$schema", default=None)
    flag: bool = False
    extra: dict[str, int] | None = None
    anything: Any = None
    either: int | str | None = None
    pair: tuple[int, str] | None = None
    later: str | msgspec.UnsetType = msgspec.UNSET


class Word(AuthoredRecord, frozen=True, kw_only=True):
    """Has a constraint that only msgspec checks."""

    words: list[Annotated[str, Meta(pattern="^[a-z]+$")]]


def said(value: Any, type_: Any) -> list[str]:
    """Every mistake as one line: `path code: message; hint`."""
    return [
        f"{key_path(m.path)} {m.code}: {m.message}" + (f"; {m.hint}" if m.hint else "")
        for m in check(value, type_)
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"share": 1.5}, "share out-of-range: the number 1.5 is out of range; "
                         "write a number from 0 to 1"),
        ({"share": -1}, "share out-of-range: the number -1 is out of range; "
                        "write a number from 0 to 1"),
        ({"share": math.nan}, "share out-of-range: expected a finite number, found NaN"),
        ({"seconds": math.inf}, "seconds out-of-range: expected a finite number, found Infinity"),
        ({"seconds": 0}, "seconds out-of-range: the number 0 is out of range; "
                         "write a number greater than 0"),
        ({"tries": 10}, "tries out-of-range: the number 10 is out of range; "
                        "write a whole number of at least 1 and less than 10"),
        ({"tries": 2.0}, "tries wrong-type: expected a whole number, found the number 2.0; "
                         "write 2"),
        ({"tries": 2.5}, "tries wrong-type: expected a whole number, found the number 2.5"),
        ({"tries": True}, "tries wrong-type: expected a whole number, found true"),
        ({"tries": "3"}, "tries wrong-type: expected a whole number, found the text '3'; "
                         "write it without quotes: 3"),
        ({"tries": "many"}, "tries wrong-type: expected a whole number, found the text 'many'"),
        ({"tries": None}, "tries wrong-type: expected a whole number, found nothing; "
                          "write a value, or remove the key"),
        ({"share": True}, "share wrong-type: expected a number, found true"),
        ({"code": 7}, 'code wrong-type: expected text, found the number 7; '
                      'write it in quotes: "7"'),
        ({"code": False}, 'code wrong-type: expected text, found false; '
                          'write it in quotes: "false"'),
        ({"code": "long"}, "code out-of-range: must have at most 3 characters, not 4"),
        ({"code": {"a": 1}}, "code wrong-type: expected text, found a mapping"),
        ({"tags": []}, "tags empty-value: must not be empty"),
        ({"tags": ["a"] * 3}, "tags out-of-range: must have at most 2 entries, not 3"),
        ({"tags": "a"}, "tags wrong-type: expected a list, found the text 'a'; put it in a list"),
        ({"tags": ["a", 2]}, 'tags[1] wrong-type: expected text, found the number 2; '
                             'write it in quotes: "2"'),
        ({"version": 3}, "version unknown-value: unknown version 3; one of 1, 2"),
        ({"version": "1"}, "version wrong-type: expected one of 1, 2, found the text '1'"),
        ({"version": True}, "version wrong-type: expected one of 1, 2, found true"),
        ({"$schema": "agentv-v2"}, "$schema unknown-value: unknown $schema 'agentv-v2'; "
                                   "did you mean 'agentv-v1'?"),
        ({"$schema": "other"}, "$schema unknown-value: unknown $schema 'other'; "
                               "use 'agentv-v1'"),
        ({"flag": "yes"}, "flag wrong-type: expected true or false, found the text 'yes'; "
                          "write true or false, without quotes"),
        ({"flag": 1}, "flag wrong-type: expected true or false, found the number 1"),
        ({"extra": {"a": "x"}}, "extra.a wrong-type: expected a whole number, found the text 'x'"),
        ({"extra": []}, "extra wrong-type: expected a mapping, found a list"),
        ({"either": 1.5}, "either wrong-type: expected a whole number or text, "
                          'found the number 1.5; write it in quotes: "1.5"'),
        ({"pair": [1]}, "pair wrong-type: expected 2 items, found 1"),
        ({"pair": [1, 2]}, 'pair[1] wrong-type: expected text, found the number 2; '
                           'write it in quotes: "2"'),
        ({"later": 3}, 'later wrong-type: expected text, found the number 3; '
                       'write it in quotes: "3"'),
        ({"tagz": 1}, "tagz unknown-key: unknown key 'tagz'; did you mean 'tags'?"),
        ([], " wrong-type: expected a mapping, found a list"),
    ],
)  # fmt: skip
def test_one_mistake(value: Any, expected: str) -> None:
    """The message names what was found, and the hint what would be right; msgspec agrees."""
    assert said(value, Limits) == [expected]
    with pytest.raises(CheckFailed) as caught:
        convert(value, Limits)
    assert [m.message for m in caught.value.mistakes] == [m.message for m in check(value, Limits)]


def test_every_mistake_is_reported_in_document_order() -> None:
    tree = {
        "asert": 1,
        "input_messages": [
            {"role": "usr", "content": [{"type": "fil", "value": 1}, {"value": "x", "url": 2}]},
            {"role": "tool", "content": 7},
            {"content": []},
        ],
    }
    assert said(tree["input_messages"], list[Message]) == [
        "[0].role unknown-value: unknown role 'usr'; did you mean 'user'? "
        "one of system, user, assistant, tool",
        "[0].content[0].type unknown-value: unknown type 'fil'; did you mean 'file'? "
        "one of text, image, file",
        '[0].content[0].value wrong-type: expected text, found the number 1; '
        'write it in quotes: "1"',
        "[0].content[1].type missing-key: the key 'type' is missing",
        "[0].content[1].url unknown-key: unknown key 'url'; one of type, value",
        '[1].content wrong-type: expected text or a list, found the number 7; '
        'write it in quotes: "7"',
        "[2].role missing-key: the key 'role' is missing",
        "[2].content empty-value: must not be empty",
    ]  # fmt: skip


def test_a_misspelt_key_is_one_mistake() -> None:
    """The key that was meant is not called missing as well."""
    assert said({"role": "user", "contents": "hello"}, Message) == [
        "contents unknown-key: unknown key 'contents'; did you mean 'content'?"
    ]
    (mistake,) = check({"role": "user", "content": "x", "Role": "user"}, Message)
    assert mistake.at_key
    assert mistake.hint == "did you mean 'role'?"


def test_long_texts_are_cut_short() -> None:
    (mistake,) = check({"flag": "x" * 1000}, Limits)
    assert mistake.message == f"expected true or false, found the text '{'x' * 40}…'"
    (mistake,) = check({"flag": "first\nsecond"}, Limits)
    assert mistake.message == "expected true or false, found the text 'first…'"


def test_a_number_beyond_all_floats() -> None:
    (mistake,) = check({"seconds": 10**400}, Limits)
    assert mistake.code == "out-of-range"
    with pytest.raises(CheckFailed):
        convert({"seconds": 10**5000}, Limits)


def test_what_msgspec_alone_refuses_is_refused_in_its_words() -> None:
    assert check({"words": ["ok", "NO"]}, Word) == []
    with pytest.raises(CheckFailed) as caught:
        convert({"words": ["ok", "NO"]}, Word)
    (mistake,) = caught.value.mistakes
    assert mistake.path == ("words", 1)
    assert "^[a-z]+$" in mistake.message


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_are_finite_where_a_number_is_typed(number: float) -> None:
    """msgspec lets some of them pass; `Any` may hold them."""
    for key in ("share", "seconds"):
        with pytest.raises(CheckFailed):
            convert({key: number}, Limits)
    assert convert({"anything": [number]}, Limits).anything == [number]
    with pytest.raises(CheckFailed):
        convert({"type": "code", "weight": number}, EvaluatorOptions)


def test_a_whole_number_serves_as_a_number() -> None:
    assert convert({"name": "a", "provider": "cli", "timeout_seconds": 3}, TargetOptions) == (
        TargetOptions(name="a", provider="cli", timeout_seconds=3.0)
    )


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "user", "usr", "text", "a"]),
    st.just([]),
    st.just({}),
)


def record(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Mappings that are right, or nearly: any key may be left out, strange, or new."""
    keys = {key: strategy | junk for key, strategy in {**required, **optional}.items()}
    right = st.fixed_dictionaries(required, optional=optional)
    wrong = st.fixed_dictionaries({}, optional={**keys, "rol": junk, "x": junk})
    return right | wrong | junk


parts = record({"type": st.sampled_from(["text", "file"]), "value": st.text(max_size=3)}, {})
messages = record(
    {
        "role": st.sampled_from(["system", "user", "assistant", "tool"]),
        "content": st.text(max_size=3) | st.lists(parts, max_size=2),
    },
    {},
)
evaluators = record(
    {"type": st.sampled_from(["code", ""])},
    {"name": st.sampled_from(["n", ""]), "weight": st.floats(-1, 2) | st.integers(-1, 2)},
)
cases = record(
    {"id": st.text(max_size=3), "input_messages": st.lists(messages, max_size=2)},
    {
        "expected_messages": st.lists(messages, max_size=2),
        "expected_outcome": st.text(max_size=3),
        "note": st.none() | st.text(max_size=3),
        "evaluators": st.lists(evaluators, max_size=2),
    },
)
targets = record(
    {"name": st.text(max_size=2), "provider": st.just("cli")},
    {
        "workers": st.integers(-1, 3),
        "prompt_mode": st.sampled_from(["lm", "agent", "chat"]),
        "timeout_seconds": st.floats(-1, 3),
        "provider_batching": st.booleans(),
    },
)


def agree(tree: Any, type_: Any) -> None:
    try:
        msgspec.convert(tree, type_, strict=True)
        valid = True
    except msgspec.ValidationError:
        valid = False
    found = check(tree, type_)
    assert valid == (not found), found
    assert all(m.message and m.code != "invalid" for m in found)


@given(tree=parts)
def test_walker_and_msgspec_agree_on_parts(tree: Any) -> None:
    agree(tree, ContentPart)


@given(tree=messages)
def test_walker_and_msgspec_agree_on_messages(tree: Any) -> None:
    agree(tree, Message)


@given(tree=cases)
def test_walker_and_msgspec_agree_on_cases(tree: Any) -> None:
    agree(tree, EvalCase)


@given(tree=targets)
def test_walker_and_msgspec_agree_on_targets(tree: Any) -> None:
    agree(tree, TargetOptions)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("asert", "assert"),
        ("judgeTarget", "judge_target"),
        ("JUDGE-TARGET", "judge_target"),
        ("wieght", "weight"),
        ("banana", None),
        ("", None),
        ("weight" * 100_000, None),
    ],
)
def test_nearest(name: str, found: str | None) -> None:
    known = ["assert", "judge_target", "weight"]
    assert nearest(name, known) == found
    assert did_you_mean(name, known) == (f"did you mean '{found}'?" if found else "")
