"""GitHub Copilot's command line, by `copilot --output-format json`."""

import json
from pathlib import Path
from typing import Any

from agentv.model.score import Usage
from agentv.protocols import ProviderBuild
from agentv.providers.agents.agent import Account, Assignment, Invocation
from agentv.providers.agents.fields import at, items, number, text
from agentv.providers.agents.options import AgentOptions
from agentv.providers.agents.provider import AgentProvider
from agentv.providers.agents.trace_builder import TraceBuilder
from agentv.providers.agents.usage import add_usage

_HEADLESS = (
    *("--output-format", "json", "--no-color"),
    *("--allow-all-tools", "--no-ask-user"),
    *("--no-auto-update", "--disable-client-telemetry"),
)
_USAGE_FILE = "copilot-usage.json"
_LARGEST_USAGE_FILE = 1024 * 1024
_CHANGES = {"create": "add", "delete": "delete"}


class CopilotOptions(AgentOptions, frozen=True, kw_only=True):
    """What a `copilot` target may set."""


class Copilot:
    """The prompt goes to its standard input. What it consumed, it only writes into a file."""

    program = "copilot"
    install = "npm install --global @github/copilot"

    def __init__(self, options: CopilotOptions) -> None:
        self._options = options

    def invocation(self, assignment: Assignment) -> Invocation:
        """Linked files outside its folder are put within its reach."""
        model = ("--model", self._options.model) if self._options.model else ()
        outside = not assignment.inputs.is_relative_to(assignment.folder)
        reach = ("--add-dir", str(assignment.inputs)) if outside else ()
        usage = ("--usage-output-file", str(_usage_file(assignment)))
        return Invocation(
            arguments=(*_HEADLESS, *usage, *model, *reach, *self._options.args),
            stdin=assignment.document.encode("utf-8", "replace"),
            writes=(_usage_file(assignment),),
        )

    def reader(self, trace: TraceBuilder, assignment: Assignment) -> "CopilotReader":
        """Reads the events of its session."""
        return CopilotReader(trace, _usage_file(assignment))


class CopilotReader:
    """Events of a session, and, last, `result` with an exit code.

    Requests that failed are tried again by itself; a `session.error` is what it gave up with. What
    a sub-agent says (it has an `agentId`) belongs to the trace, but is no answer.

    Args:
        trace: Takes the steps.
        usage_file: Where it writes its token counts, when it ends by itself.
    """

    def __init__(self, trace: TraceBuilder, usage_file: Path) -> None:
        self._trace = trace
        self._usage_file = usage_file
        self._answer: str | None = None
        self._error: dict[str, Any] | None = None
        self._trouble: str | None = None
        self._exit_code: Any = None

    def take(self, event: dict[str, Any]) -> None:
        """The next event."""
        data = at(event, "data")
        match event.get("type"):
            case "assistant.message":
                self._said(data, is_main="agentId" not in event)
            case "tool.execution_start":
                name = text(data, "toolName") or "tool"
                self._trace.tool_started(_call_id(data), name, at(data, "arguments"))
            case "tool.execution_complete":
                self._returned(data)
            case "model.call_failure":
                self._warn(_failed_request(data))
            case "session.error":
                self._error = event
                self._warn(text(data, "message") or "an error without a message")
            case "session.warning":
                self._warn(text(data, "message") or "a warning without a message")
            case "result":
                self._exit_code = event.get("exitCode")

    def account(self) -> Account:
        """Without a `result` it did not come to its end, and there is no answer."""
        usage = self._usage()
        if usage is not None:
            self._trace.usage(usage)
        if self._exit_code == 0:
            return Account(answer=self._answer or "", last_trouble=self._trouble, usage=usage)
        if self._exit_code is None or self._error is None:
            return Account(last_trouble=self._trouble, usage=usage)
        data = at(self._error, "data")
        return Account(
            failure=text(data, "message") or "it gives no reason",
            kind=_kind(data),
            last_trouble=self._trouble,
            usage=usage,
        )

    def _said(self, data: Any, *, is_main: bool) -> None:
        self._trouble = None  # it got over it
        thoughts, said = text(data, "reasoningText"), text(data, "content")
        if thoughts:
            self._trace.reasoning(thoughts)
        if said:
            self._trace.message(said)
            if is_main:
                self._answer = said

    def _returned(self, data: Any) -> None:
        exit_code = number(data, "shellExecution", "exitCode")
        self._trace.tool_ended(
            _call_id(data),
            text(data, "result", "content") or text(data, "error", "message"),
            is_error=at(data, "success") is not True or exit_code not in (0, None),
            exit_code=exit_code,
        )
        for edit in items(data, "fileEdits"):
            change = _CHANGES.get(text(edit, "kind") or "", "update")
            self._trace.file_change(text(edit, "path") or "", change)

    def _warn(self, message: str) -> None:
        self._trouble = message
        self._trace.warning(message)

    def _usage(self) -> Usage | None:
        """The sum over all models, sub-agents' included."""
        metrics = at(_read_json(self._usage_file), "modelMetrics")
        total: Usage | None = None
        for model in metrics.values() if isinstance(metrics, dict) else ():
            counts = at(model, "usage")
            reported = Usage(
                input_tokens=number(counts, "inputTokens"),
                cached_tokens=number(counts, "cacheReadTokens"),
                output_tokens=number(counts, "outputTokens"),
                reasoning_tokens=number(counts, "reasoningTokens"),
            )
            total = add_usage(total, reported)
        return total


def build(options: CopilotOptions, build: ProviderBuild) -> AgentProvider:
    """The provider `copilot`."""
    return AgentProvider(options, build, Copilot(options))


def _usage_file(assignment: Assignment) -> Path:
    return assignment.private / _USAGE_FILE


def _read_json(file: Path) -> Any:
    """What is in a file; `None` if it is not there, or is not what it should be."""
    try:
        if file.stat().st_size > _LARGEST_USAGE_FILE:
            return None
        return json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def _call_id(data: Any) -> str:
    return text(data, "toolCallId") or ""


def _failed_request(data: Any) -> str:
    said = text(data, "errorMessage")
    status = number(data, "statusCode")
    return "request failed" + "".join(
        [f" with status {status}" if status else "", f": {said}" if said else ""]
    )


def _kind(data: Any) -> str:
    refused = number(data, "statusCode") in (401, 403)
    return "auth" if refused or text(data, "errorType") == "authentication" else "agent"
