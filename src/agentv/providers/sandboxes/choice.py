"""From a target's `sandbox` to the thing itself."""

from agentv.protocols import ProviderBuild
from agentv.providers.sandboxes.bubblewrap import Bubblewrap
from agentv.providers.sandboxes.docker import Docker
from agentv.providers.sandboxes.options import SandboxKind, SandboxOptions, sandbox_options
from agentv.providers.sandboxes.sandbox import NoSandbox, Sandbox


def sandbox_for(setting: SandboxKind | SandboxOptions | None, build: ProviderBuild) -> Sandbox:
    """The sandbox that a target asks for."""
    if setting is None:
        return NoSandbox()
    options = sandbox_options(setting)
    return Docker(options, build) if options.kind == "docker" else Bubblewrap(options, build)
