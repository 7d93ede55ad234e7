"""Bytes are written down in a readable way, and come back as they were."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentv.model.exchange import Content
from agentv.transport.cassettes.content import bytes_of, content_of


def on_disk(data: bytes) -> Content:
    """As it is read again."""
    return msgspec.json.decode(msgspec.json.encode(content_of(data)), type=Content)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        pytest.param(b'{"a":[1,2.5,null,"\xc3\xa9"]}', "json", id="compact"),
        pytest.param(b'{"a": [1, 2.5, null, "\\u00e9"]}', "json", id="spaced-ascii"),
        pytest.param(b'{\n  "a": "\xc3\xa9"\n}', "json", id="indented"),
        pytest.param(b'{"a" : 1}', "text", id="JSON-in-a-form-of-its-own"),
        pytest.param(b'{"a": 1, "a": 2}', "text", id="a-key-twice"),
        pytest.param(b'{"a": 1e2}', "text", id="another-spelling-of-a-number"),
        pytest.param(b'{"a": 123456789012345678901234567890}', "json", id="a-huge-number"),
        pytest.param(b'{"a": NaN}', "text", id="no-JSON-after-all"),
        pytest.param(b'{"a": "\\ud800"}', "text", id="half-a-surrogate-pair"),
        pytest.param(b"[" * 100_000, "text", id="too-deep"),
        pytest.param(b"one\r\ntwo\n", "lines", id="lines"),
        pytest.param(b"\x00\x1b[0m", "text", id="control-characters"),
        pytest.param(b"\xff\xfe", "base64", id="no-UTF-8"),
    ],
)
def test_how_bytes_are_written_down(data: bytes, field: str) -> None:
    assert field in msgspec.to_builtins(content_of(data))
    assert bytes_of(on_disk(data)) == data


def test_nothing_is_nothing() -> None:
    assert msgspec.json.encode(content_of(b"")) == b"{}"
    assert bytes_of(on_disk(b"")) == b""


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(
    st.binary() | st.text().map(str.encode) | _JSON.map(lambda value: json.dumps([value]).encode())
)
def test_every_byte_comes_back(data: bytes) -> None:
    assert bytes_of(on_disk(data)) == data
