"""What an agent target may set under `sandbox`."""

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Meta

from agentv.model.base import AuthoredRecord
from agentv.model.options import Name, OptionProblem
from agentv.providers.sandboxes.hosts import AllowedHost, parse_host

SandboxKind = Literal["bubblewrap", "docker"]

_MEMORY = re.compile(r"[1-9][0-9]*[bkmg]", re.IGNORECASE)
_ONLY = {"hidden": "bubblewrap", **dict.fromkeys(("image", "memory", "cpus", "pids"), "docker")}
"""Keys that mean something to one kind only."""


class SandboxOptions(AuthoredRecord, frozen=True, kw_only=True):
    """How an agent is confined, beyond what `sandbox: <kind>` says.

    One record for both kinds, so that a key of the other kind can be explained.
    """

    kind: SandboxKind
    network: bool | list[Name] = False
    """`true` for all of the network; `bubblewrap`: or the hosts that may be reached."""
    readable: list[Name] = []
    """Files and folders that may be read besides; from the folder of the targets file."""
    writable: list[Name] = []
    """Files and folders that may be changed besides the workspace; likewise."""
    hidden: list[Name] = []
    """`bubblewrap`: folders that may not even be read; likewise."""
    image: Name | None = None
    """`docker`: the image that holds the agent."""
    memory: Name | None = None
    """`docker`: the most memory, such as `2g`."""
    cpus: Annotated[float, Meta(gt=0)] | None = None
    """`docker`: the most processors; 1.5 is one and a half."""
    pids: Annotated[int, Meta(ge=1)] | None = None
    """`docker`: the most processes and threads; 4096 when unset."""

    def problems(self) -> Iterator[OptionProblem]:
        """Mistakes that the types alone do not show; their paths start in this block."""
        for key, kind in _ONLY.items():
            if kind != self.kind and getattr(self, key):
                yield OptionProblem(
                    path=(key,),
                    message=f"`{key}` means nothing to a sandbox of kind '{self.kind}'",
                    hint=f"it belongs to `kind: {kind}`",
                )
        if self.kind == "docker" and self.image is None:
            yield OptionProblem(
                path=(),
                message="a sandbox of kind 'docker' needs `image`",
                hint="name an image in which the agent is installed",
                code="missing-key",
            )
        if self.memory is not None and not _MEMORY.fullmatch(self.memory):
            yield OptionProblem(
                path=("memory",),
                message=f"'{self.memory}' is not an amount of memory",
                hint="write a number with a unit, such as 512m or 2g",
            )
        if isinstance(self.network, list):
            yield from self._network_problems(self.network)

    @property
    def hosts(self) -> tuple[AllowedHost, ...]:
        """The entries of a `network` list; none for a plain yes or no."""
        written = self.network if isinstance(self.network, list) else []
        return tuple(parse_host(text) for text in written)

    def _network_problems(self, written: list[str]) -> Iterator[OptionProblem]:
        if self.kind == "docker":
            yield OptionProblem(
                path=("network",),
                message="a sandbox of kind 'docker' has no list of hosts",
                hint="write true or false, or use `kind: bubblewrap`",
            )
            return
        for index, text in enumerate(written):
            try:
                parse_host(text)
            except ValueError as error:
                yield OptionProblem(
                    path=("network", index),
                    message=f"'{text}' is not a host that can be allowed",
                    hint=str(error),
                )


def sandbox_options(setting: SandboxKind | SandboxOptions) -> SandboxOptions:
    """The whole of a setting that may be a mere name."""
    return setting if isinstance(setting, SandboxOptions) else SandboxOptions(kind=setting)


def sandbox_problems(setting: SandboxKind | SandboxOptions | None) -> Iterator[OptionProblem]:
    """Mistakes in a target's `sandbox`, at their places in the target."""
    if setting is None:
        return
    for problem in sandbox_options(setting).problems():
        yield OptionProblem(
            path=("sandbox", *problem.path),
            message=problem.message,
            hint=problem.hint,
            code=problem.code,
        )
