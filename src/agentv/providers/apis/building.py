"""From a wire to the provider of a target."""

from collections.abc import Callable, Iterable
from typing import Protocol

from agentv.protocols import Provider, ProviderBuild
from agentv.providers.apis.batch import BatchingApi
from agentv.providers.apis.batch_api import BatchApi
from agentv.providers.apis.options import ApiOptions
from agentv.providers.apis.wire import Wire


class Choosy(Wire, Protocol):
    """A wire that leaves out what its model is known to refuse."""

    def left_out(self) -> Iterable[str]:
        """Names of the author's settings that the model is not sent."""


def api_provider(
    wire: Choosy, options: ApiOptions, build: ProviderBuild, batches: Callable[[str], BatchApi]
) -> Provider:
    """The provider, once `--verbose` has been told what its model is not sent."""
    for name in wire.left_out():
        build.notify(f"{options.name}: {wire.model} does not take `{name}`: it is left out")
    return BatchingApi(wire, options, build, batches)
