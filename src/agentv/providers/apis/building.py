"""From a wire to the provider of a target."""

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from agentv.protocols import Provider, ProviderBuild
from agentv.providers.apis.options import ApiOptions
from agentv.providers.apis.provider import ApiProvider
from agentv.providers.apis.wire import Wire
from agentv.registry import imported


@runtime_checkable
class Choosy(Protocol):
    """A wire that leaves out what its model is known to refuse."""

    def left_out(self) -> Iterable[str]:
        """Names of the author's settings that the model is not sent."""


def api_provider(wire: Wire, options: ApiOptions, build: ProviderBuild, batches: str) -> Provider:
    """The provider, once `--verbose` has been told what its model is not sent.

    Args:
        wire: Writes requests and reads answers.
        options: The target's.
        build: What it is given.
        batches: `module:attribute` of the API's `BatchApi`: only targets that batch import it.
    """
    for name in wire.left_out() if isinstance(wire, Choosy) else ():
        build.notify(f"{options.name}: {wire.model} does not take `{name}`: it is left out")
    if not options.provider_batching:
        return ApiProvider(wire, options, build)
    from agentv.providers.apis.batch import BatchingApi

    return BatchingApi(wire, options, build, imported(batches))
