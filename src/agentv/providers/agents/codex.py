"""OpenAI's Codex, by `codex exec --json`."""

import re
from typing import Any

from agentv.model.score import Usage
from agentv.protocols import ProviderBuild
from agentv.providers.agents.agent import Account, Assignment, Invocation
from agentv.providers.agents.fields import at, items, number, text
from agentv.providers.agents.options import AgentOptions
from agentv.providers.agents.provider import AgentProvider
from agentv.providers.agents.trace_builder import TraceBuilder
from agentv.providers.agents.usage import add_usage

_REFUSED = re.compile(r"unexpected status 40[13]\b")
_HEADLESS = ("--json", "--color", "never", "--skip-git-repo-check")


class CodexOptions(AgentOptions, frozen=True, kw_only=True):
    """What a `codex` target may set."""


class Codex:
    """Started as the specification says; the prompt goes to its standard input."""

    program = "codex"
    install = "npm install --global @openai/codex"

    def __init__(self, options: CodexOptions) -> None:
        self._options = options

    def invocation(self, assignment: Assignment) -> Invocation:
        """`--ask-for-approval` is the root command's: it must stand before `exec`."""
        model = ("--model", self._options.model) if self._options.model else ()
        run = ("--ask-for-approval", "never", "exec", *_HEADLESS, *model, *self._options.args, "-")
        return Invocation(arguments=run, stdin=assignment.document.encode("utf-8", "replace"))

    def reader(self, trace: TraceBuilder) -> "CodexReader":
        """Reads `ThreadEvent`s."""
        return CodexReader(trace)


class CodexReader:
    """Events of a thread: `thread.*`, `turn.*`, `item.*` and `error`.

    An item of type `error` is a warning (an unknown model, say). What fails is the turn.
    """

    def __init__(self, trace: TraceBuilder) -> None:
        self._trace = trace
        self._answer: str | None = None
        self._failure: str | None = None
        self._trouble: str | None = None
        self._usage: Usage | None = None

    def take(self, event: dict[str, Any]) -> None:
        """The next event."""
        match event.get("type"):
            case "item.started":
                self._item_started(at(event, "item"))
            case "item.completed":
                self._item_completed(at(event, "item"))
            case "turn.completed":
                self._turn_completed(at(event, "usage"))
            case "turn.failed":
                self._failure = text(event, "error", "message") or "the turn failed"
            case "error":
                self._trouble = self._warn(text(event, "message"))

    def account(self) -> Account:
        """A later turn's success does not undo a failed one."""
        return Account(
            answer=self._answer,
            failure=self._failure,
            kind="auth" if _REFUSED.match(self._failure or "") else "agent",
            last_trouble=self._trouble,
            usage=self._usage,
        )

    def _item_started(self, item: Any) -> None:
        call = _tool_call(item)
        if call is not None:
            self._trace.tool_started(text(item, "id") or "", *call)

    def _item_completed(self, item: Any) -> None:
        self._trouble = None  # it got over it
        match text(item, "type"):
            case "agent_message":
                said = text(item, "text") or ""
                self._answer = said
                self._trace.message(said)
            case "reasoning":
                self._trace.reasoning(text(item, "text") or "")
            case "error":
                self._warn(text(item, "message"))
            case "file_change":
                for change in items(item, "changes"):
                    self._trace.file_change(
                        text(change, "path") or "", text(change, "kind") or "update"
                    )
            case _:
                self._tool_ended(item)

    def _tool_ended(self, item: Any) -> None:
        call = _tool_call(item)
        if call is None:
            return
        call_id = text(item, "id") or ""
        self._trace.tool_started(call_id, *call)  # some are only reported at their end
        exit_code = at(item, "exit_code")
        is_error = text(item, "status") in ("failed", "declined") or exit_code not in (0, None)
        self._trace.tool_ended(
            call_id,
            _result(item),
            is_error=is_error,
            exit_code=exit_code if isinstance(exit_code, int) else None,
        )

    def _turn_completed(self, usage: Any) -> None:
        reported = Usage(
            input_tokens=number(usage, "input_tokens"),
            cached_tokens=number(usage, "cached_input_tokens"),
            output_tokens=number(usage, "output_tokens"),
            reasoning_tokens=number(usage, "reasoning_output_tokens"),
        )
        self._usage = add_usage(self._usage, reported)
        self._trace.usage(reported)

    def _warn(self, message: str | None) -> str:
        said = message or "an error without a message"
        self._trace.warning(said)
        return said


def build(options: CodexOptions, build: ProviderBuild) -> AgentProvider:
    """The provider `codex`."""
    return AgentProvider(options, build, Codex(options))


def _tool_call(item: Any) -> tuple[str, Any] | None:
    """Name and arguments, if the item is a tool's."""
    match text(item, "type"):
        case "command_execution":
            return "shell", {"command": text(item, "command")}
        case "mcp_tool_call":
            server, tool = text(item, "server"), text(item, "tool")
            return f"{server}.{tool}" if server else str(tool), at(item, "arguments")
        case "web_search":
            return "web_search", {"query": text(item, "query")}
        case "todo_list":
            return "todo_list", {"items": items(item, "items")}
        case "collab_tool_call":
            return text(item, "tool") or "collab", {"prompt": text(item, "prompt")}
    return None


def _result(item: Any) -> str | None:
    printed = text(item, "aggregated_output")
    if printed is not None:
        return printed
    said = [text(part, "text") or "" for part in items(item, "result", "content")]
    return "\n".join(said) or text(item, "error", "message")
