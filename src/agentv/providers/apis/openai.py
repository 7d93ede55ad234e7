"""OpenAI's API, and every API that speaks like it: Ollama, vLLM, OpenRouter, LM Studio, …."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from agentv.model.options import FileFinder, Name, OptionProblem
from agentv.protocols import Provider, ProviderBuild
from agentv.providers.apis.address import access_problems
from agentv.providers.apis.building import api_provider
from agentv.providers.apis.chat_completions import ChatCompletionsWire
from agentv.providers.apis.gpt_models import takes
from agentv.providers.apis.openai_settings import OpenAiSettings
from agentv.providers.apis.openai_wire import OpenAiWire, Site
from agentv.providers.apis.responses import ResponsesWire
from agentv.providers.apis.shape import given

_BATCHES = "agentv.providers.apis.batch_openai:OpenAiBatches"

BASE_URL = "https://api.openai.com/v1"


class OpenAiOptions(OpenAiSettings, frozen=True, kw_only=True):
    """What an `openai` target may set."""

    model: Name
    api_key: str | None = None
    """Only a `base_url` of your own can do without."""
    base_url: Name | None = None
    """What stands before `/chat/completions`, mostly with a version: `http://localhost:11434/v1`;
    `https://api.openai.com/v1` when unset."""
    organization: Name | None = None

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """No access."""
        yield from super().problems(files)
        yield from access_problems(self.name, self.key, self.base_url, variable="OPENAI_API_KEY")


def openai_wire(options: OpenAiOptions) -> OpenAiWire:
    """The wire that the options ask for."""
    base = (options.base_url or BASE_URL).rstrip("/")
    host = urlsplit(base).hostname or ""
    at_openai = host == "api.openai.com" or host.endswith(".api.openai.com")
    is_chat = options.api == "chat"
    site = Site(
        url=f"{base}/chat/completions" if is_chat else f"{base}/responses",
        headers=given(
            **{
                "authorization": f"Bearer {options.key}" if options.key else None,
                "openai-organization": options.organization,
            }
        ),
        model=options.model,
        holds_schemas=at_openai,
    )
    wire = ChatCompletionsWire if is_chat else ResponsesWire
    effort = options.reasoning_effort
    return wire(site, options, takes(options.model, effort=effort, at_openai=at_openai))


def build(options: OpenAiOptions, build: ProviderBuild) -> Provider:
    """A provider for an `openai` target."""
    return api_provider(openai_wire(options), options, build, _BATCHES)
