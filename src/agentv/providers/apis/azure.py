"""Azure OpenAI: the same two APIs, at a resource's own host, for a deployment of one's own."""

from collections.abc import Iterator
from urllib.parse import quote, urlencode

from agentv.model.options import FileFinder, Name, OptionProblem
from agentv.protocols import Provider, ProviderBuild
from agentv.providers.apis.address import is_http
from agentv.providers.apis.batch import BatchingApi
from agentv.providers.apis.batch_openai import OpenAiBatches
from agentv.providers.apis.chat_completions import ChatCompletionsWire
from agentv.providers.apis.gpt_models import takes
from agentv.providers.apis.openai_settings import OpenAiSettings
from agentv.providers.apis.openai_wire import OpenAiWire, Site
from agentv.providers.apis.options import given_twice
from agentv.providers.apis.responses import ResponsesWire
from agentv.providers.apis.shape import given

DEFAULT_VERSION = "2024-10-01-preview"
_ADDRESS = ("endpoint", "resource", "resource_name", "base_url")
_DEPLOYMENT = ("deployment_name", "deployment", "model")
_VERSION = ("version", "api_version")


class AzureOptions(OpenAiSettings, frozen=True, kw_only=True):
    """What an `azure` target may set. Several keys are spellings of one setting."""

    api_key: str | None = None
    """Only an `authorization` among the `headers` can do instead: a token of Entra ID, say."""
    endpoint: Name | None = None
    """A URL, used as given; a host name; or the name of a resource at `openai.azure.com`."""
    resource: Name | None = None
    """The same as `endpoint`."""
    resource_name: Name | None = None
    """The same as `endpoint`."""
    base_url: Name | None = None
    """The same as `endpoint`."""
    deployment_name: Name | None = None
    """How the model is called at this resource."""
    deployment: Name | None = None
    """The same as `deployment_name`."""
    model: Name | None = None
    """The same as `deployment_name`."""
    version: Name | None = None
    """Of the API; `2024-10-01-preview` when unset. The Responses API then needs none."""
    api_version: Name | None = None
    """The same as `version`."""

    @property
    def url(self) -> str:
        """The resource's address, without a slash at its end."""
        given = self._one_of(_ADDRESS) or ""
        if "://" in given:
            return given.rstrip("/").removesuffix("/openai")
        host = given.strip("/")
        is_host = "." in host or ":" in host
        return f"https://{host}" if is_host else f"https://{host}.openai.azure.com"

    @property
    def deployed(self) -> str:
        """The deployment's name."""
        return self._one_of(_DEPLOYMENT) or ""

    @property
    def chosen_version(self) -> str | None:
        """The API's version, if the author says one."""
        chosen = self._one_of(_VERSION)
        return chosen.removeprefix("api-version=") if chosen else None

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """What is missing, or said twice."""
        yield from super().problems(files)
        for names in (_ADDRESS, _DEPLOYMENT, _VERSION):
            given = [name for name in names if getattr(self, name) is not None]
            yield from (given_twice(name, given[0]) for name in given[1:])
            if not given and names != _VERSION:
                yield _missing(names[0])
        if self._one_of(_ADDRESS) and not is_http(self.url):
            yield OptionProblem(
                path=(next(name for name in _ADDRESS if getattr(self, name)),),
                message=f"'{self._one_of(_ADDRESS)}' is not the address of a resource",
                hint="write its name, or a URL: `https://NAME.openai.azure.com`",
            )
        if not self.api_key and "authorization" not in map(str.lower, self.headers):
            yield _missing("api_key")

    def _one_of(self, names: tuple[str, ...]) -> str | None:
        found: list[str | None] = [getattr(self, name) for name in names]
        return next((value for value in found if value), None)


def azure_wire(options: AzureOptions) -> OpenAiWire:
    """The wire that the options ask for."""
    is_chat = options.api == "chat"
    site = Site(
        url=_chat_url(options) if is_chat else _responses_url(options),
        headers=given(**{"api-key": options.api_key or None}),
        model=options.deployed,
        names_model=not is_chat,
        holds_schemas=True,
    )
    wire = ChatCompletionsWire if is_chat else ResponsesWire
    effort = options.reasoning_effort
    return wire(site, options, takes(options.deployed, effort=effort, at_openai=False))


def build(options: AzureOptions, build: ProviderBuild) -> Provider:
    """A provider for an `azure` target."""
    wire = azure_wire(options)
    for name in wire.left_out():
        build.notify(f"{options.name}: {wire.model} does not take `{name}`: it is left out")
    return BatchingApi(wire, options, build, OpenAiBatches)


def _chat_url(options: AzureOptions) -> str:
    path = f"openai/deployments/{quote(options.deployed, safe='')}/chat/completions"
    query = urlencode({"api-version": options.chosen_version or DEFAULT_VERSION})
    return f"{options.url}/{path}?{query}"


def _responses_url(options: AzureOptions) -> str:
    """The default version is older than this API, whose own home names no version."""
    if options.chosen_version is None:
        return f"{options.url}/openai/v1/responses"
    return f"{options.url}/openai/responses?{urlencode({'api-version': options.chosen_version})}"


def _missing(key: str) -> OptionProblem:
    return OptionProblem(
        path=(), message=f"the key '{key}' is missing", hint=f"add `{key}: …`", code="missing-key"
    )
