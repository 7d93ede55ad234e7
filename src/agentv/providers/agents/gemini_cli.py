"""Google's Gemini CLI, by `gemini --output-format stream-json`."""

import json
import re
from typing import Any

from agentv.model.score import Usage
from agentv.protocols import ProviderBuild
from agentv.providers.agents.agent import Account, Assignment, Invocation
from agentv.providers.agents.fields import at, number, text
from agentv.providers.agents.options import AgentOptions
from agentv.providers.agents.provider import AgentProvider
from agentv.providers.agents.trace_builder import TraceBuilder

# A folder that nobody has trusted is refused; `--yolo` lets every tool run without being asked.
_HEADLESS = ("--output-format", "stream-json", "--skip-trust", "--yolo")
_API_ERROR = re.compile(r"\[API Error: (?P<body>.*)\]", re.DOTALL)


class GeminiCliOptions(AgentOptions, frozen=True, kw_only=True):
    """What a `gemini-cli` target may set."""


class GeminiCli:
    """The prompt goes to its standard input."""

    program = "gemini"
    install = "npm install --global @google/gemini-cli"

    def __init__(self, options: GeminiCliOptions) -> None:
        self._options = options

    def invocation(self, assignment: Assignment) -> Invocation:
        """Linked files outside its folder are put within its reach."""
        model = ("--model", self._options.model) if self._options.model else ()
        outside = not assignment.inputs.is_relative_to(assignment.folder)
        reach = ("--include-directories", str(assignment.inputs)) if outside else ()
        return Invocation(
            arguments=(*_HEADLESS, *model, *reach, *self._options.args),
            stdin=assignment.document.encode("utf-8", "replace"),
        )

    def reader(self, trace: TraceBuilder, assignment: Assignment) -> "GeminiCliReader":
        """Reads the `stream-json` form."""
        del assignment
        return GeminiCliReader(trace)


class GeminiCliReader:
    """Events `message`, `tool_use`, `tool_result`, `error` and, last, `result`.

    What it says comes in pieces; a tool call or the end is where they are whole. Its exit code may
    be 0 when it has failed.
    """

    def __init__(self, trace: TraceBuilder) -> None:
        self._trace = trace
        self._pieces: list[str] = []
        self._answer: str | None = None
        self._trouble: str | None = None
        self._result: dict[str, Any] | None = None

    def take(self, event: dict[str, Any]) -> None:
        """The next event."""
        match event.get("type"):
            case "message" if event.get("role") == "assistant":
                self._said(text(event, "content") or "", is_piece=event.get("delta") is True)
            case "tool_use":
                self._end_message()
                self._trouble = None  # it got over it
                self._answer = None  # what it said before was not its last word
                name = text(event, "tool_name") or "tool"
                self._trace.tool_started(_call_id(event), name, at(event, "parameters"))
            case "tool_result":
                self._trace.tool_ended(
                    _call_id(event),
                    text(event, "output") or text(event, "error", "message"),
                    is_error=text(event, "status") != "success",
                )
            case "error":
                self._trouble = text(event, "message") or "an error without a message"
                self._trace.warning(self._trouble)
            case "result":
                self._end_message()
                self._result = event
                if (usage := _usage(event)) is not None:
                    self._trace.usage(usage)

    def account(self) -> Account:
        """What the result says; without one there is no answer.

        Trouble that nothing came after has ended it, whatever the result says: so it is when it
        stops itself in what it takes for a loop.
        """
        self._end_message()
        result = self._result
        if result is None:
            return Account(last_trouble=self._trouble)
        usage = _usage(result)
        if text(result, "status") == "success" and self._trouble is None:
            return Account(answer=self._answer or "", usage=usage)
        status, message = _api_error(text(result, "error", "message"))
        return Account(
            failure=message or self._trouble or "it gives no reason",
            kind="auth" if status in (401, 403) else "agent",
            usage=usage,
        )

    def _said(self, said: str, *, is_piece: bool) -> None:
        self._trouble = None  # it got over it
        if not is_piece:
            self._end_message()
        self._pieces.append(said)

    def _end_message(self) -> None:
        said = "".join(self._pieces)
        self._pieces.clear()
        if said.strip():
            self._answer = said
            self._trace.message(said)


def build(options: GeminiCliOptions, build: ProviderBuild) -> AgentProvider:
    """The provider `gemini-cli`."""
    return AgentProvider(options, build, GeminiCli(options))


def _call_id(event: Any) -> str:
    return text(event, "tool_id") or ""


def _api_error(said: str | None) -> tuple[int | None, str | None]:
    """Status and message out of `[API Error: {"error": …}]`; other words stay as they are."""
    found = _API_ERROR.fullmatch((said or "").strip())
    if found is None:
        return None, said
    try:
        body = json.loads(found["body"])
    except (ValueError, RecursionError):
        return None, found["body"]
    status, message = number(body, "error", "code"), text(body, "error", "message")
    if message is None:
        return status, found["body"]
    return status, f"{message} (status {status})" if status else message


def _usage(result: dict[str, Any]) -> Usage | None:
    """Its output leaves out what it thought, which is the rest of the total."""
    stats = at(result, "stats")
    total = number(stats, "total_tokens")
    asked, said = number(stats, "input_tokens"), number(stats, "output_tokens")
    if not total or asked is None or said is None:
        return None
    return Usage(
        input_tokens=asked,
        cached_tokens=number(stats, "cached"),
        output_tokens=max(said, total - asked),
        reasoning_tokens=max(0, total - asked - said),
    )
