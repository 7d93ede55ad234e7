"""Which of an agent's tools runs commands, and how it wants to be called."""

from collections.abc import Mapping
from typing import Any

from agent_vendor.conversation import Call, Conversation, Move, Run, Say

_KNOWN = ("exec_command", "shell_command", "shell", "Bash", "bash", "run_shell_command")
_VALUES = {"description": "what a test wants", "timeout": 60_000}


def in_tools(move: Move, conversation: Conversation) -> Say | Call:
    """The same move in terms of the tools that are there.

    Agents also ask for titles and the like, without tools; these are told something short.
    """
    if isinstance(move, Say | Call):
        return move
    assert isinstance(move, Run), move
    name = next((name for name in _KNOWN if name in conversation.tools), None)
    if name is None:
        assert not conversation.tools, f"none runs commands: {sorted(conversation.tools)}"
        return Say(text="no tools here", spent=move.spent)
    arguments = _arguments(conversation.tools[name], move.command)
    return Call(tool=name, arguments=arguments, thoughts=move.thoughts, spent=move.spent)


def _arguments(schema: Mapping[str, Any], command: str) -> dict[str, Any]:
    properties = schema.get("properties", {})
    key = "cmd" if "cmd" in properties else "command"
    is_list = properties.get(key, {}).get("type") == "array"
    value: Any = ["bash", "-lc", command] if is_list else command
    required = {name: _VALUES[name] for name in schema.get("required", ()) if name in _VALUES}
    return {**required, key: value}
