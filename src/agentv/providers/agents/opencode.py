"""OpenCode, by `opencode run --format json`."""

from typing import Any

from agentv.model.score import Usage
from agentv.protocols import ProviderBuild
from agentv.providers.agents.agent import Account, Assignment, Invocation
from agentv.providers.agents.fields import amount, at, number, text
from agentv.providers.agents.options import AgentOptions
from agentv.providers.agents.provider import AgentProvider
from agentv.providers.agents.trace_builder import TraceBuilder
from agentv.providers.agents.usage import add_usage

_HEADLESS = (
    *("run", "--format", "json", "--thinking"),
    # Else it rejects whatever it would ask for, and ends there, with an exit code of 0.
    "--auto",
    # Else it asks the model for a title.
    *("--title", "agentv"),
    # While it tries a request again its events say nothing; its log, on standard error, does.
    *("--print-logs", "--log-level", "ERROR"),
)
_DATABASE = "opencode.db"
_CUT = {
    "unknown": "the model's reply broke off",
    "length": "the model's reply was cut at its longest",
    "content-filter": "the model's reply was filtered",
    "error": "the model's reply ended in an error",
}
"""Reasons for which a step ends before all is said."""


class OpenCodeOptions(AgentOptions, frozen=True, kw_only=True):
    """What an `opencode` target may set."""


class OpenCode:
    """The prompt goes to its standard input.

    Sessions go into a database of their own: the user's is no place for hundreds of them, and
    attempts that run at once would wait for each other's locks.
    """

    program = "opencode"
    install = "npm install --global opencode-ai"

    def __init__(self, options: OpenCodeOptions) -> None:
        self._options = options

    def invocation(self, assignment: Assignment) -> Invocation:
        """`model` has the form `provider/model`."""
        model = ("--model", self._options.model) if self._options.model else ()
        return Invocation(
            arguments=(*_HEADLESS, *model, *self._options.args),
            stdin=assignment.document.encode("utf-8", "replace"),
            env={
                "OPENCODE_DB": str(assignment.private / _DATABASE),
                "OPENCODE_DISABLE_AUTOUPDATE": "1",
            },
        )

    def reader(self, trace: TraceBuilder, assignment: Assignment) -> "OpenCodeReader":
        """Reads its `json` format."""
        del assignment
        return OpenCodeReader(trace)


class OpenCodeReader:
    """Events `step_start`, `text`, `reasoning`, `tool_use`, `step_finish` and `error`.

    A tool is reported once it has come back. The last step's `reason` tells whether it came to its
    end: after a step with tool calls another one is due, and a reply that was cut is no answer.
    """

    def __init__(self, trace: TraceBuilder) -> None:
        self._trace = trace
        self._said: list[str] = []
        """In the present step."""
        self._error: Any = None
        self._trouble: str | None = None
        self._reason: str | None = None
        """Why the last step ended; unset within a step."""
        self._usage: Usage | None = None

    def take(self, event: dict[str, Any]) -> None:
        """The next event."""
        part = at(event, "part")
        match event.get("type"):
            case "step_start":
                self._begin_step()
            case "text":
                said = text(part, "text") or ""
                self._said.append(said)
                self._trace.message(said)
            case "reasoning":
                self._trace.reasoning(text(part, "text") or "")
            case "tool_use":
                self._tool(part)
            case "step_finish":
                self._step_finished(part)
            case "error":
                self._error = at(event, "error") or {}
                self._warn(_reason(self._error))

    def account(self) -> Account:
        """An error is told once it has given up; there is no way back from it."""
        if self._error is not None:
            refused = number(self._error, "data", "statusCode") in (401, 403)
            return Account(
                failure=_reason(self._error),
                kind="auth" if refused else "agent",
                last_trouble=self._trouble,
                usage=self._usage,
            )
        is_whole = self._reason not in (None, "tool-calls", *_CUT)
        answer = "\n".join(self._said) if is_whole else None
        return Account(answer=answer, last_trouble=self._trouble, usage=self._usage)

    def _begin_step(self) -> None:
        if self._reason == "tool-calls":
            self._trouble = None  # it got over it
        self._reason, self._said = None, []

    def _tool(self, part: Any) -> None:
        call_id, name = text(part, "callID") or "", text(part, "tool") or "tool"
        state = at(part, "state")
        failed = text(state, "status") != "completed"
        exit_code = number(state, "metadata", "exit")
        self._trace.tool_started(call_id, name, at(state, "input"))
        self._trace.tool_ended(
            call_id,
            text(state, "error") if failed else text(state, "output"),
            is_error=failed or exit_code not in (0, None),
            exit_code=exit_code,
            duration_ms=_duration(state),
        )
        if failed:
            self._trouble = f"the tool '{name}' failed: {text(state, 'error') or 'it says no more'}"
        elif name == "write":
            existed = at(state, "metadata", "exists") is not False
            path = text(state, "metadata", "filepath") or ""
            self._trace.file_change(path, "update" if existed else "add")

    def _step_finished(self, part: Any) -> None:
        self._reason = text(part, "reason")
        if self._reason in _CUT:
            self._warn(_CUT[self._reason])
        reported = _usage(part)
        if reported is not None:
            self._usage = add_usage(self._usage, reported)
            self._trace.usage(reported)

    def _warn(self, message: str) -> None:
        self._trouble = message
        self._trace.warning(message)


def build(options: OpenCodeOptions, build: ProviderBuild) -> AgentProvider:
    """The provider `opencode`."""
    return AgentProvider(options, build, OpenCode(options))


def _reason(error: Any) -> str:
    message = text(error, "data", "message") or text(error, "name") or "it gives no reason"
    status = number(error, "data", "statusCode")
    return f"{message} (status {status})" if status else message


def _duration(state: Any) -> float | None:
    began, ended = amount(state, "time", "start"), amount(state, "time", "end")
    return None if began is None or ended is None else max(0.0, ended - began)


def _usage(part: Any) -> Usage | None:
    """Its counts exclude each other; a cost of nothing is one that it does not know."""
    tokens = at(part, "tokens")
    fresh, said = number(tokens, "input"), number(tokens, "output")
    read, written = number(tokens, "cache", "read"), number(tokens, "cache", "write")
    thought = number(tokens, "reasoning")
    if fresh is None or said is None or not any((fresh, said, read, written, thought)):
        return None
    return Usage(
        input_tokens=fresh + (read or 0) + (written or 0),
        cached_tokens=read,
        output_tokens=said + (thought or 0),
        reasoning_tokens=thought,
        cost_usd=amount(part, "cost") or None,
    )
