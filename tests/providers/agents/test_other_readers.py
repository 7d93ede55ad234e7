"""What Copilot, Gemini CLI, OpenCode and Pi report, and how each of them fails."""

import json
from pathlib import Path
from typing import Any

import pytest
from reading import read
from recorded_others import COPILOT_TOOL, GEMINI_TOOL, OPENCODE_TOOL, PI_TOOL

from agentv.model.score import Usage
from agentv.providers.agents.agent import Account
from agentv.providers.agents.copilot import CopilotReader
from agentv.providers.agents.trace_builder import TraceBuilder

ANSWER = "final answer from fake"


def test_copilot() -> None:
    """What a sub-agent says is no answer; a thought that is told twice is there once."""
    account, trace = read("copilot", COPILOT_TOOL)

    assert account == Account(answer=ANSWER)
    assert trace == [
        {"type": "warning", "message": 'request failed with status 500: {"message":"boom"}'},
        {"type": "reasoning", "text": "Thinking about it"},
        {"type": "message", "text": "I will call a tool."},
        {
            "type": "tool_call",
            "name": "bash",
            "arguments": {"command": "echo oops; exit 3"},
            "result": "oops\n<shellId: 0 completed with exit code 3>",
            "is_error": True,
            "exit_code": 3,
        },
        tool("create", {"path": "/scratch/new.txt"}, "Created file"),
        {"type": "file_change", "path": "/scratch/new.txt", "change": "add"},
        tool("view", {"path": "/etc/hostname"}, "Permission denied", is_error=True),
        {"type": "message", "text": "I am a helper."},
        {"type": "message", "text": ANSWER},
    ]


def test_usage_of_copilot(tmp_path: Path) -> None:
    """It stands in a file, model by model."""
    usage = {"inputTokens": 101, "outputTokens": 13, "cacheReadTokens": 7, "reasoningTokens": 3}
    metrics = {"modelMetrics": {"gpt-5": {"usage": usage}, "gpt-5-mini": {"usage": usage}}}
    assert copilot_usage(tmp_path, json.dumps(metrics)) == Usage(
        input_tokens=202, cached_tokens=14, output_tokens=26, reasoning_tokens=6
    )


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"modelMetrics": []}', '{"modelMetrics": {}}', "[" * 100_000, " " * 2_000_000],
    ids=["empty", "broken", "a list", "odd", "no models", "deep", "large"],
)
def test_a_usage_file_of_copilot_that_says_nothing(tmp_path: Path, content: str) -> None:
    assert copilot_usage(tmp_path, content) is None


def test_copilot_gives_up_without_a_reason() -> None:
    """Its exit code and its last trouble are what is left to tell."""
    events = [COPILOT_TOOL[2], {"type": "result", "exitCode": 1}]
    account, _ = read("copilot", events)

    assert (account.answer, account.failure) == (None, None)
    assert account.last_trouble == 'request failed with status 500: {"message":"boom"}'


def test_gemini_cli() -> None:
    """Pieces become messages; what it thought is the rest of the total."""
    account, trace = read("gemini-cli", GEMINI_TOOL)
    usage = Usage(input_tokens=202, cached_tokens=14, output_tokens=32, reasoning_tokens=6)

    assert account == Account(answer=ANSWER, usage=usage)
    assert trace[:-1] == [
        {"type": "message", "text": "I will call a tool."},
        tool("run_shell_command", {"command": "echo hello-from-tool"}, "hello-from-tool"),
        tool("read_file", {"path": "/etc/hostname"}, "Path not in workspace", is_error=True),
        {"type": "warning", "message": "A hook objects"},
        {"type": "message", "text": ANSWER},
    ]
    assert trace[-1]["type"] == "usage"


@pytest.mark.parametrize("status", ["success", "error"])
def test_gemini_cli_stops_itself(status: str) -> None:
    """The result says `success`, and yet what was said before is no answer."""
    stopped = {"type": "error", "severity": "warning", "message": "Loop detected"}
    events = [*GEMINI_TOOL[:-1], stopped, {"type": "result", "status": status, "stats": {}}]
    account, _ = read("gemini-cli", events)

    assert (account.answer, account.failure, account.kind) == (None, "Loop detected", "agent")


@pytest.mark.parametrize(
    ("said", "failure"),
    [
        ("plain words", "plain words"),
        ("[API Error: no JSON]", "no JSON"),
        ('[API Error: {"error": 1}]', '{"error": 1}'),
        ('[API Error: {"error": {"message": "boom"}}]', "boom"),
        (None, "it gives no reason"),
    ],
)
def test_reasons_of_gemini_cli(said: str | None, failure: str) -> None:
    result = {"type": "result", "status": "error", "error": {"message": said}}
    account, _ = read("gemini-cli", [result])

    assert account.failure == failure


def test_opencode() -> None:
    """Its counts exclude each other, ours do not; a tool's duration is its own."""
    account, trace = read("opencode", OPENCODE_TOOL)

    assert account.answer == ANSWER
    assert account.failure is None
    assert account.usage is not None
    assert account.usage.cost_usd == pytest.approx(0.00024)
    assert (account.usage.input_tokens, account.usage.cached_tokens) == (202, 14)
    assert (account.usage.output_tokens, account.usage.reasoning_tokens) == (26, 6)
    assert [entry for entry in trace if entry["type"] != "usage"] == [
        {"type": "reasoning", "text": "Thinking about it"},
        {"type": "message", "text": "I will call a tool."},
        {
            "type": "tool_call",
            "name": "bash",
            "arguments": {"command": "echo oops; exit 3"},
            "result": "oops\n",
            "is_error": True,
            "exit_code": 3,
        },
        tool("write", {"filePath": "/scratch/new.txt"}, "Wrote file successfully."),
        {"type": "file_change", "path": "/scratch/new.txt", "change": "add"},
        tool("read", {"filePath": "/nowhere"}, "File not found", is_error=True),
        {"type": "message", "text": ANSWER},
    ]


def test_opencode_ends_after_a_tool() -> None:
    """It exits with 0 when a permission is refused; what it said before is no answer."""
    account, _ = read("opencode", OPENCODE_TOOL[:7])

    assert (account.answer, account.failure) == (None, None)
    assert account.last_trouble == "the tool 'read' failed: File not found"


@pytest.mark.parametrize(
    ("reason", "said"), [("unknown", "broke off"), ("length", "was cut at its longest")]
)
def test_a_reply_to_opencode_that_was_cut(reason: str, said: str) -> None:
    """What broke off is asked for again, for ever."""
    broken = {"reason": reason, "tokens": {"input": 0, "output": 0, "cache": {"read": 0}}}
    account, trace = read(
        "opencode", [*OPENCODE_TOOL[:-1], {"type": "step_finish", "part": broken}]
    )

    assert account.answer is None
    assert account.last_trouble == f"the model's reply {said}"
    assert trace[-1] == {"type": "warning", "message": f"the model's reply {said}"}


def test_pi() -> None:
    """A request that went well at the second try; a price that one reply does not know."""
    account, trace = read("pi", PI_TOOL)
    usage = Usage(input_tokens=202, cached_tokens=14, output_tokens=26)

    assert account == Account(answer=ANSWER, usage=usage)
    assert [entry for entry in trace if entry["type"] != "usage"] == [
        {"type": "warning", "message": "500 boom"},
        {"type": "warning", "message": "it tries the request again"},
        {"type": "reasoning", "text": "Thinking about it"},
        {"type": "message", "text": "I will call a tool."},
        tool(
            "bash",
            {"command": "echo oops; exit 3"},
            "oops\n\n\nCommand exited with code 3",
            is_error=True,
        ),
        {"type": "message", "text": ANSWER},
    ]


def test_pi_is_not_done() -> None:
    """Before its end there is neither an answer nor a failure, only what it complained of."""
    account, _ = read("pi", PI_TOOL[:8])

    assert (account.answer, account.failure) == (None, None)
    assert account.last_trouble == "500 boom"


def test_a_reply_to_pi_that_was_cut() -> None:
    """Half an answer is none."""
    cut = {"role": "assistant", "content": [{"type": "text", "text": "half"}]}
    end = {"type": "message_end", "message": {**cut, "stopReason": "length"}}
    account, _ = read("pi", [end, {"type": "agent_end"}])

    assert account.answer is None
    assert account.failure == "the model's reply was cut at its longest"


@pytest.mark.parametrize(
    ("message", "kind"),
    [("401 bad key", "auth"), ("403 no", "auth"), ("4010 odd", "agent"), ("500 401", "agent")],
)
def test_kinds_of_pis_failures(message: str, kind: str) -> None:
    end = {"role": "assistant", "content": [], "stopReason": "error", "errorMessage": message}
    account, _ = read("pi", [{"type": "message_end", "message": end}, {"type": "agent_end"}])

    assert (account.failure, account.kind) == (message, kind)


def tool(name: str, arguments: Any, result: str, *, is_error: bool = False) -> dict[str, Any]:
    """A call in a trace, without its times."""
    call = {"type": "tool_call", "name": name, "arguments": arguments}
    return {**call, "result": result, "is_error": is_error}


def copilot_usage(folder: Path, content: str) -> Usage | None:
    file = folder / "usage.json"
    file.write_text(content)
    trace = TraceBuilder(lambda: 0.0, lambda entry: None)
    return CopilotReader(trace, file).account().usage
