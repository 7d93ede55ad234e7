"""A vendor of models for coding agents on 127.0.0.1: a real server that streams as theirs do.

It speaks OpenAI's responses and chat completions, Anthropic's messages and Gemini's
`streamGenerateContent`. A script plays the model: from the conversation so far it says what comes
next, a text, a command to run or a fault.

    with AgentVendor(run_then_answer("echo hello")) as vendor:
        ...  # the agent runs `echo hello` by its own tool, and then answers `hello`
        assert vendor.asked[0].conversation.query == "Say hello."
"""

from agent_vendor.conversation import Call, Conversation, Move, Run, Say, Script, Spent
from agent_vendor.scripts import answer, huge_answer, read_links, run_for_ever, run_then_answer
from agent_vendor.server import AgentAsked, AgentVendor
from vendor.faults import HANG, RESET, Fault, failure

__all__ = [
    "HANG",
    "RESET",
    "AgentAsked",
    "AgentVendor",
    "Call",
    "Conversation",
    "Fault",
    "Move",
    "Run",
    "Say",
    "Script",
    "Spent",
    "answer",
    "failure",
    "huge_answer",
    "read_links",
    "run_for_ever",
    "run_then_answer",
]
