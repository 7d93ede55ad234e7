"""A trace is what was reported, in its order, within fixed memory."""

from itertools import count
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentv.core.json_text import to_json
from agentv.model.score import Usage
from agentv.model.trace import TraceEntry
from agentv.providers.agents.trace_builder import LONGEST_TEXT, MOST_ENTRIES, TraceBuilder

CALLS = st.sampled_from(["a", "b", "c"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("start"), CALLS),
        st.tuples(st.just("end"), CALLS),
        st.tuples(st.just("say"), CALLS),
    )
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def builder() -> tuple[TraceBuilder, list[TraceEntry]]:
    told: list[TraceEntry] = []
    ticks = count()
    return TraceBuilder(lambda: float(next(ticks)), told.append), told


@given(steps=STEPS)
def test_every_call_stands_where_it_began(steps: list[tuple[str, str]]) -> None:
    """An end belongs to the last open start of its id; without one it is left out."""
    trace, told = builder()
    wanted: list[list[Any]] = []
    open_: dict[str, list[Any]] = {}
    reports = 0
    for number, (kind, call) in enumerate(steps):
        if kind == "say":
            trace.message(f"{call}{number}")
            wanted.append(["message", f"{call}{number}"])
            reports += 1
        elif kind == "start":
            trace.tool_started(call, call, {"n": number})
            if call not in open_:
                open_[call] = ["tool_call", call, None]
                wanted.append(open_[call])
                reports += 1
        else:
            trace.tool_ended(call, f"result {number}")
            if call in open_:
                open_.pop(call)[2] = f"result {number}"
                reports += 1

    entries = trace.entries()
    assert [
        [entry["type"], entry["text"]]
        if entry["type"] == "message"
        else [entry["type"], entry["name"], entry.get("result")]
        for entry in entries
    ] == wanted
    assert len(told) == reports
    times = [entry["at_ms"] for entry in entries]
    assert times == sorted(times)
    assert all(entry.get("duration_ms", 0) >= 0 for entry in entries)


@given(arguments=JSON)
def test_arguments_of_any_shape_are_kept(arguments: Any) -> None:
    trace, _ = builder()
    trace.tool_started("1", "tool", arguments)
    trace.tool_ended("1", "done")
    [entry] = trace.entries()

    assert entry.get("arguments") == arguments
    assert to_json(entry)


def test_long_texts_are_cut_and_say_so() -> None:
    trace, _ = builder()
    text = "x" * (LONGEST_TEXT + 5)
    trace.message(text)
    trace.tool_started("1", "tool", {"deep": [text]})
    trace.tool_ended("1", text)
    message, call = trace.entries()

    cut = "x" * LONGEST_TEXT + "\n[… 5 characters left out …]"
    assert message["text"] == cut
    assert call["arguments"] == {"deep": [cut]}
    assert call["result"] == cut


def test_very_deep_arguments_become_text() -> None:
    deep: Any = "end"
    for _ in range(500):
        deep = [deep]
    trace, _ = builder()
    trace.tool_started("1", "tool", deep)

    assert len(to_json(trace.entries())) < 2000


def test_too_many_entries_are_counted() -> None:
    """A call that found no room does not come back either."""
    trace, told = builder()
    for number in range(MOST_ENTRIES + 3):
        trace.message(str(number))
    trace.tool_started("1", "tool", None)
    trace.tool_ended("1", "result")
    *entries, last = trace.entries()

    assert len(entries) == len(told) == MOST_ENTRIES
    assert (last["type"], last["entries"]) == ("left_out", 4)


def test_nothing_reported_is_known() -> None:
    trace, _ = builder()
    assert not trace.reported
    trace.usage(Usage(input_tokens=1))
    assert trace.reported
