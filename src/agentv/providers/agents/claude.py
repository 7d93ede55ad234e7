"""Anthropic's Claude Code, by `claude --print`."""

from typing import Any

from agentv.model.score import Usage
from agentv.protocols import ProviderBuild
from agentv.providers.agents.agent import Account, Assignment, Invocation
from agentv.providers.agents.fields import amount, at, items, number, text
from agentv.providers.agents.options import AgentOptions
from agentv.providers.agents.provider import AgentProvider
from agentv.providers.agents.trace_builder import TraceBuilder

# `stream-json` is refused without `--verbose`.
_HEADLESS = ("--print", "--output-format", "stream-json", "--verbose")


class ClaudeOptions(AgentOptions, frozen=True, kw_only=True):
    """What a `claude` target may set."""


class Claude:
    """The prompt goes to its standard input."""

    program = "claude"
    install = "npm install --global @anthropic-ai/claude-code"

    def __init__(self, options: ClaudeOptions) -> None:
        self._options = options

    def invocation(self, assignment: Assignment) -> Invocation:
        """Linked files outside its folder are put within its reach."""
        model = ("--model", self._options.model) if self._options.model else ()
        outside = not assignment.inputs.is_relative_to(assignment.folder)
        reach = ("--add-dir", str(assignment.inputs)) if outside else ()
        return Invocation(
            arguments=(*_HEADLESS, *model, *reach, *self._options.args),
            stdin=assignment.document.encode("utf-8", "replace"),
            env={
                # By itself it tries ten more times, after a wrong key as well.
                "CLAUDE_CODE_MAX_RETRIES": "0",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
            },
        )

    def reader(self, trace: TraceBuilder) -> "ClaudeReader":
        """Reads the `stream-json` form."""
        return ClaudeReader(trace)


class ClaudeReader:
    """Events `system`, `assistant`, `user` and, last, `result`.

    A result's `subtype` is `success` also when it failed: `is_error` tells. Only the result knows
    the true usage; what messages report is what was known when they began.
    """

    def __init__(self, trace: TraceBuilder) -> None:
        self._trace = trace
        self._result: dict[str, Any] | None = None
        self._trouble: str | None = None

    def take(self, event: dict[str, Any]) -> None:
        """The next event."""
        match event.get("type"):
            case "assistant":
                self._trouble = None  # it got over it
                for part in items(event, "message", "content"):
                    self._said(part)
            case "user":
                for part in items(event, "message", "content"):
                    self._returned(part)
            case "system" if event.get("subtype") == "api_retry":
                status, error = number(event, "error_status"), text(event, "error")
                self._trouble = f"request failed ({error or 'error'}, status {status})"
                self._trace.warning(self._trouble)
            case "result":
                self._result = event
                if (usage := _usage(event)) is not None:
                    self._trace.usage(usage)

    def account(self) -> Account:
        """What the result says; without one there is no answer."""
        result = self._result
        if result is None:
            return Account(last_trouble=self._trouble)
        said = text(result, "result")
        if result.get("is_error") is not False:
            reason = said or text(result, "subtype") or "it gives no reason"
            return Account(failure=reason, kind=_kind(result), usage=_usage(result))
        return Account(answer=said, last_trouble=self._trouble, usage=_usage(result))

    def _said(self, part: Any) -> None:
        match text(part, "type"):
            case "text":
                self._trace.message(text(part, "text") or "")
            case "thinking":
                self._trace.reasoning(text(part, "thinking") or "")
            case "tool_use":
                name = text(part, "name") or "tool"
                self._trace.tool_started(text(part, "id") or "", name, at(part, "input"))

    def _returned(self, part: Any) -> None:
        if text(part, "type") == "tool_result":
            self._trace.tool_ended(
                text(part, "tool_use_id") or "",
                _content(part),
                is_error=at(part, "is_error") is True,
            )


def build(options: ClaudeOptions, build: ProviderBuild) -> AgentProvider:
    """The provider `claude`."""
    return AgentProvider(options, build, Claude(options))


def _content(part: Any) -> str:
    whole = text(part, "content")
    if whole is not None:
        return whole
    return "\n".join(text(piece, "text") or "" for piece in items(part, "content"))


def _kind(result: dict[str, Any]) -> str:
    return "auth" if number(result, "api_error_status") in (401, 403) else "agent"


def _usage(result: dict[str, Any]) -> Usage | None:
    """Its input tokens leave out what was read from and written to the cache; ours do not."""
    reported = at(result, "usage")
    fresh = number(reported, "input_tokens")
    if fresh is None:
        return None
    read = number(reported, "cache_read_input_tokens")
    written = number(reported, "cache_creation_input_tokens")
    return Usage(
        input_tokens=fresh + (read or 0) + (written or 0),
        cached_tokens=read,
        output_tokens=number(reported, "output_tokens"),
        cost_usd=amount(result, "total_cost_usd"),
    )
