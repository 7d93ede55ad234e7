"""Pi, by `pi --mode json`."""

import re
from typing import Any

from agentv.model.score import Usage
from agentv.protocols import ProviderBuild
from agentv.providers.agents.agent import Account, Assignment, Invocation
from agentv.providers.agents.fields import amount, at, items, number, text
from agentv.providers.agents.options import AgentOptions
from agentv.providers.agents.provider import AgentProvider
from agentv.providers.agents.trace_builder import TraceBuilder
from agentv.providers.agents.usage import add_usage

_HEADLESS = ("--mode", "json", "--print", "--no-session")
_CUT = {
    "error": "the request failed",
    "aborted": "the request was aborted",
    "length": "the model's reply was cut at its longest",
}
"""Reasons for which a message ends before all is said."""
_REFUSED = re.compile(r"40[13]\b")


class PiOptions(AgentOptions, frozen=True, kw_only=True):
    """What a `pi` target may set."""


class Pi:
    """The prompt goes to its standard input. It has no permissions to ask for."""

    program = "pi"
    install = "npm install --global @mariozechner/pi-coding-agent"

    def __init__(self, options: PiOptions) -> None:
        self._options = options

    def invocation(self, assignment: Assignment) -> Invocation:
        """`model` has the form `provider/model`."""
        model = ("--model", self._options.model) if self._options.model else ()
        return Invocation(
            arguments=(*_HEADLESS, *model, *self._options.args),
            stdin=assignment.document.encode("utf-8", "replace"),
            env={"PI_OFFLINE": "1", "PI_TELEMETRY": "0"},
        )

    def reader(self, trace: TraceBuilder, assignment: Assignment) -> "PiReader":
        """Reads the events of its `json` mode."""
        del assignment
        return PiReader(trace)


class PiReader:
    """Events `message_*`, `tool_execution_*`, `auto_retry_*` and `agent_end`.

    In this mode it exits with 0 also when it failed: the last message's `stopReason` tells. A
    message is taken when it ends; what grows before that is told again and again.
    """

    def __init__(self, trace: TraceBuilder) -> None:
        self._trace = trace
        self._answer: str | None = None
        self._failure: str | None = None
        self._trouble: str | None = None
        self._has_ended = False
        self._usage: Usage | None = None

    def take(self, event: dict[str, Any]) -> None:
        """The next event."""
        match event.get("type"):
            case "message_end" if text(event, "message", "role") == "assistant":
                self._message(at(event, "message"))
            case "tool_execution_start":
                name = text(event, "toolName") or "tool"
                self._trace.tool_started(_call_id(event), name, at(event, "args"))
            case "tool_execution_end":
                self._trace.tool_ended(
                    _call_id(event),
                    _joined(items(event, "result", "content"), "text"),
                    is_error=at(event, "isError") is not False,
                )
            case "auto_retry_start":
                self._trace.warning("it tries the request again")
            case "agent_start":
                self._has_ended = False
            case "agent_end":
                self._has_ended = True

    def account(self) -> Account:
        """What the last message came to; before the end there is neither answer nor failure."""
        if not self._has_ended:
            return Account(last_trouble=self._trouble, usage=self._usage)
        refused = self._failure is not None and _REFUSED.match(self._failure)
        return Account(
            answer=self._answer if self._failure is None else None,
            failure=self._failure,
            kind="auth" if refused else "agent",
            last_trouble=self._trouble,
            usage=self._usage,
        )

    def _message(self, message: Any) -> None:
        content = items(message, "content")
        if thoughts := _joined(content, "thinking"):
            self._trace.reasoning(thoughts)
        said = _joined(content, "text")
        if said:
            self._trace.message(said)
        self._answer = said
        reported = _usage(message)
        if reported is not None:
            self._usage = add_usage(self._usage, reported)
            self._trace.usage(reported)
        stop = text(message, "stopReason")
        self._failure = self._trouble = None
        if stop in _CUT:
            said = text(message, "errorMessage") or _CUT[stop]
            self._failure = self._trouble = said
            self._trace.warning(said)


def build(options: PiOptions, build: ProviderBuild) -> AgentProvider:
    """The provider `pi`."""
    return AgentProvider(options, build, Pi(options))


def _call_id(event: Any) -> str:
    return text(event, "toolCallId") or ""


def _joined(content: list[Any], kind: str) -> str:
    """The parts of one kind, `text` or `thinking`; each has its words under its kind's name."""
    return "\n".join(text(part, kind) or "" for part in content if text(part, "type") == kind)


def _usage(message: Any) -> Usage | None:
    """Its counts exclude each other; a cost of nothing is one that it does not know."""
    usage = at(message, "usage")
    fresh, said = number(usage, "input"), number(usage, "output")
    read, written = number(usage, "cacheRead"), number(usage, "cacheWrite")
    if fresh is None or said is None or not any((fresh, said, read, written)):
        return None
    return Usage(
        input_tokens=fresh + (read or 0) + (written or 0),
        cached_tokens=read,
        output_tokens=said,
        cost_usd=amount(usage, "cost", "total") or None,
    )
