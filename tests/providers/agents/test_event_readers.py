"""What agents report becomes a trace and an account; nothing that they report can break us."""

import copy
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import CLAUDE_REFUSED, CLAUDE_TOOL, CODEX_REFUSED, CODEX_TOOL

from agentv.core.json_text import to_json
from agentv.model.score import Usage
from agentv.providers.agents.agent import Account, EventReader
from agentv.providers.agents.claude import ClaudeReader
from agentv.providers.agents.codex import CodexReader
from agentv.providers.agents.trace_builder import TraceBuilder

READERS: dict[str, Callable[[TraceBuilder], EventReader]] = {
    "codex": CodexReader,
    "claude": ClaudeReader,
}
RECORDED = {"codex": CODEX_TOOL + CODEX_REFUSED, "claude": CLAUDE_TOOL + CLAUDE_REFUSED}
ODD = st.recursive(
    st.sampled_from([None, True, -1, 0, 1.5, float("inf"), 10**30, "", "text", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "id", "text", "content"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def read(kind: str, events: Iterable[dict[str, Any]]) -> tuple[Account, list[dict[str, Any]]]:
    ticks = count()
    trace = TraceBuilder(lambda: float(next(ticks)), lambda entry: None)
    reader = READERS[kind](trace)
    for event in events:
        reader.take(event)
    entries = trace.entries()
    return reader.account(), [
        {key: value for key, value in entry.items() if key not in ("at_ms", "duration_ms")}
        for entry in entries
    ]


def test_codex() -> None:
    account, trace = read("codex", CODEX_TOOL)
    usage = Usage(input_tokens=202, cached_tokens=14, output_tokens=26, reasoning_tokens=6)

    assert account == Account(answer="final answer from fake", usage=usage)
    assert trace[:-1] == [
        {"type": "warning", "message": "Model metadata for `fake-model` not found."},
        {"type": "reasoning", "text": "**Thinking** about it"},
        {
            "type": "tool_call",
            "name": "shell",
            "arguments": {"command": "/bin/bash -lc 'echo hello-from-tool'"},
            "result": "hello-from-tool\n",
            "is_error": False,
            "exit_code": 0,
        },
        {"type": "file_change", "path": "/scratch/new.txt", "change": "add"},
        {
            "type": "tool_call",
            "name": "docs.find",
            "arguments": {"q": "x"},
            "result": "found",
            "is_error": False,
        },
        {"type": "message", "text": "final answer from fake"},
    ]
    assert trace[-1]["type"] == "usage"


def test_claude() -> None:
    """Its input tokens leave out those from and for the cache; ours count them."""
    account, trace = read("claude", CLAUDE_TOOL)

    assert account.answer == "final answer from fake"
    assert account.failure is None
    assert account.usage is not None
    assert account.usage.input_tokens == 202 + 14 + 5
    assert (account.usage.cached_tokens, account.usage.output_tokens) == (14, 26)
    assert account.usage.cost_usd == pytest.approx(0.001667)
    assert trace[:-1] == [
        {"type": "warning", "message": "request failed (overloaded, status 529)"},
        {"type": "reasoning", "text": "Let me see."},
        {
            "type": "tool_call",
            "name": "Bash",
            "arguments": {"command": "echo hello-from-tool", "description": "say hello"},
            "result": "hello-from-tool",
            "is_error": False,
        },
        {
            "type": "tool_call",
            "name": "Read",
            "arguments": {"file_path": "/nowhere"},
            "result": "no such\nfile",
            "is_error": True,
        },
        {"type": "message", "text": "final answer from fake"},
    ]
    assert trace[-1]["type"] == "usage"


@pytest.mark.parametrize(
    ("kind", "events", "failure"),
    [
        (
            "codex",
            CODEX_REFUSED,
            "unexpected status 401 Unauthorized: bad key, url: http://127.0.0.1:8902/v1/responses",
        ),
        ("claude", CLAUDE_REFUSED, "Failed to authenticate. API Error: 401 bad key"),
    ],
    ids=["codex", "claude"],
)
def test_a_refused_key(kind: str, events: list[dict[str, Any]], failure: str) -> None:
    account, _ = read(kind, events)

    assert (account.answer, account.failure, account.kind) == (None, failure, "auth")


@pytest.mark.parametrize(
    ("kind", "trouble", "progress", "said"),
    [
        (
            "codex",
            {"type": "error", "message": "Reconnecting..."},
            {"type": "item.completed", "item": {"type": "reasoning", "text": "on"}},
            "Reconnecting...",
        ),
        (
            "claude",
            {"type": "system", "subtype": "api_retry", "error_status": 529, "error": "overloaded"},
            {"type": "assistant", "message": {"content": []}},
            "request failed (overloaded, status 529)",
        ),
    ],
    ids=["codex", "claude"],
)
def test_trouble_that_it_got_over(
    kind: str, trouble: dict[str, Any], progress: dict[str, Any], said: str
) -> None:
    """It is in the trace, but no explanation for what comes later."""
    account, trace = read(kind, [trouble])
    assert account.last_trouble == said
    assert trace == [{"type": "warning", "message": said}]

    account, _ = read(kind, [trouble, progress])
    assert account.last_trouble is None


def test_several_turns_of_codex_are_added_up() -> None:
    account, _ = read("codex", CODEX_TOOL + CODEX_TOOL)

    assert account.usage is not None
    assert account.usage.input_tokens == 404


def test_a_turn_that_failed_after_an_answer() -> None:
    """The answer came before it was done: it has failed."""
    failed = {"type": "turn.failed", "error": {"message": "lost"}}
    account, _ = read("codex", [*CODEX_TOOL[:-1], failed])

    assert account.failure == "lost"


@pytest.mark.parametrize("result", [{"is_error": True}, {}, {"is_error": None}, {"is_error": 0}])
def test_only_a_plain_no_is_no_error_of_claudes(result: dict[str, Any]) -> None:
    account, _ = read("claude", [{"type": "result", "subtype": "error_max_turns", **result}])

    assert account.failure == "error_max_turns"


def test_only_so_much_of_codex_is_believed() -> None:
    """A negative number of tokens, or one that is a truth value, is none at all."""
    usage = {"input_tokens": -1, "output_tokens": True, "cached_input_tokens": "7"}
    account, _ = read("codex", [{"type": "turn.completed", "usage": usage}])

    assert account.usage == Usage()


@pytest.mark.parametrize("kind", READERS)
@given(data=st.data())
def test_events_of_any_shape_are_taken(kind: str, data: st.DataObject) -> None:
    """Recorded ones with parts of them replaced or gone: nothing is raised, a row can hold it."""
    events = copy.deepcopy(data.draw(st.lists(st.sampled_from(RECORDED[kind]), max_size=6)))
    for event in events:
        for _ in range(data.draw(st.integers(0, 3))):
            spoil(event, data)
    account, trace = read(kind, events)

    to_json(trace)
    assert account.answer is None or isinstance(account.answer, str)
    assert account.failure is None or account.failure


@pytest.mark.parametrize("kind", READERS)
@given(event=st.dictionaries(st.sampled_from(["type", "item", "message"]), ODD))
def test_events_of_nobodys_making_are_taken(kind: str, event: dict[str, Any]) -> None:
    read(kind, [event])


def spoil(event: Any, data: st.DataObject) -> None:
    """Replace or remove something in an event."""
    place = event
    while isinstance(place, dict | list) and place:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        inner = place[key]
        if isinstance(inner, dict | list) and inner and data.draw(st.booleans()):
            place = inner
            continue
        if data.draw(st.booleans()):
            place[key] = data.draw(ODD)
        else:
            del place[key]
        return
