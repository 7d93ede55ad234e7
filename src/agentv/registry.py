"""Names in YAML become factories here, and nowhere else.

Built-ins are a table of dotted paths, so nothing is imported until a suite names it. Installed
packages add their own through the entry-point groups `agentv.providers` and `agentv.evaluators`
(each entry point is an `Entry`). A registry is an object that is passed around, so a program can
add entries without touching anybody else's.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Literal, cast

import msgspec

from agentv.errors import SetupError
from agentv.model.base import Record
from agentv.model.options import EvaluatorOptions, PromptMode, TargetOptions
from agentv.protocols import Evaluator, EvaluatorBuild, Provider, ProviderBuild

Kind = Literal["providers", "evaluators"]


class Entry(Record, frozen=True, kw_only=True):
    """How one name is built, known without importing its module."""

    factory: str | Callable[..., Any]
    """`module:attribute`, or the callable itself; called with `(options, build)`."""
    options: str | type[Any]
    """`module:attribute` of the options model, or the model itself."""
    summary: str
    """One line for `--help`, docs and JSON Schema."""
    prompt_mode: PromptMode = "lm"
    """Providers: how files are put into the prompt unless the target says otherwise."""
    takes_chat: bool = False
    """Providers: whether a conversation is also sent as a chat prompt."""
    keeps_time: bool = False
    """Providers: whether it ends an attempt at `timeout_seconds` itself, with more to say."""
    inherits: tuple[str, ...] | None = None
    """Providers: names (or globs) of the only variables that reach it, besides a safe few; all of
    them do when `None`."""
    repeatable: bool = True
    """Providers: whether what a request and the settings say is all that shapes an answer, so that
    the response cache may keep it."""
    keeps_to_borders: bool = True
    """Providers: whether all that it exchanges with the world goes through the borders that it is
    given, so that it can be recorded and replayed."""
    needs_judge: bool = False
    """Evaluators: whether a judge must be resolved for it."""
    takes_time: bool = True
    """Whether it waits for something outside this process; what does not is over at once."""


def _builtin(path: str, options: str, summary: str, **flags: Any) -> Entry:
    module = path.partition(":")[0]
    return Entry(factory=path, options=f"{module}:{options}", summary=summary, **flags)


def _api(name: str, options: str, summary: str) -> Entry:
    """An LLM API: `agentv/providers/apis/<name>.py` has a factory `build`."""
    module = f"agentv.providers.apis.{name}"
    return _builtin(f"{module}:build", options, summary, takes_chat=True, keeps_time=True)


def _agent(module: str, options: str, summary: str, *inherits: str) -> Entry:
    """A coding agent: `agentv/providers/agents/<module>.py` has a factory `build`."""
    return _builtin(
        f"agentv.providers.agents.{module}:build",
        options,
        summary,
        prompt_mode="agent",
        keeps_time=True,
        inherits=inherits,
        repeatable=False,
    )


def _instant(path: str, options: str, summary: str) -> Entry:
    """An evaluator that only looks at the text: it is over at once."""
    return _builtin(path, options, summary, takes_time=False)


def _vscode(summary: str) -> Entry:
    return Entry(
        factory="agentv.providers.vscode.provider:VsCodeProvider",
        options="agentv.providers.vscode.options:VsCodeOptions",
        summary=summary,
        prompt_mode="agent",
        keeps_time=True,
        repeatable=False,
        keeps_to_borders=False,
    )


_TEXT = "agentv.evaluators.text"

_MODEL_KEYS = (
    *("ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN", "CEREBRAS_API_KEY", "DEEPSEEK_API_KEY"),
    *("GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY"),
    *("OPENAI_API_KEY", "OPENROUTER_API_KEY", "XAI_API_KEY"),
)
"""Of agents that speak to many vendors. A key that opens more than models is not among them."""

BUILTIN_PROVIDERS: dict[str, Entry] = {
    "mock": _builtin(
        "agentv.providers.mock:MockProvider",
        "MockOptions",
        "Canned replies, delays and faults; calls nobody.",
        takes_chat=True,
        takes_time=False,
    ),
    "cli": _builtin(
        "agentv.providers.cli:CliProvider",
        "CliOptions",
        "Any command line, rendered from a template for each case.",
        keeps_time=True,
    ),
    "vscode": _vscode("VS Code's agent, in windows of its own, by the subagent protocol."),
    "vscode-insiders": _vscode("The same with VS Code Insiders."),
    "openai": _api("openai", "OpenAiOptions", "OpenAI, and every API that speaks like it."),
    "azure": _api("azure", "AzureOptions", "Azure OpenAI."),
    "anthropic": _api("anthropic", "AnthropicOptions", "Anthropic messages."),
    "gemini": _api("gemini", "GeminiOptions", "Google Gemini."),
    "codex": _agent(
        "codex",
        "CodexOptions",
        "OpenAI Codex, headless in a workspace of its own.",
        *("CODEX_*", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    ),
    "claude": _agent(
        "claude",
        "ClaudeOptions",
        "Claude Code, headless in a workspace of its own.",
        *("ANTHROPIC_*", "CLAUDE_*", "IS_SANDBOX"),
    ),
    "copilot": _agent(
        "copilot",
        "CopilotOptions",
        "GitHub Copilot's command line, headless in a workspace of its own.",
        *("COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"),
    ),
    "gemini-cli": _agent(
        "gemini_cli",
        "GeminiCliOptions",
        "Google's Gemini CLI, headless in a workspace of its own.",
        *("GEMINI_*", "GOOGLE_*", "CLOUDSDK_CONFIG"),
    ),
    "opencode": _agent(
        "opencode",
        "OpenCodeOptions",
        "OpenCode, headless in a workspace of its own.",
        *("OPENCODE_*", *_MODEL_KEYS),
    ),
    "pi": _agent(
        "pi",
        "PiOptions",
        "Pi, headless in a workspace of its own.",
        *("PI_*", *_MODEL_KEYS),
    ),
    "pydantic-ai": _builtin(
        "agentv.providers.apis.pydantic_ai_bridge:build",
        "PydanticAiOptions",
        "Every service that Pydantic AI speaks: Bedrock, Vertex, Mistral, Groq, …",
        takes_chat=True,
        keeps_time=True,
        keeps_to_borders=False,
    ),
}

BUILTIN_EVALUATORS: dict[str, Entry] = {
    "llm_judge": _builtin(
        "agentv.evaluators.llm_judge:LlmJudge",
        "LlmJudgeOptions",
        "Another target reads the answer and gives a score with reasons.",
        needs_judge=True,
    ),
    "code": _builtin(
        "agentv.evaluators.code:CodeEvaluator",
        "CodeOptions",
        "A script of yours reads the case as JSON and prints a score as JSON.",
    ),
    "contains": _instant(f"{_TEXT}:Contains", "TextOptions", "The answer contains a text."),
    "icontains": _instant(
        f"{_TEXT}:IContains", "TextOptions", "The answer contains a text, in any case."
    ),
    "equals": _instant(f"{_TEXT}:Equals", "TextOptions", "The answer is exactly a text."),
    "starts_with": _instant(f"{_TEXT}:StartsWith", "TextOptions", "The answer starts with a text."),
    "ends_with": _instant(f"{_TEXT}:EndsWith", "TextOptions", "The answer ends with a text."),
    "regex": _instant(
        "agentv.evaluators.regex:Regex",
        "RegexOptions",
        "A regular expression is found in the answer.",
    ),
    "is_json": _instant(
        "agentv.evaluators.is_json:IsJson", "IsJsonOptions", "The answer is one JSON document."
    ),
}

ALIASES: dict[Kind, dict[str, str]] = {
    "providers": {
        "azure-openai": "azure",
        "codex-cli": "codex",
        "google": "gemini",
        "google-gemini": "gemini",
    },
    "evaluators": {"code_judge": "code"},
}


class Registry(msgspec.Struct, frozen=True):
    """The names that suites and targets may use."""

    providers: dict[str, Entry] = msgspec.field(default_factory=lambda: dict(BUILTIN_PROVIDERS))
    evaluators: dict[str, Entry] = msgspec.field(default_factory=lambda: dict(BUILTIN_EVALUATORS))

    def find(self, kind: Kind, name: str) -> Entry | None:
        """The entry of a name, an alias or an installed plugin; `None` if there is none."""
        table = self._table(kind)
        entry = table.get(ALIASES[kind].get(name, name))
        return entry or self._plugins(kind).get(name)

    def names(self, kind: Kind) -> list[str]:
        """Every name that `find` knows, for messages and schemas."""
        return sorted({*self._table(kind), *ALIASES[kind], *self._plugins(kind)})

    def provider_options(self, entry: Entry) -> type[TargetOptions]:
        """The options model of a provider."""
        return cast("type[TargetOptions]", imported(entry.options))

    def evaluator_options(self, entry: Entry) -> type[EvaluatorOptions]:
        """The options model of an evaluator."""
        return cast("type[EvaluatorOptions]", imported(entry.options))

    def build_provider(self, options: TargetOptions, build: ProviderBuild) -> Provider:
        """A provider from valid options."""
        entry = self.find("providers", options.provider)
        if entry is None:
            raise SetupError(f"No provider is called '{options.provider}'.")
        return cast("Provider", imported(entry.factory)(options, build))

    def build_evaluator(self, options: EvaluatorOptions, build: EvaluatorBuild) -> Evaluator:
        """An evaluator from valid options."""
        entry = self.find("evaluators", options.type)
        if entry is None:
            raise SetupError(f"No evaluator is called '{options.type}'.")
        return cast("Evaluator", imported(entry.factory)(options, build))

    def _table(self, kind: Kind) -> Mapping[str, Entry]:
        return self.providers if kind == "providers" else self.evaluators

    def _plugins(self, kind: Kind) -> Mapping[str, Entry]:
        # Asking the installed packages costs tens of milliseconds: only once a name is not ours.
        from importlib.metadata import entry_points

        return {point.name: point.load() for point in entry_points(group=f"agentv.{kind}")}


def imported(target: Any) -> Any:
    """What `module:attribute` names; anything else is itself."""
    if not isinstance(target, str):
        return target
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)
