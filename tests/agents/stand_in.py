"""Programs that stand in for an agent: they say what a test wants, as that agent would."""

import shlex
import sys
from pathlib import Path
from typing import Any

PROGRAMS = {
    "codex": "codex",
    "claude": "claude",
    "copilot": "copilot",
    "gemini-cli": "gemini",
    "opencode": "opencode",
    "pi": "pi",
}
"""The agents that can be stood in for, and how messages call them."""
STAND_INS = tuple(PROGRAMS)
TWO = ("codex", "claude")
"""Enough for what is the same for all."""
OWN_VARIABLE = {
    "codex": "OPENAI_API_KEY",
    "claude": "ANTHROPIC_API_KEY",
    "copilot": "COPILOT_PROVIDER_API_KEY",
    "gemini-cli": "GEMINI_API_KEY",
    "opencode": "OPENROUTER_API_KEY",
    "pi": "MISTRAL_API_KEY",
}
"""A secret that each of them inherits."""

_PRELUDE = """
import json, os, signal, subprocess, sys, time
from pathlib import Path

def say(**event):
    print(json.dumps(event), flush=True)

"""

_WORDS = {
    "codex": """
def report(text):
    say(type="item.completed", item={"type": "reasoning", "text": text})

def use_tool(command, result):
    tool = {"type": "command_execution", "id": "1", "command": command, "exit_code": 0}
    say(type="item.completed", item={**tool, "aggregated_output": result, "status": "completed"})
def answer(text):
    say(type="item.completed", item={"id": "i", "type": "agent_message", "text": text})
    say(type="turn.completed", usage={"input_tokens": 5, "output_tokens": 7})

def fail(reason):
    say(type="turn.failed", error={"message": reason})
    sys.exit(1)
""",
    "claude": """
def report(text):
    say(type="assistant", message={"content": [{"type": "thinking", "thinking": text}]})

def use_tool(command, result):
    call = {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": command}}
    say(type="assistant", message={"content": [call]})
    returned = {"type": "tool_result", "tool_use_id": "1", "content": result}
    say(type="user", message={"content": [returned]})
def answer(text):
    usage = {"input_tokens": 5, "output_tokens": 7}
    say(type="result", subtype="success", is_error=False, result=text, usage=usage)

def fail(reason):
    say(type="result", subtype="success", is_error=True, result=reason)
    sys.exit(1)
""",
    "copilot": """
def report(text):
    say(type="session.warning", data={"message": text})

def use_tool(command, result):
    call = {"toolCallId": "1", "toolName": "bash", "arguments": {"command": command}}
    say(type="tool.execution_start", data=call)
    done = {"toolCallId": "1", "success": True, "result": {"content": result}}
    say(type="tool.execution_complete", data=done)
def answer(text):
    say(type="assistant.message", data={"content": text, "toolRequests": []})
    usage = {"inputTokens": 5, "outputTokens": 7}
    file = Path(sys.argv[sys.argv.index("--usage-output-file") + 1])
    file.write_text(json.dumps({"modelMetrics": {"gpt-5": {"usage": usage}}}))
    say(type="result", exitCode=0)

def fail(reason):
    say(type="session.error", data={"errorType": "query", "message": reason})
    say(type="result", exitCode=1)
    sys.exit(1)
""",
    "gemini-cli": """
def report(text):
    say(type="error", severity="warning", message=text)

def use_tool(command, result):
    say(type="tool_use", tool_id="1", tool_name="shell", parameters={"command": command})
    say(type="tool_result", tool_id="1", status="success", output=result)
def answer(text):
    half = len(text) // 2
    say(type="message", role="assistant", content=text[:half], delta=True)
    say(type="message", role="assistant", content=text[half:], delta=True)
    stats = {"total_tokens": 12, "input_tokens": 5, "output_tokens": 7}
    say(type="result", status="success", stats=stats)

def fail(reason):
    say(type="result", status="error", error={"type": "unknown", "message": reason})
    sys.exit(1)
""",
    "opencode": """
def report(text):
    say(type="reasoning", part={"type": "reasoning", "text": text})

def use_tool(command, result):
    state = {"status": "completed", "input": {"command": command}, "output": result}
    say(type="tool_use", part={"tool": "bash", "callID": "1", "state": state})
def answer(text):
    say(type="step_start", part={"type": "step-start"})
    say(type="text", part={"type": "text", "text": text})
    tokens = {"input": 5, "output": 7}
    say(type="step_finish", part={"type": "step-finish", "reason": "stop", "tokens": tokens})

def fail(reason):
    say(type="error", error={"name": "UnknownError", "data": {"message": reason}})
    sys.exit(1)
""",
    "pi": """
def report(text):
    message = {"role": "assistant", "content": [{"type": "thinking", "thinking": text}]}
    say(type="message_end", message=message)

def use_tool(command, result):
    call = {"toolCallId": "1", "toolName": "bash", "args": {"command": command}}
    say(type="tool_execution_start", **call)
    content = [{"type": "text", "text": result}]
    say(type="tool_execution_end", toolCallId="1", result={"content": content}, isError=False)
def end(message):
    say(type="message_end", message={"role": "assistant", **message})
    say(type="agent_end", messages=[])

def answer(text):
    content = [{"type": "text", "text": text}]
    end({"content": content, "stopReason": "stop", "usage": {"input": 5, "output": 7}})

def fail(reason):
    end({"content": [], "stopReason": "error", "errorMessage": reason})
""",
}
"""How each of them reports a step, uses a tool, how it answers and how it fails."""


def stand_in(provider: str, folder: Path, code: str, **settings: Any) -> dict[str, Any]:
    """A target whose agent is a Python program.

    Args:
        provider: What it stands in for.
        folder: Where its program is written to.
        code: The program; it can `say` an event, `report` a step, `use_tool`, `answer` and `fail`.
        settings: More keys of the target.
    """
    source, program = folder / "agent_source.py", folder / "agent"
    source.write_text(_PRELUDE + _WORDS[provider] + code, "utf-8")
    python = f"{shlex.quote(sys.executable)} -S -E {shlex.quote(str(source))}"
    program.write_text(f'#!/bin/sh\nexec {python} "$@"\n')
    program.chmod(0o755)
    return {"name": "default", "provider": provider, "executable": str(program), **settings}
