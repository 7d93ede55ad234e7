import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentv.core.json_text import to_json
from agentv.core.redaction import Redactor
from agentv.model.request import ChatMessage, Leavings, PlacedMedia, ProviderResponse
from agentv.model.result import ErrorInfo, EvaluatorResult, RawRequest, TrialResult
from agentv.model.score import Usage
from agentv.model.step import Answered, decode_step

SECRETS = st.dictionaries(
    st.text('AB]"\\', max_size=3),
    st.text("[]redact AB\"\\'/%&+\n\x1bé", min_size=4, max_size=10).filter(str.strip),
    min_size=1,
    max_size=4,
)
"""Made of what replacements and escapes are made of, to provoke them."""


def json_values(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=6,
    )


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("key=sk-a/b'c&d!", "key=[redacted KEY]!"),
        ('{"key": "sk-a/b\'c&d"}', '{"key": "[redacted KEY]"}'),
        ('{"key": "sk-a\\/b\'c&d"}', '{"key": "[redacted KEY]"}'),
        ("https://x/?k=sk-a%2Fb%27c%26d", "https://x/?k=[redacted KEY]"),
        ("https://x/?k=sk-a%2fb%27c%26d", "https://x/?k=[redacted KEY]"),
        ("https://x/sk-a/b%27c%26d/y", "https://x/[redacted KEY]/y"),
        ("<b>sk-a/b&#x27;c&amp;d</b>", "<b>[redacted KEY]</b>"),
        ("<b>sk-a/b'c&amp;d</b>", "<b>[redacted KEY]</b>"),
        ("run 'sk-a/b'\\''c&d'", "run '[redacted KEY]'"),
        ("run 'sk-a/b'\"'\"'c&d'", "run '[redacted KEY]'"),
        ("c2stYS9iJ2MmZA==", "[redacted KEY]"),
        ("c2stYS9iJ2MmZA", "[redacted KEY]"),
        ("Basic dTpzay1hL2InYyZk", "Basic dTpz[redacted KEY]"),
        ("nothing to hide", "nothing to hide"),
    ],
    ids=lambda text: str(text)[:30],
)
def test_a_secret_is_found_however_it_is_written(text: str, clean: str) -> None:
    assert Redactor({"KEY": "sk-a/b'c&d"}).text(text) == clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("it says sk-0123456789abcd…", "it says [redacted KEY]…"),
        ("it says sk-01234…", "it says [redacted KEY]…"),
        ("…89abcdef, it says", "…[redacted KEY], it says"),
        ("a…sk-012345…89abcdef…z", "a…[redacted KEY]…[redacted KEY]…z"),
        ('"sk-0123456…" and sk-0123456789abcdef', '"[redacted KEY]…" and [redacted KEY]'),
        ("sk-…", "sk-…"),
        ("sk-0123456789 …", "sk-0123456789 …"),
    ],
)
def test_what_shortening_left_of_a_secret_is_found(text: str, clean: str) -> None:
    redactor = Redactor({"KEY": "sk-0123456789abcdef"})
    assert redactor.text(text) == clean
    assert redactor.json_bytes(json.dumps([text]).encode()) == (
        json.dumps([clean], ensure_ascii=False, separators=(",", ":")).encode()
        if text != clean
        else json.dumps([text]).encode()
    )


def test_the_longest_secret_goes_first() -> None:
    redactor = Redactor({"SHORT": "hunter", "LONG": "hunter22"})
    assert redactor.text("hunter22 hunter2") == "[redacted LONG] [redacted SHORT]2"


@pytest.mark.parametrize("value", ["", "abc", "      "])
def test_short_and_blank_values_are_no_secrets(value: str) -> None:
    text = "abc      abc"
    assert Redactor({"KEY": value}).text(text) == text


def test_without_secrets_nothing_is_touched() -> None:
    text, data = "same", b"not even \\u JSON"
    assert Redactor({}).text(text) is text
    assert Redactor({}).json_bytes(data) is data


def test_without_a_find_json_is_left_to_the_byte() -> None:
    data = b'{ "a":  "\\u0061\\/b" }'
    assert Redactor({"KEY": "hunter2"}).json_bytes(data) is data


def test_strings_are_searched_whatever_their_escapes() -> None:
    redactor = Redactor({"KEY": 'a/"é\x1b'})
    for written in ('"a/\\"é\\u001b"', '"\\u0061\\/\\u0022\\u00E9\\u001B"'):
        assert redactor.json_bytes(written.encode()) == b'"[redacted KEY]"'


def test_numbers_and_words_of_json_are_no_text() -> None:
    redactor = Redactor({"A": "1234", "B": "true"})
    data = b'{"pin":12345.5,"on":true,"text":"true 1234"}'
    clean = b'{"pin":12345.5,"on":true,"text":"[redacted B] [redacted A]"}'
    assert redactor.json_bytes(data) == clean


def test_a_row_stays_a_row_whatever_the_secrets_are() -> None:
    """Passwords such as `pass` and `user` must not cost a run its verdicts."""
    row = {
        "eval_id": "pass-1",
        "suite": "evals/user.yaml",
        "verdict": "pass",
        "score": 1.0,
        "candidate_answer": "pass it to the user",
        "raw_request": {"chat_prompt": [{"role": "user", "content": "user"}]},
        "trace": [{"role": "user of a kind", "target": "pass", "my user": 1}],
    }
    redactor = Redactor({"A": "pass", "B": "user", "C": "score", "D": "content", "E": "eval"})
    assert json.loads(redactor.json_bytes(json.dumps(row).encode())) == row | {
        "candidate_answer": "[redacted A] it to the [redacted B]",
        "raw_request": {"chat_prompt": [{"role": "user", "content": "[redacted B]"}]},
        "trace": [
            {"role": "[redacted B] of a kind", "target": "[redacted A]", "my [redacted B]": 1}
        ],
    }


def test_a_step_stays_a_step_whatever_the_secrets_are() -> None:
    """Else a run that was cut short could not go on."""
    response = ProviderResponse(text="answered with text", leavings=Leavings(artifacts={"a": "b"}))
    step = Answered(
        suite="s",
        eval_id="e",
        target="t",
        trial=1,
        digest="d",
        attempts=1,
        duration_ms=1.0,
        response=response,
    )
    redactor = Redactor({"A": "answered", "B": "text", "C": "leavings", "D": "step", "E": "trial"})
    clean = decode_step(redactor.json_bytes(to_json(step)))
    assert isinstance(clean, Answered)
    assert clean.response.text == "[redacted A] with [redacted B]"
    assert clean.response.leavings == response.leavings


def test_a_replacement_shows_no_secret_itself() -> None:
    assert Redactor({"hunter2": "hunter2"}).text("hunter2") == "[redacted]"
    assert Redactor({"A": "hunter2", "B": "redacted"}).text("hunter2 redacted") == "█ █"


ROWS = (TrialResult, EvaluatorResult, RawRequest, ChatMessage, PlacedMedia, ErrorInfo, Usage)
OUR_KEYS = frozenset(name for record in ROWS for name in record.__struct_fields__)
"""The names of a row's own keys stay, whatever a secret is called."""


@given(secrets=SECRETS, data=st.data())
def test_no_text_keeps_a_secret(secrets: dict[str, str], data: st.DataObject) -> None:
    pieces = st.sampled_from(list(secrets.values())) | st.text("[]redact AB\"\\'/%", max_size=4)
    text = "".join(data.draw(st.lists(pieces, max_size=6)))
    redactor = Redactor(secrets)
    clean = redactor.text(text)
    assert not any(secret in clean for secret in secrets.values())
    assert redactor.text(clean) == clean


@given(secrets=SECRETS, data=st.data())
def test_no_json_keeps_a_secret(secrets: dict[str, str], data: st.DataObject) -> None:
    texts = st.sampled_from(list(secrets.values())) | st.text('[]redact AB"\\\n', max_size=4)
    document = data.draw(json_values(texts))
    encode = data.draw(st.sampled_from([msgspec.json.encode, lambda it: json.dumps(it).encode()]))
    clean = json.loads(Redactor(secrets).json_bytes(encode(document)))
    found = [text for text in strings(clean) if text not in OUR_KEYS]
    assert not any(secret in text for text in found for secret in secrets.values())


@given(secret=st.text(min_size=4), before=st.text(), after=st.text())
def test_any_secret_is_taken_out_of_any_text(secret: str, before: str, after: str) -> None:
    assume(secret.strip())
    assert secret not in Redactor({"KEY": secret}).text(before + secret + after)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)
