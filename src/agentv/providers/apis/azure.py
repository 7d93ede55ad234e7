"""Azure OpenAI: the same two APIs, at a resource's own host, for a deployment of one's own."""

from collections.abc import Iterator
from urllib.parse import quote, urlencode

from agentv.model.options import FileFinder, Name, OptionProblem
from agentv.protocols import Provider, ProviderBuild
from agentv.providers.apis.address import is_http, missing_key
from agentv.providers.apis.building import api_provider
from agentv.providers.apis.chat_completions import ChatCompletionsWire
from agentv.providers.apis.gpt_models import takes
from agentv.providers.apis.openai_settings import OpenAiSettings
from agentv.providers.apis.openai_wire import OpenAiWire, Site
from agentv.providers.apis.options import given_twice
from agentv.providers.apis.responses import ResponsesWire
from agentv.providers.apis.shape import given

_BATCHES = "agentv.providers.apis.batch_openai:OpenAiBatches"

DEFAULT_VERSION = "2024-10-01-preview"
_UNDATED = frozenset({"v1", "latest", "preview"})
"""Versions that have no deployments in their paths: there the body names the model."""
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
    """Of the API; `2024-10-01-preview` when unset, or `v1`, the one without dates, for the
    Responses API and for an endpoint that ends in `/openai/v1`."""
    api_version: Name | None = None
    """The same as `version`."""

    @property
    def url(self) -> str:
        """The resource's address, without a slash at its end."""
        given = self._one_of(_ADDRESS) or ""
        if "://" in given:
            return given.rstrip("/").removesuffix("/openai/v1").removesuffix("/openai")
        host = given.strip("/")
        is_host = "." in host or ":" in host
        return f"https://{host}" if is_host else f"https://{host}.openai.azure.com"

    @property
    def deployed(self) -> str:
        """The deployment's name."""
        return self._one_of(_DEPLOYMENT) or ""

    @property
    def chosen_version(self) -> str:
        """The API's version: the author's, or what suits the endpoint and the API."""
        chosen = self._one_of(_VERSION)
        if chosen:
            return chosen.removeprefix("api-version=")
        is_v1 = (self._one_of(_ADDRESS) or "").rstrip("/").endswith("/openai/v1")
        return "v1" if is_v1 or self.api == "responses" else DEFAULT_VERSION

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """What is missing, or said twice."""
        yield from super().problems(files)
        for names in (_ADDRESS, _DEPLOYMENT, _VERSION):
            given = [name for name in names if getattr(self, name) is not None]
            yield from (given_twice(name, given[0]) for name in given[1:])
            if not given and names != _VERSION:
                yield _missing(names[0])
        address = self._one_of(_ADDRESS)
        if address and (not is_http(self.url) or "?" in address or "/deployments/" in address):
            yield OptionProblem(
                path=(next(name for name in _ADDRESS if getattr(self, name)),),
                message=f"'{address}' is not the address of a resource",
                hint="write its name, or a URL without what follows the host:"
                " `https://NAME.openai.azure.com`",
            )
        if not self.key and "authorization" not in self.own_headers:
            yield missing_key(self.name, "AZURE_OPENAI_API_KEY")

    def _one_of(self, names: tuple[str, ...]) -> str | None:
        found: list[str | None] = [getattr(self, name) for name in names]
        return next((value for value in found if value), None)


def azure_wire(options: AzureOptions) -> OpenAiWire:
    """The wire that the options ask for."""
    is_chat = options.api == "chat"
    site = Site(
        url=_url(options),
        headers=given(**{"api-key": options.key}),
        model=options.deployed,
        names_model=not is_chat or options.chosen_version in _UNDATED,
        holds_schemas=True,
    )
    wire = ChatCompletionsWire if is_chat else ResponsesWire
    effort = options.reasoning_effort
    return wire(site, options, takes(options.deployed, effort=effort, at_openai=False))


def build(options: AzureOptions, build: ProviderBuild) -> Provider:
    """A provider for an `azure` target."""
    return api_provider(azure_wire(options), options, build, _BATCHES)


def _url(options: AzureOptions) -> str:
    """Chat completions are below their deployment, unless the version is one without dates."""
    version, is_chat = options.chosen_version, options.api == "chat"
    operation = "chat/completions" if is_chat else "responses"
    if version in _UNDATED:
        operation = f"v1/{operation}"
    elif is_chat:
        operation = f"deployments/{quote(options.deployed, safe='')}/{operation}"
    query = f"?{urlencode({'api-version': version})}" if version != "v1" else ""
    return f"{options.url}/openai/{operation}{query}"


def _missing(key: str) -> OptionProblem:
    return OptionProblem(
        path=(), message=f"the key '{key}' is missing", hint=f"add `{key}: …`", code="missing-key"
    )
